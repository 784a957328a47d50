// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol
import SignedFormats

extension Denial {
    private var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? CommandTable.unknown : Text(escaping: told)
    }

    /// The texts about registering this device.
    var registrationText: Text {
        switch reason {
        case .activationRefused:
            "the activation code is not good, or not any more. Ask for a new one"
        case .knownServer:
            """
            this device is registered at \(serverSubject) already. Run 'signet disable --server' \
            first to register it anew
            """
        default: "no more servers fit. Run 'signet disable --server' for one"
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

    /// What a server says, in more words than a login has room for.
    var serverRefusedText: Text {
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
