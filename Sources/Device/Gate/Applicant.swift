// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix

/// A request for the readers, as the queue sees it.
///
/// It states what the readers are needed for, for which account, and who caused the request, and it
/// knows how to show the waiting client a notice.
package struct Applicant: Sendable {
    /// The purpose of using the readers.
    package enum Purpose: Sendable {
        /// A touch that confirms a request of the account.
        case touch
        /// An enrolment; it yields to waiting touches when no finger is on the reader.
        case enrolment
        /// Upkeep of a reader, such as listing or deleting the prints stored on it, or resealing a
        /// key; no touch is involved.
        case upkeep
        /// A touch that a client of the message bus asks for; it yields to waiting touches at once.
        case desktop
        /// Scans that are compared with no print; they yield to any other kind of request at once.
        case observation
    }

    /// What the readers are needed for.
    package let purpose: Purpose
    /// The account whose fingers are concerned.
    package let account: UInt32
    /// The requester, and how other waiting clients see the request described.
    package let asker: Asker
    /// Shows the client a notice.
    ///
    /// If the notice has `wantsAcknowledgement`, the call returns when the client has confirmed
    /// that it shows the notice, and returns false if the client is gone or did not confirm in
    /// time.
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

/// The requester of a touch, and the descriptions of it that waiting clients display.
///
/// The full description, which may quote a command line, is only for requests by the same user.
/// Other users see a description without the purpose. Both are escaped for a terminal and cut to
/// `Limit.text` bytes.
package struct Asker: Equatable, Sendable {
    /// The maximum length of a purpose, in Unicode scalars.
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

    /// Describes a login through a PAM service.
    ///
    /// The description names the requester, not the account that the touch is for. `purpose` may be
    /// empty.
    package init(
        service: ServiceName, terminal: Bytes, purpose: Bytes, by requester: Requester
    ) {
        self.requester = requester
        let who = Prompt.who(account: requester.name, terminal: terminal)
        name = Self.line("\(service) (\(who))")
        detail = purpose.isEmpty ? name : Self.line("\(Self.shortened(purpose)) (\(who))")
    }

    /// Returns the description that another asker's client may display: with the purpose only if
    /// both have the same uid.
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
