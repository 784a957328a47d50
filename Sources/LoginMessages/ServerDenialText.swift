// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

extension LoginDenial {
    /// The texts about servers.
    var serverText: Text {
        switch reason {
        case .serverUnreachable: "the server cannot be asked: \(serverSubject)"
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
            another device was registered at \(serverSubject) in place of this one, whose key is \
            destroyed now. Run 'signet enable --server' to register this one
            """
        case .serverKeyRemoved:
            """
            the registration at \(serverSubject) was removed there, and its key is destroyed now. \
            Run 'signet enable --server' to register again
            """
        case .serverKeyBlocked:
            "the registration at \(serverSubject) is blocked there. Ask whoever runs it"
        case .serverTooLongAgo: tooLongAgoText
        case .serverLost:
            """
            \(serverSubject) could be asked before the touch, and not any more after it. Try again, \
            or use the password
            """
        case .serverBusy:
            "\(serverSubject) has not answered what was signed just before. Wait, and try again"
        case .clockSetBack: clockText
        default: "the server says no: \(serverSubject)"
        }
    }

    private var clockText: Text {
        """
        \(serverSubject) cannot be asked, and the clock of this machine was set back: it has been \
        \(Text.date(since ?? 0)) already. Set the clock, or use the password
        """
    }

    private var tooLongAgoText: Text {
        guard let since else {
            return """
                \(serverSubject) cannot be asked, and no earlier yes from it counts here. Use the \
                password
                """
        }
        return """
            \(serverSubject) cannot be asked, and its last yes was too long ago, on \
            \(Text.date(since)). Use the password
            """
    }

    /// The server that it is about.
    private var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? "unknown" : Text(escaping: told)
    }
}
