// SPDX-License-Identifier: Apache-2.0

/// A value of a fixed number of bytes that has one meaning, such as a challenge or an id.
///
/// Each conforming type is a type of its own, so that the compiler rejects a credential's id in the
/// place of a device's. A value always has exactly `count` bytes: its length is checked where it
/// enters, and nowhere else.
package protocol FixedBytes: Comparable, Hashable, Sendable {
    /// The number of bytes of every value.
    static var count: Int { get }
    /// The bytes, `count` of them.
    var bytes: [UInt8] { get }
    /// Wraps bytes whose number was checked; for the initialisers below only.
    init(checked bytes: [UInt8])
}

extension FixedBytes {
    /// Orders values by their bytes.
    package static func < (one: Self, other: Self) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    /// Wraps bytes; nil unless there are `count` of them.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.init(checked: bytes)
    }

    /// Wraps random bytes that this process has just drawn, `count` of them.
    package init(random bytes: [UInt8]) {
        precondition(bytes.count == Self.count)
        self.init(checked: bytes)
    }
}
