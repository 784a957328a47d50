// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// Messages of the commands about servers.
package enum CommandServers {
    /// The prompt for the code.
    package static func codePrompt(_ server: ServerURL) -> Text {
        "Activation code for \(server): "
    }
    /// The code cannot be prompted for.
    package static let noTerminal: Text =
        "there is no terminal on which to ask for the activation code. Give it on standard input"
    /// No code was entered.
    package static let noCode: Text = "no activation code was given"
    /// The code is mistyped; the server was not asked.
    package static let mistyped: Text =
        """
        the activation code contains a typing error: nothing was sent. Compare it and type it again
        """
    /// The argument is not the URL of a server.
    package static func badURL(_ text: Bytes) -> Text {
        "\(text) is not the URL of a server. A valid one looks like https://id.example.org"
    }
    /// `login` without a URL, and no server is registered.
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

    /// The device is registered.
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
    /// An administrator of the server must compare the key.
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
    /// The registration was removed.
    package static func disabled(_ server: ServerURL) -> Text {
        "this device is no longer registered at \(server), and its key was destroyed"
    }
    /// The registration was removed only here; the server will be informed.
    package static func disabledLater(_ server: ServerURL) -> Text {
        """
        login to \(server) is off. The server has not been informed yet; it will be as soon as it \
        can be reached
        """
    }
    /// The registration was removed only here, and the server will not be informed.
    package static func dropped(_ server: ServerURL) -> Text {
        """
        login to \(server) is off, and its key was destroyed. The server was not informed: ask its \
        administrator to remove the registration
        """
    }
    /// The token could not be passed on.
    package static let unwritten: Text = "the token could not be written to standard output"

    /// The token was stored as a secret.
    package static func kept(_ server: ServerURL, secret: Bytes, seconds: UInt32) -> Text {
        """
        the token of \(server) is stored as the secret \(secret), and is valid for \
        \(number: seconds) s: 'signet secret get' releases it after a touch
        """
    }
    /// `login --secret` without a URL.
    package static let secretWithoutServer: Text = "--secret needs the URL of a server"

    /// In the list of servers and in `signet status`: the state of a registration.
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
