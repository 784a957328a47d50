// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// What `signet mac-token` says.
package enum CommandMACTokens {
    /// What it takes.
    package static let choose: Text =
        "mac-token takes add URL NAME, list, remove NAME or header NAME METHOD URL"
    /// No name for a token.
    package static func badName(_ name: Bytes) -> Text {
        """
        \(name) is not a valid name for a MAC token: it needs 1 to 128 bytes of text without \
        control characters, and must not begin with a hyphen
        """
    }
    /// The name that has a meaning.
    package static func reserved(_ name: Bytes) -> Text {
        """
        \(name) is reserved for the token that 'signet operations' gets for itself. Choose another \
        name
        """
    }
    /// Several servers gave one of this name.
    package static func ambiguous(_ name: Bytes) -> Text {
        "several servers issued a MAC token \(name): choose one with '--server'"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    package static func adding(_ action: Text, name: Bytes, server: ServerURL) -> Text {
        "\(action) to get the MAC token \(name) from \(server)"
    }
    /// It is there.
    package static func added(_ name: Bytes, server: ServerURL, until: Text) -> Text {
        """
        the MAC token \(name) of \(server) is stored, and valid until \(until). Any program that \
        runs 'signet mac-token header' as you can identify this device with it, without a touch
        """
    }
    /// It is over, here and there.
    package static func removed(_ name: Bytes, server: ServerURL) -> Text {
        "the MAC token \(name) of \(server) was revoked and is no longer accepted"
    }
    /// It is over here only.
    package static func removedLater(_ name: Bytes, server: ServerURL) -> Text {
        """
        the MAC token \(name) of \(server) is no longer used here. The server could not be \
        informed: it will be as soon as it can be reached, and accepts the token until then
        """
    }
    /// There is none.
    package static func none(_ account: AccountName) -> Text {
        "\(account) has no MAC token. Run 'signet mac-token add URL NAME' to get one"
    }
    /// Above the tokens.
    package static let heading: [Text] = ["name", "server", "since", "expires"]
}
