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
    package var server: ServerURL?
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32?, server: ServerURL? = nil,
        factor: ConfirmingFactor = .finger
    ) {
        self.factor = factor
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, numberIfPresent: timeoutMilliseconds)
        try frame.put(.server, nameIfPresent: server)
        try frame.put(factor: factor)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.numberIfPresent(.timeoutMilliseconds)
        server = try frame.nameIfPresent(.server)
        factor = try frame.factor()
    }
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
    package var factor: ConfirmingFactor

    package var context: RequestContext {
        RequestContext(purpose: operationText(operation))
    }

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32?, server: ServerURL,
        operation: OperationID, factor: ConfirmingFactor = .finger
    ) {
        self.factor = factor
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.operation = operation
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, numberIfPresent: timeoutMilliseconds)
        try frame.put(.server, name: server)
        try frame.put(.operation, operation)
        try frame.put(factor: factor)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.numberIfPresent(.timeoutMilliseconds)
        server = try frame.name(.server)
        operation = try frame.fixed(.operation)
        factor = try frame.factor()
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
    package var factor: ConfirmingFactor

    package var context: RequestContext {
        RequestContext(
            purpose: Bytes("\(decision.protocolName) ".utf8) + operationText(operation))
    }

    package var interruption: ServerInterruption {
        let id = String(decoding: Hexadecimal.encode(operation.bytes), as: UTF8.self)
        return .shown(by: "operations show \(id)")
    }

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32, server: ServerURL,
        operation: OperationID, decision: OperationChoice, factor: ConfirmingFactor = .finger
    ) {
        self.factor = factor
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.operation = operation
        self.decision = decision
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.server, name: server)
        try frame.put(.operation, operation)
        try frame.put(.decision, number: decision.rawValue)
        try frame.put(factor: factor)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        server = try frame.name(.server)
        operation = try frame.fixed(.operation)
        decision = try frame.choice(.decision)
        factor = try frame.factor()
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
package struct OperationContent: Equatable, Sendable {
    /// Its id.
    package var operation: OperationID
    /// The name of its template.
    package var template: Bytes
    /// The exact text that is signed.
    package var data: Bytes
    /// When it was created, in seconds since 1970.
    package var created: UInt64
    /// When it expires, in seconds since 1970.
    package var expires: UInt64

    /// Creates the content; sizes are checked when it is encoded.
    package init(
        operation: OperationID, template: Bytes, data: Bytes, created: UInt64, expires: UInt64
    ) {
        self.operation = operation
        self.template = template
        self.data = data
        self.created = created
        self.expires = expires
    }

    /// Appends all fields except `created`, whose tag precedes other fields of the frame.
    func putRest(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.expires, number: expires)
        try frame.put(.operation, operation)
        try frame.put(.template, template)
        try frame.put(.data, data)
    }

    init(created: UInt64, restFrom frame: inout FrameReader) throws(WireFault) {
        self.created = created
        expires = try frame.number(.expires)
        operation = try frame.fixed(.operation)
        template = try frame.bytes(.template)
        data = try frame.bytes(.data)
    }
}

/// The number of wrong signatures of an operation, which fails after too many.
package struct OperationFailures: Equatable, Sendable {
    /// The number of wrong signatures so far.
    package var count: UInt32
    /// The number at which the operation fails.
    package var most: UInt32

    /// Creates the numbers.
    package init(count: UInt32, most: UInt32) {
        self.count = count
        self.most = most
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.failures, number: count)
        try frame.put(.maximumFailures, number: most)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        count = try frame.number(.failures)
        most = try frame.number(.maximumFailures)
    }
}

/// One operation, as shown to the user.
package struct OperationAnswer: Equatable, Sendable {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The URL of its server.
    package var server: ServerURL
    /// The application that created it.
    package var application: ApplicationName
    /// The operation's content.
    package var content: OperationContent
    /// The operation's state.
    package var state: OperationState
    /// The wrong signatures so far; nil in a list.
    package var failures: OperationFailures?
    /// The factors that approve it; nil in a list, or if the server does not say.
    package var factors: OperationFactors?
    /// The factor that is still missing, where both are required and the other was given.
    package var missing: ConfirmingFactor?

    /// Creates an answer.
    package init(
        account: ServerAccountName, server: ServerURL, application: ApplicationName,
        content: OperationContent, state: OperationState, failures: OperationFailures? = nil,
        factors: OperationFactors? = nil, missing: ConfirmingFactor? = nil
    ) {
        self.factors = factors
        self.missing = missing
        self.account = account
        self.server = server
        self.application = application
        self.content = content
        self.state = state
        self.failures = failures
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.account, name: account)
        try frame.put(.since, number: content.created)
        try frame.put(.server, name: server)
        try frame.put(.application, name: application)
        try content.putRest(into: &frame)
        try frame.put(.operationState, number: state.rawValue)
        try failures?.put(into: &frame)
        try frame.put(.factors, numberIfPresent: factors?.rawValue)
        try frame.put(.missing, numberIfPresent: missing?.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.name(.account)
        let created: UInt64 = try frame.number(.since)
        server = try frame.name(.server)
        application = try frame.name(.application)
        content = try OperationContent(created: created, restFrom: &frame)
        state = try frame.choice(.operationState)
        if let count: UInt32 = try frame.numberIfPresent(.failures) {
            failures = OperationFailures(count: count, most: try frame.number(.maximumFailures))
        }
        factors = try frame.choiceIfPresent(.factors)
        missing = try frame.choiceIfPresent(.missing)
    }
}

/// The reason why one of several servers gave no answer.
package struct ServerTroubleAnswer: Equatable, Sendable {
    /// The URL of the server.
    package var server: ServerURL
    /// The reason, as in a denial.
    package var reason: DenialReason
    /// The `subject` of a denial for this reason.
    package var subject: Bytes

    /// Creates an answer.
    package init(server: ServerURL, reason: DenialReason, subject: Bytes) {
        self.server = server
        self.reason = reason
        self.subject = subject
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.reason, number: reason.rawValue)
        try frame.put(.subject, subject)
        try frame.put(.server, name: server)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        reason = try frame.choice(.reason)
        subject = try frame.bytes(.subject)
        server = try frame.name(.server)
    }
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
