// SPDX-License-Identifier: Apache-2.0

/// A time on the server's clock, precise enough to tell which of two things within a second came
/// first.
struct Moment: Equatable, Comparable, Sendable {
    /// Microseconds since 1970.
    let microseconds: Int64

    /// Whole seconds since 1970.
    var seconds: Int64 { microseconds / 1_000_000 }

    static func < (one: Moment, other: Moment) -> Bool { one.microseconds < other.microseconds }
}
