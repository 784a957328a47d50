// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import Loop
import Posix

/// A request that wants the readers, as the queue sees it.
package struct Applicant: Sendable {
    /// What the readers are wanted for.
    package enum Purpose: Sendable {
        /// A touch that confirms a request of the account's.
        case touch
        /// An enrolment, which gives way to touches when nobody puts a finger on the reader.
        case enrolment
        /// What the readers keep is listed or deleted; nobody touches anything.
        case upkeep
    }

    /// What the readers are wanted for.
    package let purpose: Purpose
    /// The account whose finger it is about.
    package let account: UInt32
    /// Who asks, in words.
    package let asker: Asker
    /// Tells the client something; with `wantsAcknowledgement`, returns when the client has shown it:
    /// false where it is gone or did not say so in time.
    package let show: @Sendable @ServiceActor (Notice) async -> Bool

    /// All of it.
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

/// Who asks for a touch, in words for those who wait behind or before.
package struct Asker: Equatable, Sendable {
    private static let longestPurpose = 200

    /// Who it is: shares of the queue are theirs.
    package let requester: Requester
    /// What everybody is told: `sudo (alice, pts/3)`.
    private let name: Bytes
    /// What the same person is told: `sudo apt upgrade (alice, pts/3)`.
    package let detail: Bytes

    /// A command of Signet's own: `signet enroll (alice)`.
    package init(_ command: String, by requester: Requester) {
        self.requester = requester
        name = Self.line("\(Bytes(command.utf8)) (\(requester.name))")
        detail = name
    }

    /// A PAM service: who asks is the requester, whatever account the touch is for.
    package init(
        service: Bytes, terminal: Bytes, purpose: Bytes, by requester: Requester
    ) {
        self.requester = requester
        let who = Prompt.who(account: requester.name, terminal: terminal)
        name = Self.line("\(service) (\(who))")
        detail = purpose.isEmpty ? name : Self.line("\(Self.shortened(purpose)) (\(who))")
    }

    /// What another is told: nobody learns what others are about to do.
    package func name(for other: Asker) -> Bytes {
        requester.uid == other.requester.uid ? detail : name
    }

    private static func line(_ text: Text) -> Bytes { Bytes(text.bytes.prefix(Limit.text)) }

    /// A purpose with its middle left out where it is long.
    private static func shortened(_ purpose: Bytes) -> Text {
        let text = Text(escaping: purpose)
        let scalars = String(decoding: text.bytes, as: UTF8.self).unicodeScalars
        guard scalars.count > longestPurpose else { return text }
        let half = longestPurpose / 2
        let cut = "\(String(scalars.prefix(half))) … \(String(scalars.suffix(half)))"
        return Text(escaping: Bytes(cut.utf8))
    }
}
