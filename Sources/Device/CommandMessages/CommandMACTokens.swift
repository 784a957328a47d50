// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// Messages of `signet mac-token`.
package enum CommandMACTokens {
    /// The forms of the command.
    package static let choose: Text =
        "mac-token takes add URL NAME, list, remove NAME or header NAME METHOD URL"
    /// The name of the token is invalid.
    package static func badName(_ name: Bytes) -> Text {
        """
        \(name) is not a valid name for a MAC token: it needs 1 to 128 bytes of text without \
        control characters, and must not begin with a hyphen
        """
    }
    /// The reserved name.
    package static func reserved(_ name: Bytes) -> Text {
        """
        \(name) is reserved for the token that 'signet operations' gets for itself. Choose another \
        name
        """
    }
    /// Several servers issued a token with this name.
    package static func ambiguous(_ name: Bytes) -> Text {
        "several servers issued a MAC token \(name): choose one with '--server'"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    package static func adding(_ action: Text, name: Bytes, server: ServerURL) -> Text {
        "\(action) to get the MAC token \(name) from \(server)"
    }
    /// The token was created.
    package static func added(_ name: Bytes, server: ServerURL, until: Text) -> Text {
        """
        the MAC token \(name) of \(server) is stored, and valid until \(until). Any program that \
        runs 'signet mac-token header' as you can identify this device with it, without a touch
        """
    }
    /// The token was removed here and at the server.
    package static func removed(_ name: Bytes, server: ServerURL) -> Text {
        "the MAC token \(name) of \(server) was revoked and is no longer accepted"
    }
    /// The token was removed only here.
    package static func removedLater(_ name: Bytes, server: ServerURL) -> Text {
        """
        the MAC token \(name) of \(server) is no longer used here. The server could not be \
        informed: it will be as soon as it can be reached, and accepts the token until then
        """
    }
    /// There is no such token.
    package static func none(_ account: AccountName) -> Text {
        "\(account) has no MAC token. Run 'signet mac-token add URL NAME' to get one"
    }
    /// The heading above the tokens.
    package static let heading: [Text] = ["name", "server", "since", "expires"]
}
