// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Messages of the command `signet` when it fails.
package enum CommandText {
    /// Stands before each message on standard error.
    // Untranslated: the program's name.
    package static let program: Text = "signet: "

    /// A touch that is requested by a user other than the account's own.
    package static func asked(_ text: Text, by requester: AccountName) -> Text {
        "\(text) (asked by \(requester))"
    }
    /// A touch, and the purpose that the requesting program states: its own words come last.
    package static func explained(_ text: Text, by reason: Bytes) -> Text {
        "\(text). The requesting program says: \(reason)"
    }
    /// The purpose given with `--reason` is invalid.
    package static func badReason(most: UInt32) -> Text {
        "--reason needs one line of 1 to \(number: most) bytes, with visible characters only"
    }
    /// The finger's name is unknown.
    package static func unknownFinger(_ word: Bytes, names: Text) -> Text {
        "\(word) is not a finger. The fingers are: \(names)"
    }
    /// A value is not a number.
    package static func notNumber(_ word: Bytes, option: Bytes) -> Text {
        "\(option) needs the number of a receipt, not \(word). See 'signet log'"
    }
    /// A name cannot be an account's name.
    package static func badAccount(_ name: AccountName) -> Text {
        "\(name) is not a valid account name"
    }
    /// `readers --clear` without its other option.
    package static let clearWantsForce: Text =
        """
        this deletes all fingerprints from the readers, including those of accounts here: add \
        '--force' to confirm
        """
    /// `readers` with more than one action.
    package static let oneOfStorage: Text =
        "choose one of '--watch', '--prints', '--delete-foreign' and '--clear'"
    /// The destination of `migrate` is missing or unknown.
    package static let whichVault: Text = "migrate needs a destination: tpm or file"
    /// A value is too long.
    package static let badValue: Text = "a value is too long"
    /// Root did not name an account.
    package static let nameAccount: Text = "root must name the account: add '--account NAME'"
    /// The caller's uid has no account.
    package static func noAccount(uid: UInt32) -> Text {
        "this user (uid \(number: uid)) has no account here. Add '--account NAME'"
    }

    /// No program listens on the daemon's socket.
    package static func absent(_ reason: Bytes) -> Text {
        """
        the fingerprint service cannot be reached: \(reason). See 'systemctl status \
        signetd.socket'; passwords still work
        """
    }
    /// The program at the socket is not the daemon.
    package static func foreign(uid: UInt32) -> Text {
        """
        the fingerprint service's socket belongs to uid \(number: uid), not to root, and was not \
        used. See 'systemctl status signetd.socket'
        """
    }
    /// There was no answer in time.
    package static let silent: Text =
        "the fingerprint service does not answer. See 'systemctl status signetd'"
    /// The connection ended before the answer.
    package static let closed: Text =
        "the fingerprint service closed the connection. See 'journalctl -t signetd'"
    /// The answer cannot be read.
    package static let malformed: Text =
        """
        the fingerprint service's answer was not understood: do 'signet' and the service have the \
        same version? See 'signet --version' and 'systemctl try-restart signetd'
        """
    /// The answer does not belong to the request.
    package static let unexpected: Text =
        "the fingerprint service gave an answer that does not fit the request. Try again"
    /// A system call failed.
    package static func failed(_ reason: Bytes) -> Text { "\(reason)" }
    /// The user pressed ^C.
    package static let interrupted: Text = "cancelled: nothing was changed"
    /// The user pressed ^C while a server was asked.
    package static func interruptedAsking(_ server: ServerURL) -> Text {
        "interrupted: \(server) may already have carried out the request"
    }
    /// The user pressed ^C while a server was asked; with the command that shows the result.
    package static func interruptedAsking(_ server: ServerURL, see command: Bytes) -> Text {
        "interrupted: \(server) may already have carried out the request. See 'signet \(command)'"
    }
    /// Standard output cannot be written.
    package static let unwritten: Text =
        "the output could not be written completely to standard output"

    /// How far an enrolment is: `[#####.....] 5 of 10`
    package static func stages(_ bar: Bytes, done: UInt8, total: UInt8) -> Text {
        "[\(bar)] \(number: done) of \(number: total)"
    }
    /// The prompt for the password.
    package static func passwordPrompt(_ account: AccountName) -> Text {
        "Password of \(account): "
    }
    /// The password cannot be prompted for.
    package static let noTerminal: Text =
        "the password is needed, but there is no terminal. Give it with '--password-stdin'"
    /// Nothing was typed, or standard input is empty.
    package static let noPassword: Text = "no password was given"
    /// The input is longer than any password may be.
    package static let longPassword: Text = "the password is too long"
    /// Another try.
    package static let tryAgain: Text = "the password was wrong: try again"
    /// The daemon asked for a password that the request does not need.
    package static func foreignPassword(_ account: AccountName) -> Text {
        "the fingerprint service unexpectedly asked for the password of \(account): it was not sent"
    }
}
