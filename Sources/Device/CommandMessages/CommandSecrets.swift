// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// Messages of `signet secret`, and messages about secrets in other commands.
package enum CommandSecrets {
    /// The heading above the secrets.
    package static let heading: [Text] = ["name", "stored", "bytes", "vault", "state"]
    /// Secrets that a touch can open.
    package static let fits: Text = "good"
    /// Secrets that can no longer be opened.
    package static let stale: Text = "the fingers have changed: set it again"
    /// Secrets that were altered.
    package static let damaged: Text = "damaged: delete it, or set it again"

    /// The secret was stored.
    package static func kept(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) is stored for \(account): 'signet secret get' releases it after a touch"
    }
    /// The secret was deleted.
    package static func deleted(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) of \(account) was deleted"
    }
    /// Nothing to list.
    package static func none(_ account: AccountName) -> Text {
        "no secrets are stored for \(account). Run 'signet secret set NAME' to store one"
    }

    /// The prompt for a hidden line.
    package static func prompt(_ name: Bytes) -> Text { "Secret \(name): " }
    /// The prompt for the same line again.
    package static let again: Text = "Repeat the secret: "
    /// The two lines differ.
    package static let different: Text = "the two entries differ: nothing was stored"
    /// Nothing was entered.
    package static let empty: Text = "the secret is empty: nothing was stored"
    /// The secret is longer than the limit.
    package static let tooLong: Text =
        "the secret is longer than \(number: UInt32(Limit.secret)) bytes: nothing was stored"
    /// The secret is longer than a terminal accepts.
    package static let longLine: Text =
        "the line is too long for a terminal: give the secret on standard input"
    /// The secret cannot be prompted for.
    package static let noTerminal: Text =
        "there is no terminal to type the secret on: give it on standard input"
    /// What the touch is for.
    package static func purpose(_ name: Bytes) -> Bytes { Bytes("secret ".utf8) + name }

    /// The secret could change the terminal's state.
    package static let binary: Text =
        "the secret is not text and was not shown. Send it to a file or a program, or use '--force'"
    /// The secret could not be passed on.
    package static let unwritten: Text = "the secret could not be written to standard output"

    /// The name is empty.
    package static let emptyName: Text = "a secret needs a name"
    /// The name is too long.
    package static let longName: Text =
        "the name of a secret can have at most \(number: UInt32(Limit.secretName)) bytes"
    /// The name has invalid characters.
    package static func badName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it has control characters, or is not UTF-8"
    }
    /// The name begins with a hyphen.
    package static func optionName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it begins with a hyphen"
    }
    /// For `signet list`: how many secrets a change of fingers would end.
    package static func depending(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret is sealed to these fingers: if they change, it can no longer be opened"
            : """
            \(number: count) secrets are sealed to these fingers: if the fingers change, the \
            secrets can no longer be opened
            """
    }
    /// Before an enrolment: how many secrets the change of fingers will end.
    package static func warning(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 secret is sealed to the present fingers: after this change, you will have to set \
                it again
                """
        }
        return """
            \(number: count) secrets are sealed to the present fingers: after this change, you \
            will have to set them again
            """
    }
    /// After a change of fingers: how many secrets can no longer be opened.
    package static func ended(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret can no longer be opened: set it again"
            : "\(number: count) secrets can no longer be opened: set them again"
    }
    /// For `signet status`: how many secrets open with the enrolled fingers.
    package static func status(_ count: UInt32) -> Text {
        count == 1 ? "1 opens with these fingers" : "\(number: count) open with these fingers"
    }
}
