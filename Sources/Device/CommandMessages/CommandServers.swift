// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// What the commands about servers say.
package enum CommandServers {
    /// Before the code.
    package static func codePrompt(_ server: ServerURL) -> Text {
        "Activation code for \(server): "
    }
    /// It cannot be asked for.
    package static let noTerminal: Text =
        "there is no terminal on which to ask for the activation code. Give it on standard input"
    /// Nothing was given.
    package static let noCode: Text = "no activation code was given"
    /// A code is found wrong here, and nobody was asked.
    package static let mistyped: Text =
        """
        the activation code contains a typing error: nothing was sent. Compare it and type it again
        """
    /// No URL that could be asked.
    package static func badURL(_ text: Bytes) -> Text {
        "\(text) is not the URL of a server. A valid one looks like https://id.example.org"
    }
    /// `login` without one, and none is known.
    package static func none(_ account: AccountName) -> Text {
        """
        \(account) is not registered at any server. Run 'signet enable --server URL' with an \
        activation code
        """
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    package static func enabling(_ action: Text, server: ServerURL) -> Text {
        "\(action) to register this device at \(server)"
    }
    /// What the touch is for.
    package static func loggingIn(_ action: Text, server: ServerURL, as account: ServerAccountName)
        -> Text
    {
        "\(action) to log in to \(server) as \(account)"
    }

    /// It is done.
    package static func enabled(
        _ server: ServerURL, as account: ServerAccountName, application: ApplicationName
    )
        -> Text
    {
        """
        this device is registered at \(server) as \(account), for \(application): 'signet login' \
        logs in with a touch
        """
    }
    /// Somebody has to compare the key.
    package static func pending(_ fingerprint: Bytes) -> Text {
        """
        an administrator of the server must first compare the fingerprint of this device's key: \
        \(fingerprint)
        """
    }
    /// The key, for comparison.
    package static func key(_ fingerprint: Bytes) -> Text {
        "the fingerprint of this device's key is \(fingerprint)"
    }
    /// It is taken back.
    package static func disabled(_ server: ServerURL) -> Text {
        "this device is no longer registered at \(server), and its key was destroyed"
    }
    /// It is taken back here only.
    package static func disabledLater(_ server: ServerURL) -> Text {
        """
        login to \(server) is off. The server has not been informed yet; it will be as soon as it \
        can be reached
        """
    }
    /// It is taken back here, and nobody tells the server.
    package static func dropped(_ server: ServerURL) -> Text {
        """
        login to \(server) is off, and its key was destroyed. The server was not informed: ask its \
        administrator to remove the registration
        """
    }
    /// The token could not be handed on.
    package static let unwritten: Text = "the token could not be written to standard output"

    /// The token is kept.
    package static func kept(_ server: ServerURL, secret: Bytes, seconds: UInt32) -> Text {
        """
        the token of \(server) is stored as the secret \(secret), and is valid for \
        \(number: seconds) s: 'signet secret get' releases it after a touch
        """
    }
    /// `login --secret` without a URL.
    package static let secretWithoutServer: Text = "--secret needs the URL of a server"

    /// In the list of servers, and in `signet status`.
    package static func line(_ server: ServerAnswer) -> Text {
        let place = place(server)
        return switch server.state {
        case .good: place
        case .invalidated:
            "\(place): the fingers have changed. Run 'signet enable --server' with a new code"
        case .removing: "\(place): off, but the server has not been informed yet"
        }
    }

    private static func place(_ server: ServerAnswer) -> Text {
        let day = Text.date(server.since)
        return "\(server.server), as \(server.account) for \(server.application), since \(day)"
    }
}
