// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

extension LoginDenial {
    /// The texts about servers.
    var serverText: Text {
        switch reason {
        case .serverUnreachable: "the request to the server failed: \(serverSubject)"
        case .unknownServer:
            """
            this device is not registered at \(serverSubject). Run 'signet enable --server' with an \
            activation code
            """
        case .serverKeyInvalidated:
            """
            the fingers have changed since this device was registered at \(serverSubject). Run \
            'signet enable --server' with a new activation code
            """
        case .serverKeyReplaced:
            """
            another device replaced this one at \(serverSubject), and the key here was destroyed. \
            Run 'signet enable --server' to register this device again
            """
        case .serverKeyRemoved:
            """
            the registration was removed at \(serverSubject), and the key here was destroyed. Run \
            'signet enable --server' to register again
            """
        case .serverKeyBlocked:
            "the registration at \(serverSubject) is blocked. Ask the server's administrator"
        case .serverTooLongAgo: tooLongAgoText
        case .serverLost:
            """
            \(serverSubject) answered before the touch, but not after it. Try again, or use the \
            password
            """
        case .serverBusy:
            "\(serverSubject) has not answered the previous request yet. Wait, and try again"
        case .clockSetBack: clockText
        default: "the server refused: \(serverSubject)"
        }
    }

    private var clockText: Text {
        """
        \(serverSubject) cannot be reached, and this machine's clock was set back: it has already \
        shown \(Text.date(since ?? 0)). Set the clock, or use the password
        """
    }

    private var tooLongAgoText: Text {
        guard let since else {
            return """
                \(serverSubject) cannot be reached, and no earlier approval is valid. Use the \
                password
                """
        }
        return """
            \(serverSubject) cannot be reached, and its last approval (\(Text.date(since))) is too \
            old. Use the password
            """
    }

    /// The server that it is about.
    private var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? "unknown" : Text(escaping: told)
    }
}
