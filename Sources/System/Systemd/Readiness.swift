// SPDX-License-Identifier: Apache-2.0
import CSystemd

/// The state that a service reports to systemd.
package enum Readiness: Equatable {
    case ready
    /// Reading files again; `ready` follows.
    case reloading
    case stopping
    /// One line for `systemctl status`.
    case status(String)

    /// Sends the state to systemd. Source: `sd_notify(3)`.
    ///
    /// - Returns: whether a service manager received it.
    @discardableResult
    package func notify() -> Bool {
        unsafe sd_notify(0, message) > 0
    }

    /// The text of the datagram, one `NAME=value` field.
    ///
    /// Control characters in a status become spaces, because a newline would begin another field; a
    /// status is at most 512 bytes.
    package var message: String {
        switch self {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1"
        case .stopping: "STOPPING=1"
        case .status(let text): "STATUS=" + Self.oneLine(text)
        }
    }

    private static func oneLine(_ text: String) -> String {
        let bytes = text.utf8.prefix(512).map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
