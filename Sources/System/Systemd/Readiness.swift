// SPDX-License-Identifier: Apache-2.0
import CSystemd

/// The state that a service reports to systemd.
package enum Readiness: Equatable {
    case ready
    /// The service reads its files again; `ready` follows.
    case reloading
    case stopping
    /// One line of text for `systemctl status`.
    case status(String)

    /// Sends the state to the service manager; sd_notify(3).
    ///
    /// - Returns: whether there is a service manager and it was sent.
    @discardableResult
    package func notify() -> Bool {
        unsafe sd_notify(0, message) > 0
    }

    /// The text of the datagram, one `NAME=value` field.
    ///
    /// Control characters in a status become spaces, because a newline would begin another field. A
    /// status is truncated to 512 bytes.
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
