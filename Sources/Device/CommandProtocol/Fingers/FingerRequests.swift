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
    package let reason: Bytes?

    package var context: RequestContext { RequestContext(purpose: reason ?? []) }
}

extension VerifyRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.purpose, ifPresent: reason)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        reason = try frame.bytesIfPresent(.purpose)
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
    }
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

    /// Creates a request.
    package init(account: AccountName, finger: Finger?, readerID: Bytes?) {
        self.account = account
        self.finger = finger
        self.readerID = readerID
    }
}

extension EnrollRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.readerID, ifPresent: readerID)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        finger = try frame.choiceIfPresent(.finger)
        readerID = try frame.bytesIfPresent(.readerID)
    }
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

    /// Creates a request.
    package init(account: AccountName, finger: Finger?) {
        self.account = account
        self.finger = finger
    }
}

extension DeleteRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        finger = try frame.choiceIfPresent(.finger)
    }
}

/// Lists the account's fingers: answered by `print` for each, then `done`.
package struct ListRequest: PlainAccountRequest {
    package static let verb = Verb(9, name: "list")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName

    package init(account: AccountName) { self.account = account }
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
package struct PrintAnswer: Equatable, Sendable {
    /// The finger; nil if the print is damaged and does not name it.
    package var finger: Finger?
    /// The print's id.
    package var printID: PrintID
    /// The id of the reader on which it was enrolled.
    package var readerID: Bytes
    /// When it was enrolled, in seconds since 1970; nil if unknown.
    package var since: UInt64?
    /// Whether the sealed template is authentic.
    package var intact: Bool
    /// Whether it can be used now; nil if that was not asked, or the readers are not known.
    package var state: PrintState?

    /// Creates an answer.
    package init(
        finger: Finger?, printID: PrintID, readerID: Bytes, since: UInt64?, intact: Bool,
        state: PrintState? = nil
    ) {
        self.finger = finger
        self.printID = printID
        self.readerID = readerID
        self.since = since
        self.intact = intact
        self.state = state
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.printID, printID)
        try frame.put(.readerID, readerID)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.done, number: UInt8(intact ? 1 : 0))
        try frame.put(.printState, numberIfPresent: state?.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            finger: try frame.choiceIfPresent(.finger),
            printID: try frame.fixed(.printID),
            readerID: try frame.bytes(.readerID),
            since: try frame.numberIfPresent(.since),
            intact: false)
        let flag: UInt8 = try frame.number(.done)
        guard flag <= 1 else { throw .malformedValue }
        intact = flag == 1
        state = try frame.choiceIfPresent(.printState)
    }
}

extension Request {
    package static func verify(
        account: AccountName, timeoutMilliseconds: UInt32, reason: Bytes? = nil
    ) -> Request {
        Request(
            VerifyRequest(
                account: account, timeoutMilliseconds: timeoutMilliseconds, reason: reason))
    }

    package static func enroll(account: AccountName, finger: Finger?, readerID: Bytes?) -> Request {
        Request(EnrollRequest(account: account, finger: finger, readerID: readerID))
    }

    package static func delete(account: AccountName, finger: Finger?) -> Request {
        Request(DeleteRequest(account: account, finger: finger))
    }

    package static func list(account: AccountName) -> Request {
        Request(ListRequest(account: account))
    }
}

extension Field {
    package static var printID: Field { Field(12, size: 16) }
    package static var printState: Field { Field(223, size: 1) }
}
