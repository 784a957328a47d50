// SPDX-License-Identifier: Apache-2.0
import Domain

extension FixedBytes {
    /// A value for a test: the numbers of a range, as many as the type has bytes.
    package static func sample(_ bytes: Range<UInt8>) -> Self { Self(random: [UInt8](bytes)) }

    /// A value for a test: one byte, repeated.
    package static func sample(repeating byte: UInt8) -> Self {
        Self(random: [UInt8](repeating: byte, count: count))
    }
}

extension FixedBytes {
    /// Changes one bit, for what must then be refused.
    package mutating func flipBit(ofByte index: Int = 0) {
        var changed = bytes
        changed[index] ^= 1
        self = Self(random: changed)
    }
}

/// A value that a sample is known to have; ends the tests if it has none.
package func known<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("a sample is not what it should be") }
    return value
}
