// SPDX-License-Identifier: Apache-2.0

/// A value of a fixed number of bytes that has one meaning, such as a challenge or an id.
///
/// The compiler rejects a credential's id in the place of a device's. A value always has exactly
/// `count` bytes: its length is checked where it enters, and only there.
package protocol FixedBytes: Comparable, Hashable, Sendable {
    /// The number of bytes of every value.
    static var count: Int { get }
    /// The bytes, `count` of them.
    var bytes: [UInt8] { get }
    /// Wraps bytes; nil unless there are `count` of them.
    init?(_ bytes: [UInt8])
}

extension FixedBytes {
    /// Orders values by their bytes.
    package static func < (one: Self, other: Self) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    /// The value whose bytes are all zero, which stands for none where a format cannot be empty.
    package static var zero: Self { Self(random: [UInt8](repeating: 0, count: count)) }

    /// Wraps random bytes that this process has just drawn; there must be `count` of them.
    package init(random bytes: [UInt8]) {
        guard let value = Self(bytes) else { preconditionFailure("not the bytes of one value") }
        self = value
    }
}
