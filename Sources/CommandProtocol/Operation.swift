// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What a person says to an operation; the raw value is on the wire.
package enum OperationChoice: UInt8, CaseIterable, Sendable {
    case approve = 1
    case reject = 2
}

/// How an operation stands at its server; the raw value is on the wire.
package enum OperationState: UInt8, CaseIterable, Sendable {
    /// It awaits a decision.
    case pending = 1
    case approved = 2
    case rejected = 3
    /// The application took it back.
    case canceled = 4
    /// Nobody decided in time.
    case expired = 5
    /// Too many wrong signatures.
    case failed = 6
}

/// Asks for what awaits an account's approval.
package struct OperationListRequest: Equatable, Sendable {
    /// Whose.
    package var account: Bytes
    /// How long to wait for a touch where one is wanted; nil asks for none.
    package var timeoutMilliseconds: UInt32?
    /// The only server to ask; nil for all.
    package var server: Bytes?

    /// All of it.
    package init(account: Bytes, timeoutMilliseconds: UInt32?, server: Bytes? = nil) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, numberIfPresent: timeoutMilliseconds)
        try frame.put(.server, ifPresent: server)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.numberIfPresent(.timeoutMilliseconds)
        server = try frame.bytesIfPresent(.server)
    }
}

/// Asks for one operation.
package struct OperationShowRequest: Equatable, Sendable {
    /// Whose.
    package var account: Bytes
    /// How long to wait for a touch where one is wanted; nil asks for none.
    package var timeoutMilliseconds: UInt32?
    /// The server that has it.
    package var server: Bytes
    /// The operation's id, 16 bytes.
    package var operation: Bytes

    /// All of it.
    package init(
        account: Bytes, timeoutMilliseconds: UInt32?, server: Bytes, operation: Bytes
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.operation = operation
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, numberIfPresent: timeoutMilliseconds)
        try frame.put(.server, server)
        try frame.put(.operation, operation)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.numberIfPresent(.timeoutMilliseconds)
        server = try frame.bytes(.server)
        operation = try frame.bytes(.operation)
    }
}

/// Decides one operation, after a touch.
package struct OperationDecideRequest: Equatable, Sendable {
    /// Whose finger.
    package var account: Bytes
    /// How long to wait for the touch.
    package var timeoutMilliseconds: UInt32
    /// The server that has it.
    package var server: Bytes
    /// The operation's id, 16 bytes.
    package var operation: Bytes
    /// Yes or no.
    package var decision: OperationChoice

    /// All of it.
    package init(
        account: Bytes, timeoutMilliseconds: UInt32, server: Bytes, operation: Bytes,
        decision: OperationChoice
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.operation = operation
        self.decision = decision
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.server, server)
        try frame.put(.operation, operation)
        try frame.put(.decision, number: decision.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        server = try frame.bytes(.server)
        operation = try frame.bytes(.operation)
        decision = try frame.choice(.decision)
    }
}

/// An operation that a server asks a person about.
package struct OperationContent: Equatable, Sendable {
    /// Its id, 16 bytes.
    package var operation: Bytes
    /// The name of its template.
    package var template: Bytes
    /// The exact text that is signed.
    package var data: Bytes
    /// When it was made, in seconds since 1970.
    package var created: UInt64
    /// Until when it awaits a decision, in seconds since 1970.
    package var expires: UInt64

    /// All of it.
    package init(
        operation: Bytes, template: Bytes, data: Bytes, created: UInt64, expires: UInt64
    ) {
        self.operation = operation
        self.template = template
        self.data = data
        self.created = created
        self.expires = expires
    }

    /// All but `created`, which others of a frame's fields may follow at once.
    func putRest(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.expires, number: expires)
        try frame.put(.operation, operation)
        try frame.put(.template, template)
        try frame.put(.data, data)
    }

    init(created: UInt64, restFrom frame: inout FrameReader) throws(WireFault) {
        self.created = created
        expires = try frame.number(.expires)
        operation = try frame.bytes(.operation)
        template = try frame.bytes(.template)
        data = try frame.bytes(.data)
    }
}

/// How often an operation was signed wrongly.
package struct OperationFailures: Equatable, Sendable {
    /// So often so far.
    package var count: UInt32
    /// So often it may be; then it is over.
    package var most: UInt32

    /// Both.
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

/// One operation, for the person.
package struct OperationAnswer: Equatable, Sendable {
    /// The account's name at the server.
    package var account: Bytes
    /// The server that has it.
    package var server: Bytes
    /// The application that asks.
    package var application: Bytes
    /// What it is about.
    package var content: OperationContent
    /// How it stands.
    package var state: OperationState
    /// Wrong signatures; nil in a list.
    package var failures: OperationFailures?

    /// All of it.
    package init(
        account: Bytes, server: Bytes, application: Bytes, content: OperationContent,
        state: OperationState, failures: OperationFailures? = nil
    ) {
        self.account = account
        self.server = server
        self.application = application
        self.content = content
        self.state = state
        self.failures = failures
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.account, account)
        try frame.put(.since, number: content.created)
        try frame.put(.server, server)
        try frame.put(.application, application)
        try content.putRest(into: &frame)
        try frame.put(.operationState, number: state.rawValue)
        try failures?.put(into: &frame)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.bytes(.account)
        let created: UInt64 = try frame.number(.since)
        server = try frame.bytes(.server)
        application = try frame.bytes(.application)
        content = try OperationContent(created: created, restFrom: &frame)
        state = try frame.choice(.operationState)
        guard let count: UInt32 = try frame.numberIfPresent(.failures) else { return }
        failures = OperationFailures(count: count, most: try frame.number(.maximumFailures))
    }
}

/// Why one server of several has told nothing.
package struct ServerTroubleAnswer: Equatable, Sendable {
    /// Which.
    package var server: Bytes
    /// Why.
    package var reason: DenialReason
    /// What a denial for this reason says besides.
    package var subject: Bytes

    /// All of it.
    package init(server: Bytes, reason: DenialReason, subject: Bytes) {
        self.server = server
        self.reason = reason
        self.subject = subject
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.reason, number: reason.rawValue)
        try frame.put(.subject, subject)
        try frame.put(.server, server)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        reason = try frame.choice(.reason)
        subject = try frame.bytes(.subject)
        server = try frame.bytes(.server)
    }
}
