// SPDX-License-Identifier: Apache-2.0
#if !hasFeature(Embedded)
import Statement
import Wire
#endif

extension Denial {
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
        default: otherServerText
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
}

#if hasFeature(Embedded)
extension Denial {
    private var serverSubject: Text { Text(escaping: subject ?? []) }

    private var otherServerText: Text { "the server says no: \(serverSubject)" }
}
#else
extension Denial {
    private var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? CommandTable.unknown : Text(escaping: told)
    }

    /// What is answered to the command `signet` only, and what a server says in more words there.
    private var otherServerText: Text {
        switch reason {
        case .activationRefused:
            "the activation code is not good, or not any more. Ask for a new one"
        case .knownServer:
            """
            this device is registered at \(serverSubject) already. Run 'signet disable --server' \
            first to register it anew
            """
        case .tooManyServers: "no more servers fit. Run 'signet disable --server' for one"
        default: serverRefusedText
        }
    }

    /// The texts about the signing key.
    func signingText(_ account: Bytes) -> Text {
        switch reason {
        case .noSigningKey:
            "\(account) has no signing key. Run 'signet enable --signing' to make one"
        case .signingKeyExists:
            """
            \(account) has a signing key already: 'signet sign --public-key' shows it. Run \
            'signet disable --signing' first to make another one
            """
        default:
            """
            the fingers have changed since the signing key was made, and it is destroyed. Run \
            'signet enable --signing' to make another one, and give its public key to whoever \
            checks your signatures
            """
        }
    }

    private var serverRefusedText: Text {
        let code = String(decoding: subject ?? [], as: UTF8.self)
        return switch ServerProblem(rawValue: code) {
        case .conflict:
            """
            the server does not take this device yet: somebody there has to compare the \
            fingerprint of its key
            """
        case .policy: "the server does not accept fingers, or keys that are kept like this one"
        case .slowDown: "the server was asked too often. Wait a minute and try again"
        case .unavailable: "the server is there and cannot work. Try again later"
        case .clock:
            "the clocks of this machine and of the server do not agree. Set the one that is wrong"
        case nil: "the server says no: \(serverSubject)"
        }
    }
}
#endif
