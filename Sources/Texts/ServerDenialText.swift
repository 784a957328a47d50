#if !hasFeature(Embedded)
import Wire

extension Denial {
    /// The texts about servers.
    var serverText: Text {
        let told = subject ?? []
        let about = told.isEmpty ? CommandTable.unknown : Text(escaping: told)
        return switch reason {
        case .serverUnreachable: "the server cannot be asked: \(about)"
        case .activationRefused:
            "the activation code is not good, or not any more. Ask for a new one"
        case .unknownServer:
            """
            this device is not registered at \(about). Run 'signet enable --server' with an \
            activation code
            """
        case .knownServer:
            """
            this device is registered at \(about) already. Run 'signet disable --server' first to \
            register it anew
            """
        case .serverKeyInvalidated:
            """
            the fingers have changed since this device was registered at \(about). Run \
            'signet enable --server' with a new activation code
            """
        case .serverKeyReplaced:
            """
            another device was registered at \(about) in place of this one, whose key is \
            destroyed now. Run 'signet enable --server' to register this one
            """
        case .serverKeyRemoved:
            """
            the registration at \(about) was removed there, and its key is destroyed now. Run \
            'signet enable --server' to register again
            """
        case .serverKeyBlocked:
            "the registration at \(about) is blocked there. Ask whoever runs it"
        case .tooManyServers: "no more servers fit. Run 'signet disable --server' for one"
        default: serverRefusedText(about)
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

    private func serverRefusedText(_ about: Text) -> Text {
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
        case nil: "the server says no: \(about)"
        }
    }
}
#endif
