// SPDX-License-Identifier: Apache-2.0
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
        \(name) cannot be a MAC token's name: that is 1 to 128 bytes of text without controls, \
        and does not begin with a hyphen
        """
    }
    /// The name that has a meaning.
    package static func reserved(_ name: Bytes) -> Text {
        "\(name) is the token that 'signet operations' gets for itself. Choose another name"
    }
    /// Several servers gave one of this name.
    package static func ambiguous(_ name: Bytes) -> Text {
        "several servers gave a MAC token \(name): say '--server'"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    package static func adding(_ action: Text, _ name: Bytes, _ server: Bytes) -> Text {
        "\(action) to get the MAC token \(name) from \(server)"
    }
    /// It is there.
    package static func added(_ name: Bytes, _ server: Bytes, until: Text) -> Text {
        """
        the MAC token \(name) of \(server) is kept, until \(until). It shows this device without \
        a touch, to whoever runs 'signet mac-token header' as you
        """
    }
    /// It is over, here and there.
    package static func removed(_ name: Bytes, _ server: Bytes) -> Text {
        "the MAC token \(name) of \(server) has ended: nothing takes it any more"
    }
    /// It is over here only.
    package static func removedLater(_ name: Bytes, _ server: Bytes) -> Text {
        """
        the MAC token \(name) of \(server) is used no more here. The server could not be told: it \
        will be, as soon as it can be reached, and takes the token until then
        """
    }
    /// There is none.
    package static func none(_ account: Bytes) -> Text {
        "\(account) has no MAC token. Run 'signet mac-token add URL NAME' to get one"
    }
    /// Above the tokens.
    package static let heading: [Text] = ["name", "server", "since", "expires"]
}
