// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
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
            "the activation code is wrong, or no longer valid. Ask for a new one"
        case .knownServer:
            """
            this device is already registered at \(serverSubject). To register it again, run \
            'signet disable --server' first
            """
        default: "too many servers are registered. Remove one with 'signet disable --server URL'"
        }
    }

    /// The texts about the signing key.
    func signingText(_ account: AccountName) -> Text {
        switch reason {
        case .noSigningKey:
            "\(account) has no signing key. Run 'signet enable --signing' to create one"
        case .signingKeyExists:
            """
            \(account) already has a signing key: 'signet sign --public-key' shows it. To create \
            another one, run 'signet disable --signing' first
            """
        default:
            """
            the fingers have changed since the signing key was created, so it was destroyed. Run \
            'signet enable --signing' to create another one, and give its public key to those who \
            check your signatures
            """
        }
    }

    /// What a server says, in more words than a login has room for.
    var serverRefusedText: Text {
        let code = String(decoding: subject ?? [], as: UTF8.self)
        return switch ServerProblem(rawValue: code) {
        case .conflict:
            """
            the server does not accept this device yet: an administrator there must first compare \
            the fingerprint of the device's key
            """
        case .policy:
            """
            the server does not accept fingerprints, or keys that are stored like this one
            """
        case .slowDown: "the server received too many requests. Wait a minute and try again"
        case .unavailable: "the server is running, but is unavailable now. Try again later"
        case .clock:
            "the clocks of this machine and the server differ. Correct the one that is wrong"
        case nil: "the server refused: \(serverSubject)"
        }
    }
}
