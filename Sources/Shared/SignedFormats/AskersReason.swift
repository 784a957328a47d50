// SPDX-License-Identifier: Apache-2.0
/// The reason that a program gives for requesting a touch.
///
/// It is displayed as the words of that program and is never trusted. The client checks it before
/// it sends a request, and the daemon again when the request arrives.
package enum AskersReason {
    /// The longest reason in bytes.
    package static let limit = 200

    /// Whether a reason may be displayed unchanged.
    ///
    /// It must have 1 to `limit` bytes of well-formed UTF-8 without control characters, characters
    /// that change the direction of writing, and invisible characters; see `Printable`.
    package static func isSound(_ reason: [UInt8]) -> Bool {
        guard (1...limit).contains(reason.count) else { return false }
        var isPlain = true
        _ = Printable.escaping(reason, invisible: true) { _, _ in isPlain = false }
        return isPlain
    }
}
