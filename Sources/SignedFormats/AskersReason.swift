// SPDX-License-Identifier: Apache-2.0
/// Why a program has somebody touch the reader, in its own words: shown as such, and never trusted.
package enum AskersReason {
    /// The most bytes that one has.
    package static let limit = 200

    /// Whether it is a line that shows as it is: 1 to `limit` bytes of well-formed UTF-8, no control
    /// characters, and none that cannot be seen.
    package static func isSound(_ reason: [UInt8]) -> Bool {
        guard (1...limit).contains(reason.count) else { return false }
        var isPlain = true
        _ = Printable.escaping(reason, invisible: true) { _, _ in isPlain = false }
        return isPlain
    }
}
