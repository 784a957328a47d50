// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol
import SignedFormats

/// What `signet import-fprintd` says.
package enum CommandImport {
    /// Above the files.
    package static let heading: [Text] = [
        "finger", "fprintd's file", "written", "what became of it",
    ]

    /// Above what fprintd keeps, before the password is asked for.
    package static func decide(_ account: Bytes) -> Text {
        """
        fprintd keeps these fingers under the name \(account), which another account may have had \
        before. Go on only if they are yours: whose they are gets in
        """
    }
    /// A finger that fprintd keeps.
    package static func found(_ finger: Text, written: Text?, place: Bytes) -> Text {
        guard let written else { return "\(finger) (\(place))" }
        return "\(finger), written on \(written) (\(place))"
    }
    /// A file of fprintd's is older than the account's home directory.
    package static func olderThanHome(_ account: Bytes, born: Text) -> Text {
        """
        that is older than the home directory of \(account), made on \(born): is it a former \
        account's of this name?
        """
    }

    /// There is nothing to take over.
    package static func nothing(_ account: Bytes) -> Text {
        """
        fprintd keeps no fingerprints of \(account) in /var/lib/fprint. \
        Run 'signet enroll' to add a finger
        """
    }
    /// How many were taken over, and how many there are now.
    package static func takenOver(_ count: UInt8, account: Bytes, prints: UInt8) -> Text {
        count == 1
            ? "1 finger was taken over for \(account): \(CommandOutcome.fingers(prints)) in all"
            : """
            \(number: count) fingers were taken over for \(account): \
            \(CommandOutcome.fingers(prints)) in all
            """
    }
    /// What is left of fprintd, and what to do about it.
    package static func leftovers(_ account: Bytes) -> Text {
        """
        fprintd's own files are left as they were. Once a touch works, keep fprintd out with \
        'sudo pam-auth-update --disable fprintd' and 'sudo systemctl mask fprintd', and remove \
        them with 'sudo rm -r /var/lib/fprint/\(account)'
        """
    }
    /// Why not `fprintd-delete`, where a reader keeps the prints.
    package static let notFprintdDelete: Text =
        """
        do not use 'fprintd-delete' where a reader keeps prints itself: it deletes them on the \
        reader, too
        """
}

extension ImportOutcome {
    /// What became of a file, and why; `subject` is what the daemon knows beside.
    package func text(_ subject: Bytes?) -> Text {
        switch self {
        case .imported: "taken over"
        case .known: "is here already"
        case .duplicate: "not taken over: the same print is enrolled as another finger"
        case .fingerKnown:
            """
            not taken over: another print of this finger is enrolled. \
            'signet delete' it first if this one shall take its place
            """
        case .fingerTaken: "not taken over: another account has this print"
        case .full: "not taken over: no more fingers can be added. See 'signet list'"
        case .noReader, .notOnReader, .readerFailed, .otherReader: readerText(subject)
        case .otherFinger: "not taken over: it is a print of another finger than its name says"
        case .otherAccount: "not taken over: it is not a print of this account"
        case .malformed: "not taken over: it is damaged, or no print"
        case .tooLarge: "not taken over: it is larger than a print can be"
        case .foreign: "not taken over: fprintd gives no print such a name"
        case .notPlain, .otherOwner, .writable, .linked: distrust
        case .unreadable:
            subject.map { "not taken over: it could not be read: \($0)" }
                ?? "not taken over: it could not be read"
        case .tooMany: "not looked at, with all behind it: there are more files than prints can be"
        }
    }

    private func readerText(_ subject: Bytes?) -> Text {
        switch self {
        case .noReader:
            "not taken over: its reader is not here, or not used. Plug it in and try again"
        case .notOnReader:
            """
            not taken over: the reader keeps prints itself, and this one is not on it. \
            Enrol the finger with 'signet enroll'
            """
        case .readerFailed:
            subject.map { "not taken over: the reader does not tell what it keeps: \($0)" }
                ?? "not taken over: the reader does not tell what it keeps. Is fprintd using it?"
        default: "not taken over: it was made on another reader than its directory says"
        }
    }

    private var distrust: Text {
        switch self {
        case .notPlain: "not taken over: it is a link, or nothing that fprintd puts there"
        case .otherOwner: "not taken over: it is not root's, so anybody may have put it there"
        case .writable: "not taken over: others than root may write to it"
        default: "not taken over: it has a second name, so it may be somebody else's file"
        }
    }
}
