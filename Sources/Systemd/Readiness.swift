// SPDX-License-Identifier: Apache-2.0
import CSystemd

/// What a service tells the system about itself.
package enum Readiness: Equatable {
    case ready
    /// Files are read anew; `ready` follows.
    case reloading
    case stopping
    /// One line for `systemctl status`.
    case status(String)

    /// Tells systemd; true when somebody was listening.
    ///
    /// Control characters in a status become spaces, since a newline would begin a new field.
    /// Source: `sd_notify(3)`.
    @discardableResult
    package func notify() -> Bool {
        unsafe sd_notify(0, message) > 0
    }

    /// The datagram's text, one `NAME=value` field.
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
