// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

// The texts of logins that a server did not approve, or could not be asked about.
extension LoginDenial {
    /// The clock shows an earlier time than it has shown before.
    var clockText: Text {
        """
        \(serverSubject) cannot be reached, and this machine's clock was set back: it has already \
        shown \(Text.date(since ?? 0)). Set the clock, or use the password
        """
    }

    /// The server cannot be reached, and its last approval does not serve.
    var tooLongAgoText: Text {
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

    /// The server refuses: what its policy requires, or the code of another reason.
    var refusedText: Text {
        UnmetRequirement(code: subject)?.text ?? "the server refused: \(serverSubject)"
    }

    /// The server that it concerns.
    var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? "unknown" : Text(escaping: told)
    }
}

extension UnmetRequirement {
    /// Looks up the code that a denial has as its subject; nil for any other text.
    package init?(code: Bytes?) {
        for requirement in Self.allCases where code == requirement.code.bytes {
            self = requirement
            return
        }
        return nil
    }

    /// What the server requires, and what to do.
    package var text: Text {
        switch self {
        case .factor: "the server does not accept fingerprints for this"
        case .keys:
            """
            the server accepts only keys in a TPM, and this device's key is not in one, or was not \
            proven to be when it was registered. 'signet vault' shows where keys are stored
            """
        case .secureBoot:
            """
            the server requires Secure Boot, which is off on this machine, or was not proven when \
            the device was registered. Turn it on in the firmware's setup
            """
        }
    }
}
