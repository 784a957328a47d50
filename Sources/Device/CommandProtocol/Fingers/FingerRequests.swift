// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Requests a touch that signs nothing, to test whether a reader recognises the finger.
package struct VerifyRequest: AccountRequest {
    package static let verb = Verb(2, name: "verify")
    // It releases nothing, so enrolled fingers suffice, without a credential.
    package static let rule = VerbRule(
        .rootOrAccount, touch: TouchRule(guards: [.presence, .prints, .reader, .lid]))
    package static let command = "signet verify"

    /// The account whose finger is tested.
    package let account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package let timeoutMilliseconds: UInt32
    /// The caller's reason in the caller's own words; nil if none was given.
    package var reason: Bytes? = nil  // .purpose

    package var context: RequestContext { RequestContext(purpose: reason ?? []) }
}

/// Adds a finger.
package struct EnrollRequest: AccountRequest {
    package static let verb = Verb(3, name: "enroll")
    // Its scans match nothing, and the password was given for them. The lid is not checked, because
    // a user who enrols with a closed lid has an external reader. Comparisons with other accounts'
    // prints are counted elsewhere, against the enrolling account.
    package static let rule = VerbRule(
        .rootOrAccount, proof: .password, touch: TouchRule(guards: [.presence]))
    package static let command = "signet enroll"

    /// The account.
    package let account: AccountName
    /// The finger to add; nil for the first in `Finger.preference` that is not enrolled.
    package let finger: Finger?
    /// The reader to use; nil for the first one.
    package let readerID: Bytes?
}

extension Finger {
    /// The order in which fingers are chosen for an enrolment that names none.
    package static let preference: [Finger] = [
        .rightIndex, .leftIndex, .rightThumb, .leftThumb, .rightMiddle, .leftMiddle, .rightRing,
        .leftRing, .rightLittle, .leftLittle,
    ]
}

/// Removes one finger or all of them.
package struct DeleteRequest: AccountRequest {
    package static let verb = Verb(4, name: "delete")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)

    /// The account.
    package let account: AccountName
    /// The finger to delete; nil for all fingers of the account.
    package let finger: Finger?
    package var servesDeparted: Bool { finger == nil }
}

/// Lists the account's fingers: answered by `print` for each, then `done`.
package struct ListRequest: AccountRequest {
    package static let verb = Verb(9, name: "list")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// Whether a finger could match a print now, as far as it depends on readers; the raw value is on
/// the wire.
package enum PrintState: UInt8, CaseIterable, Sendable {
    /// A reader that is connected can be asked for the finger.
    case usable = 1
    /// No reader of the kind that the print was made on is connected.
    case readerAway = 2
    /// Its reader is at another seat than the client's session.
    case otherSeat = 3
    /// Its reader has reported that it no longer stores the print.
    case lost = 4
    /// The template cannot be given to a reader.
    case unusable = 5
}

/// One enrolled finger.
package struct PrintAnswer: FrameContent {
    /// The finger; nil if the print is damaged and does not name it.
    package var finger: Finger?
    /// The print's id.
    package var printID: PrintID
    /// The id of the reader on which it was enrolled.
    package var readerID: Bytes
    /// When it was enrolled, in seconds since 1970; nil if unknown.
    package var since: UInt64?
    /// Whether the sealed template is authentic.
    package var intact: Bool  // .done stated
    /// Whether it can be used now; nil if that was not asked, or the readers are not known.
    package var state: PrintState? = nil  // .printState
}

extension Field {
    package static var printID: Field { Field(12, size: 16) }
    package static var printState: Field { Field(223, size: 1) }
}
