// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// A signed decision on an operation, for its server.
package struct RelayDecision: Equatable, Sendable {
    /// The server's URL.
    package var server: ServerURL
    /// The operation's id.
    package var operation: OperationID
    /// The statement's canonical text.
    package var statement: Bytes
    /// The signature of the text, as an SSHSIG blob.
    package var signature: Bytes

    /// Creates a decision.
    package init(server: ServerURL, operation: OperationID, statement: Bytes, signature: Bytes) {
        self.server = server
        self.operation = operation
        self.statement = statement
        self.signature = signature
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.signature, signature)
        try frame.put(.server, name: server)
        try frame.put(.operation, operation)
        try frame.put(.operationStatement, statement)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        signature = try frame.bytes(.signature)
        server = try frame.name(.server)
        operation = try frame.fixed(.operation)
        statement = try frame.bytes(.operationStatement)
    }
}

/// An operation in a server's list.
package struct RelayAwaited: Equatable, Sendable {
    /// The operation's content.
    package var content: OperationContent

    /// Creates an entry.
    package init(_ content: OperationContent) { self.content = content }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.since, number: content.created)
        try content.putRest(into: &frame)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        let created: UInt64 = try frame.number(.since)
        content = try OperationContent(created: created, restFrom: &frame)
    }
}

/// An operation, with everything that the statement of a decision must name.
package struct RelayOperation: Equatable, Sendable {
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The challenge that the decision must answer.
    package var challenge: Challenge
    /// The application that created it.
    package var application: ApplicationName
    /// The audience that statements must name.
    package var audience: Audience
    /// The operation's content.
    package var content: OperationContent
    /// The operation's state at the server.
    package var state: OperationState
    /// The number of wrong signatures so far.
    package var failures: OperationFailures
    /// The factors that approve it; nil if the server does not say.
    package var factors: OperationFactors?
    /// The factor that is still missing, where both are required and the other was given.
    package var missing: ConfirmingFactor?

    /// Creates an operation.
    package init(
        account: ServerAccountName, challenge: Challenge, application: ApplicationName,
        audience: Audience, content: OperationContent, state: OperationState,
        failures: OperationFailures, factors: OperationFactors? = nil,
        missing: ConfirmingFactor? = nil
    ) {
        self.factors = factors
        self.missing = missing
        self.account = account
        self.challenge = challenge
        self.application = application
        self.audience = audience
        self.content = content
        self.state = state
        self.failures = failures
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.account, name: account)
        try frame.put(.challenge, challenge)
        try frame.put(.since, number: content.created)
        try frame.put(.application, name: application)
        try frame.put(.audience, name: audience)
        try content.putRest(into: &frame)
        try frame.put(.operationState, number: state.rawValue)
        try failures.put(into: &frame)
        try frame.put(.factors, numberIfPresent: factors?.rawValue)
        try frame.put(.missing, numberIfPresent: missing?.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.name(.account)
        challenge = try frame.fixed(.challenge)
        let created: UInt64 = try frame.number(.since)
        application = try frame.name(.application)
        audience = try frame.name(.audience)
        content = try OperationContent(created: created, restFrom: &frame)
        state = try frame.choice(.operationState)
        failures = try OperationFailures(from: &frame)
        factors = try frame.choiceIfPresent(.factors)
        missing = try frame.choiceIfPresent(.missing)
    }
}
