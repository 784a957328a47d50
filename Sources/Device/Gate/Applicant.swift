// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import MainContext
import Posix

/// A request for the readers, as the queue sees it.
package struct Applicant: Sendable {
    /// The purpose of using the readers.
    package enum Purpose: Sendable {
        /// A touch that confirms a request of the account.
        case touch
        /// An enrolment; it yields to waiting touches when no finger is on the reader.
        case enrolment
        /// Listing or deleting the prints stored on a reader, which involves no touch.
        case upkeep
        /// Scans that are compared with nothing; they yield to any other request at once.
        case observation
    }

    /// The purpose of using the readers.
    package let purpose: Purpose
    /// The account whose fingers are concerned.
    package let account: UInt32
    /// The requester and the description shown to other requesters.
    package let asker: Asker
    /// Sends the client a notice.
    ///
    /// If the notice has `wantsAcknowledgement`, it returns when the client has shown it, and false
    /// if the client is gone or did not confirm in time.
    package let show: @Sendable @ServiceActor (Notice) async -> Bool

    /// Creates an applicant from its values.
    package init(
        _ purpose: Purpose, account: UInt32, asker: Asker,
        show: @escaping @Sendable @ServiceActor (Notice) async -> Bool
    ) {
        self.purpose = purpose
        self.account = account
        self.asker = asker
        self.show = show
    }
}

/// The requester of a touch, with the descriptions that other waiting requests display.
///
/// The full description is only for the requester's own requests; others see a version without the
/// purpose.
package struct Asker: Equatable, Sendable {
    private static let longestPurpose = 200

    /// The requester, whose share of the queue the request consumes.
    package let requester: Requester
    /// The description for other users, such as `sudo (alice, pts/3)`.
    private let name: Bytes
    /// The description for the requester, such as `sudo apt upgrade (alice, pts/3)`.
    package let detail: Bytes

    /// Describes one of Signet's own commands, such as `signet enroll (alice)`.
    package init(_ command: String, by requester: Requester) {
        self.requester = requester
        name = Self.line("\(Bytes(command.utf8)) (\(requester.name))")
        detail = name
    }

    /// Describes a PAM service; names the requester, whichever account the touch is for.
    package init(
        service: Bytes, terminal: Bytes, purpose: Bytes, by requester: Requester
    ) {
        self.requester = requester
        let who = Prompt.who(account: requester.name, terminal: terminal)
        name = Self.line("\(service) (\(who))")
        detail = purpose.isEmpty ? name : Self.line("\(Self.shortened(purpose)) (\(who))")
    }

    /// Returns the description for another asker, which hides the purpose unless both are the same
    /// user.
    package func name(for other: Asker) -> Bytes {
        requester.uid == other.requester.uid ? detail : name
    }

    private static func line(_ text: Text) -> Bytes { Bytes(text.bytes.prefix(Limit.text)) }

    /// Returns an escaped purpose, with its middle replaced by an ellipsis if it is too long.
    private static func shortened(_ purpose: Bytes) -> Text {
        let text = Text(escaping: purpose)
        let scalars = String(decoding: text.bytes, as: UTF8.self).unicodeScalars
        guard scalars.count > longestPurpose else { return text }
        let half = longestPurpose / 2
        let cut = "\(String(scalars.prefix(half))) … \(String(scalars.suffix(half)))"
        return Text(escaping: Bytes(cut.utf8))
    }
}
