// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// What the command `signet` says when it cannot do what it was told.
package enum CommandText {
    /// Stands before each message on standard error.
    // Untranslated: the program's name.
    package static let program: Text = "signet: "

    /// A touch that another user asks for than the account itself.
    package static func asked(_ text: Text, by requester: AccountName) -> Text {
        "\(text) (asked by \(requester))"
    }
    /// A touch, and what the program that wants it says of it: its own words come last.
    package static func explained(_ text: Text, by reason: Bytes) -> Text {
        "\(text). The requesting program says: \(reason)"
    }
    /// A reason that is empty, too long, or does not show as it is.
    package static func badReason(most: UInt32) -> Text {
        "--reason needs one line of 1 to \(number: most) bytes, with visible characters only"
    }
    /// No finger of that name.
    package static func unknownFinger(_ word: Bytes, names: Text) -> Text {
        "\(word) is not a finger. The fingers are: \(names)"
    }
    /// A value that is no number.
    package static func notNumber(_ word: Bytes, option: Bytes) -> Text {
        "\(option) needs the number of a receipt, not \(word). See 'signet log'"
    }
    /// An account's name that cannot be one.
    package static func badAccount(_ name: AccountName) -> Text {
        "\(name) is not a valid account name"
    }
    /// `readers --clear` alone.
    package static let clearWantsForce: Text =
        """
        this deletes all fingerprints from the readers, including those of accounts here: add \
        '--force' to confirm
        """
    /// Which of the actions of `readers`.
    package static let oneOfStorage: Text =
        "choose one of '--watch', '--prints', '--delete-foreign' and '--clear'"
    /// No such vault.
    package static let whichVault: Text = "migrate needs a destination: tpm or file"
    /// A reader's id that is too long to be one.
    package static let badValue: Text = "a value is too long"
    /// Root did not say whose.
    package static let nameAccount: Text = "root must name the account: add '--account NAME'"
    /// The caller has no account of its own.
    package static func noAccount(uid: UInt32) -> Text {
        "this user (uid \(number: uid)) has no account here. Add '--account NAME'"
    }

    /// Nobody listens.
    package static func absent(_ reason: Bytes) -> Text {
        """
        the fingerprint service cannot be reached: \(reason). See 'systemctl status \
        signetd.socket'; passwords still work
        """
    }
    /// The other end is not the daemon.
    package static func foreign(uid: UInt32) -> Text {
        """
        the fingerprint service's socket belongs to uid \(number: uid), not to root, and was not \
        used. See 'systemctl status signetd.socket'
        """
    }
    /// No answer in time.
    package static let silent: Text =
        "the fingerprint service does not answer. See 'systemctl status signetd'"
    /// The connection ended before the answer.
    package static let closed: Text =
        "the fingerprint service closed the connection. See 'journalctl -t signetd'"
    /// An answer that cannot be read.
    package static let malformed: Text =
        """
        the fingerprint service's answer was not understood: do 'signet' and the service have the \
        same version? See 'signet --version' and 'systemctl try-restart signetd'
        """
    /// An answer that does not belong to what was asked.
    package static let unexpected: Text =
        "the fingerprint service gave an answer that does not fit the request. Try again"
    /// A system call failed.
    package static func failed(_ reason: Bytes) -> Text { "\(reason)" }
    /// ^C.
    package static let interrupted: Text = "cancelled: nothing was changed"
    /// ^C while a server was asked.
    package static func interruptedAsking(_ server: ServerURL) -> Text {
        "interrupted: \(server) may already have carried out the request"
    }
    /// The same, and the command that tells.
    package static func interruptedAsking(_ server: ServerURL, see command: Bytes) -> Text {
        "interrupted: \(server) may already have carried out the request. See 'signet \(command)'"
    }
    /// Standard output takes no more.
    package static let unwritten: Text =
        "the output could not be written completely to standard output"

    /// How far an enrolment is: `[#####.....] 5 of 10`
    package static func stages(_ bar: Bytes, done: UInt8, total: UInt8) -> Text {
        "[\(bar)] \(number: done) of \(number: total)"
    }
    /// Before the cursor when the password is wanted.
    package static func passwordPrompt(_ account: AccountName) -> Text {
        "Password of \(account): "
    }
    /// The password cannot be asked for.
    package static let noTerminal: Text =
        "the password is needed, but there is no terminal. Give it with '--password-stdin'"
    /// Nothing was typed, or standard input is empty.
    package static let noPassword: Text = "no password was given"
    /// More than the longest password.
    package static let longPassword: Text = "the password is too long"
    /// Another try.
    package static let tryAgain: Text = "the password was wrong: try again"
    /// The daemon asks for a password that has nothing to do with the request.
    package static func foreignPassword(_ account: AccountName) -> Text {
        "the fingerprint service unexpectedly asked for the password of \(account): it was not sent"
    }
}
