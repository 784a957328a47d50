// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Messages of `signet import-fprintd`.
package enum CommandImport {
    /// The heading above the files.
    package static let heading: [Text] = [
        "finger", "fprintd's file", "written", "result",
    ]

    /// The heading above fprintd's fingers, before the password prompt.
    package static func decide(_ account: AccountName) -> Text {
        """
        fprintd has stored these fingers under the name \(account), which may have belonged to \
        another account before. Continue only if they are yours: anyone with one of these fingers \
        can log in
        """
    }
    /// A finger that fprintd stores.
    package static func found(_ finger: Text, written: Text?, place: Bytes) -> Text {
        guard let written else { return "\(finger) (\(place))" }
        return "\(finger), written on \(written) (\(place))"
    }
    /// A file of fprintd's is older than the account's home directory.
    package static func olderThanHome(_ account: AccountName, born: Text) -> Text {
        """
        this is older than the home directory of \(account), created on \(born): does it belong to \
        a former account of this name?
        """
    }

    /// There is nothing to import.
    package static func nothing(_ account: AccountName) -> Text {
        """
        fprintd has stored no fingerprints of \(account) in /var/lib/fprint. Run 'signet enroll' \
        to add a finger
        """
    }
    /// How many were imported, and how many fingers are enrolled now.
    package static func takenOver(_ count: UInt8, account: AccountName, prints: UInt8) -> Text {
        count == 1
            ? "1 finger was imported for \(account): \(CommandOutcome.fingers(prints)) in total"
            : """
            \(number: count) fingers were imported for \(account): \
            \(CommandOutcome.fingers(prints)) in total
            """
    }
    /// What remains stored by fprintd, and what to do about it.
    package static func leftovers(_ account: AccountName) -> Text {
        """
        fprintd's own files are unchanged. Once a touch works, turn fprintd off with 'sudo \
        pam-auth-update --disable fprintd' and 'sudo systemctl mask fprintd', and remove the files \
        with 'sudo rm -r /var/lib/fprint/\(account)'
        """
    }
    /// Why not to use `fprintd-delete` if a reader stores the prints.
    package static let notFprintdDelete: Text =
        """
        do not use 'fprintd-delete' with a reader that stores prints itself: it deletes them on \
        the reader, too
        """
}

extension ImportOutcome {
    /// The result for a file, and the reason; `subject` is the daemon's detail.
    package func text(_ subject: Bytes?) -> Text {
        switch self {
        case .imported: "imported"
        case .known: "already enrolled"
        case .duplicate: "not imported: this print is enrolled as another finger"
        case .fingerKnown:
            """
            not imported: another print of this finger is enrolled. To import this one, run \
            'signet delete' first
            """
        case .fingerTaken: "not imported: another account has this print"
        case .full: "not imported: no more fingers can be added. See 'signet list'"
        case .noReader:
            "not imported: its reader is not connected, or not used. Connect it and try again"
        case .notOnReader:
            """
            not imported: the reader stores prints itself, and this one is not on it. Enrol the \
            finger with 'signet enroll'
            """
        case .readerFailed:
            subject.map { "not imported: the reader does not report what it stores: \($0)" }
                ?? "not imported: the reader does not report what it stores. Is fprintd using it?"
        case .otherReader: "not imported: it was made on a different reader than its directory says"
        case .otherFinger: "not imported: its file name says that it is another finger"
        case .otherAccount: "not imported: it is not a print of this account"
        case .malformed: "not imported: it is damaged, or not a print"
        case .tooLarge: "not imported: it is too large for a print"
        case .foreign: "not imported: fprintd does not use such a name for prints"
        case .notPlain: "not imported: it is a link, or not a file that fprintd creates"
        case .otherOwner: "not imported: it is not owned by root, so anyone may have put it there"
        case .writable: "not imported: users other than root can write to it"
        case .linked: "not imported: it has a second hard link, so it may be another user's file"
        case .unreadable:
            subject.map { "not imported: it could not be read: \($0)" }
                ?? "not imported: it could not be read"
        case .tooMany: "not examined, like all files after it: there are too many files"
        }
    }
}
