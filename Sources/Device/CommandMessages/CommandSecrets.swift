// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// What `signet secret` says, and the other commands about secrets.
package enum CommandSecrets {
    /// Above the secrets.
    package static let heading: [Text] = ["name", "stored", "bytes", "vault", "state"]
    /// What can be opened by a touch.
    package static let fits: Text = "good"
    /// What cannot any more.
    package static let stale: Text = "the fingers have changed: set it again"
    /// What was altered.
    package static let damaged: Text = "damaged: delete it, or set it again"

    /// It was kept.
    package static func kept(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) is stored for \(account): 'signet secret get' releases it after a touch"
    }
    /// It is gone.
    package static func deleted(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) of \(account) was deleted"
    }
    /// Nothing to list.
    package static func none(_ account: AccountName) -> Text {
        "no secrets are stored for \(account). Run 'signet secret set NAME' to store one"
    }

    /// Before a hidden line.
    package static func prompt(_ name: Bytes) -> Text { "Secret \(name): " }
    /// Before the same line once more.
    package static let again: Text = "Repeat the secret: "
    /// Two lines were not the same.
    package static let different: Text = "the two entries differ: nothing was stored"
    /// Nothing was given.
    package static let empty: Text = "the secret is empty: nothing was stored"
    /// More than a secret may have.
    package static let tooLong: Text =
        "the secret is longer than \(number: UInt32(Limit.secret)) bytes: nothing was stored"
    /// More than a terminal takes.
    package static let longLine: Text =
        "the line is too long for a terminal: give the secret on standard input"
    /// It cannot be asked for.
    package static let noTerminal: Text =
        "there is no terminal to type the secret on: give it on standard input"
    /// What the touch is for.
    package static func purpose(_ name: Bytes) -> Bytes { Bytes("secret ".utf8) + name }

    /// It would do something to the terminal.
    package static let binary: Text =
        "the secret is not text and was not shown. Send it to a file or a program, or use '--force'"
    /// It could not be handed on.
    package static let unwritten: Text = "the secret could not be written to standard output"

    /// What it must not be called.
    package static let emptyName: Text = "a secret needs a name"
    /// What it must not be called.
    package static let longName: Text =
        "the name of a secret can have at most \(number: UInt32(Limit.secretName)) bytes"
    /// What it must not be called.
    package static func badName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it has control characters, or is not UTF-8"
    }
    /// What it must not be called.
    package static func optionName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it begins with a hyphen"
    }
    /// How many a change of fingers would end, for `signet list`.
    package static func depending(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret is sealed to these fingers: if they change, it can no longer be opened"
            : """
            \(number: count) secrets are sealed to these fingers: if the fingers change, the \
            secrets can no longer be opened
            """
    }
    /// The same before an enrolment begins.
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
    /// The same after a change.
    package static func ended(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret can no longer be opened: set it again"
            : "\(number: count) secrets can no longer be opened: set them again"
    }
    /// The same for `signet status`.
    package static func status(_ count: UInt32) -> Text {
        count == 1 ? "1 opens with these fingers" : "\(number: count) open with these fingers"
    }
}
