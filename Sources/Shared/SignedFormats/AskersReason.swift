// SPDX-License-Identifier: Apache-2.0
/// The reason that a program gives for asking for a touch: shown as that program's words, never
/// trusted.
package enum AskersReason {
    /// The longest reason in bytes.
    package static let limit = 200

    /// Whether it is displayed as it is: 1 to `limit` bytes of well-formed UTF-8, without control
    /// characters or invisible ones.
    package static func isSound(_ reason: [UInt8]) -> Bool {
        guard (1...limit).contains(reason.count) else { return false }
        var isPlain = true
        _ = Printable.escaping(reason, invisible: true) { _, _ in isPlain = false }
        return isPlain
    }
}
