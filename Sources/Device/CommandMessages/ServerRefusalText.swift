// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

// The texts of denials that come from a server's policy or answer; see `Denial.text(account:)`. A
// refusal whose code has no text of its own is shown with that code.
extension Denial {
    /// The server that the denial names.
    var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? TableText.unknown : Text(escaping: told)
    }

    /// The device cannot be registered twice.
    var knownServerText: Text {
        """
        this device is already registered at \(serverSubject). To register it again, run \
        'signet disable --server' first
        """
    }

    /// The machine cannot be registered where attestation is required.
    var notAttestableText: Text {
        guard let subject, !subject.isEmpty else {
            return """
                the server only registers machines that can prove that their TPM is genuine, and \
                this one cannot
                """
        }
        return """
            the server only registers machines that can prove that their TPM is genuine, and this \
            one cannot: \(detail: subject)
            """
    }

    /// There can be only one signing key.
    func signingKeyExistsText(_ account: AccountName) -> Text {
        """
        \(account) already has a signing key: 'signet sign --public-key' shows it. To create \
        another one, run 'signet disable --signing' first
        """
    }

    /// The signing key does not fit the fingers any more.
    var signingKeyInvalidatedText: Text {
        """
        the fingers have changed since the signing key was created, so it was destroyed. Run \
        'signet enable --signing' to create another one, and give its public key to those who \
        check your signatures
        """
    }

    /// A server's refusal, in more words than fit into a login.
    var serverRefusedText: Text {
        if let unmet = UnmetRequirement(code: subject) { return unmet.text }
        let code = String(decoding: subject ?? [], as: UTF8.self)
        return switch ServerProblem(rawValue: code) {
        case .conflict:
            """
            the server does not accept this device yet: an administrator there must first compare \
            the fingerprint of the device's key
            """
        case .policy:
            """
            the server does not accept fingerprints, or does not accept keys stored like this one
            """
        case .slowDown: "the server received too many requests. Wait a minute and try again"
        case .unavailable: "the server is running, but is unavailable now. Try again later"
        case .attestationRefused:
            """
            the server does not accept this machine's TPM, or what the TPM states about the key. \
            The server's administrator can find the reason in the audit trail
            """
        case .clock:
            "the clocks of this machine and the server differ. Correct the one that is wrong"
        case .freshProof:
            """
            the server does not accept a token that it has just issued to this device. Its \
            administrator can compare 'server.url' with the paths that the proxy in front of it \
            passes on
            """
        case nil: "the server refused: \(serverSubject)"
        }
    }
}
