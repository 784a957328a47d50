// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The user's decision on an operation; the raw value is on the wire.
package enum OperationChoice: UInt8, CaseIterable, Sendable {
    case approve = 1
    case reject = 2
}

/// The state of an operation at its server; the raw value is on the wire.
package enum OperationState: UInt8, CaseIterable, Sendable {
    /// The operation awaits a decision.
    case pending = 1
    case approved = 2
    case rejected = 3
    /// The operation was not decided in time.
    case canceled = 4
    /// It was not decided in time.
    case expired = 5
    /// There were too many wrong signatures.
    case failed = 6
}

/// Lists the operations that await the account's approval.
///
/// It is answered by `operation` for each, `serverTrouble` for each server that gave no answer,
/// then `done`.
package struct OperationListRequest: AccountRequest {
    package static let verb = Verb(42, name: "operationList")
    // Not even root may, because decisions are made in the account's name.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let logging = DecisionLogging.denials
    package static let command = "signet operations"

    /// The account.
    package var account: AccountName
    /// How long to wait for a touch if one is required, in milliseconds; nil if none may be
    /// requested.
    package var timeoutMilliseconds: UInt32?
    /// The only server to ask; nil for all.
    package var server: ServerURL? = nil
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor = .finger
}

/// Shows one operation as its server describes it: answered by `operation`, then `done`.
package struct OperationShowRequest: AccountRequest {
    package static let verb = Verb(43, name: "operationShow")
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet operations"

    /// The account.
    package var account: AccountName
    /// How long to wait for a touch if one is required, in milliseconds; nil if none may be
    /// requested.
    package var timeoutMilliseconds: UInt32?
    /// The URL of the operation's server.
    package var server: ServerURL
    /// The operation's id.
    package var operation: OperationID
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor = .finger

    package var context: RequestContext {
        RequestContext(purpose: operationText(operation))
    }
}

/// Requests a touch, or the password in its place, that approves or rejects an operation: answered by `operation`, then `decided`.
package struct OperationDecideRequest: AccountRequest {
    package static let verb = Verb(44, name: "operationDecide")
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet operations"

    /// The account whose finger is used.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The URL of the operation's server.
    package var server: ServerURL
    /// The operation's id.
    package var operation: OperationID
    /// The decision.
    package var decision: OperationChoice
    /// Whether a finger or the password confirms it.
    package var factor: ConfirmingFactor = .finger

    package var context: RequestContext {
        RequestContext(
            purpose: Bytes("\(decision.protocolName) ".utf8) + operationText(operation))
    }

    package var interruption: ServerInterruption {
        let id = String(decoding: Hexadecimal.encode(operation.bytes), as: UTF8.self)
        return .shown(by: "operations show \(id)")
    }
}

/// The factors that approve an operation; the raw value is on the wire.
package enum OperationFactors: UInt8, CaseIterable, Sendable {
    case fingerprint = 1
    case password = 2
    /// A touch or the password.
    case either = 3
    /// A touch and the password, in any order.
    case both = 4
}

/// The text `operation ID`, for receipts and the journal.
private func operationText(_ operation: OperationID) -> Bytes {
    Bytes("operation ".utf8) + Hexadecimal.encode(operation.bytes)
}

/// The content of an operation.
package struct OperationContent: FrameContent {
    /// Its id.
    package var operation: OperationID
    /// The name of its template.
    package var template: Bytes
    /// The exact text that is signed.
    package var data: Bytes
    /// When it was created, in seconds since 1970.
    package var created: UInt64  // .since
    /// When it expires, in seconds since 1970.
    package var expires: UInt64
}

/// The number of wrong signatures of an operation, which fails after too many.
package struct OperationFailures: FrameContent {
    /// The number of wrong signatures so far.
    package var count: UInt32  // .failures
    /// The number at which the operation fails.
    package var most: UInt32  // .maximumFailures
}

/// One operation, as shown to the user.
package struct OperationAnswer: FrameContent {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The URL of its server.
    package var server: ServerURL
    /// The application that created it.
    package var application: ApplicationName
    /// The operation's content.
    package var content: OperationContent
    /// The operation's state.
    package var state: OperationState  // .operationState
    /// The wrong signatures so far; nil in a list.
    package var failures: OperationFailures? = nil
    /// The factors that approve it; nil in a list, or if the server does not say.
    package var factors: OperationFactors? = nil
    /// The factor that is still missing, where both are required and the other was given.
    package var missing: ConfirmingFactor? = nil
}

/// The reason why one of several servers gave no answer.
package struct ServerTroubleAnswer: FrameContent {
    /// The URL of the server.
    package var server: ServerURL
    /// The reason, as in a denial.
    package var reason: DenialReason
    /// The `subject` of a denial for this reason.
    package var subject: Bytes
}

extension Request {
    package static func operationList(_ request: OperationListRequest) -> Request {
        Request(request)
    }

    package static func operationShow(_ request: OperationShowRequest) -> Request {
        Request(request)
    }

    package static func operationDecide(_ request: OperationDecideRequest) -> Request {
        Request(request)
    }
}

extension Field {
    package static var template: Field { Field(118, size: 0...Limit.template) }
    package static var data: Field { Field(119, size: 0...Limit.operationData) }
    package static var decision: Field { Field(120, size: 1) }
    package static var failures: Field { Field(123, size: 4) }
    package static var maximumFailures: Field { Field(124, size: 4) }
}
