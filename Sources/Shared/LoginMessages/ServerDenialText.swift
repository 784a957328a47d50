// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

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

    /// The server that it concerns.
    var serverSubject: Text {
        let told = subject ?? []
        return told.isEmpty ? "unknown" : Text(escaping: told)
    }
}
