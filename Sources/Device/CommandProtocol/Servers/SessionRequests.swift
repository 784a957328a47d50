// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// How the login that began a session was confirmed; the raw value is on the wire.
package enum SessionFactor: UInt8, CaseIterable, Sendable {
    /// A touch.
    case fingerprint = 1
    /// The account's password.
    case password = 2
    /// A touch and the password.
    case both = 3
}

/// A session of tokens that a login at a server began, as the server describes it.
package struct SessionContent: Equatable, Sendable {
    /// The session's id.
    package var session: SessionID
    /// The id of the device that began it.
    package var device: DeviceID
    /// What that device calls itself; nil if it has no name.
    package var deviceName: DeviceName?
    /// Whether this device's registration began it.
    package var isOwn: Bool
    /// How the login was confirmed.
    package var factor: SessionFactor
    /// When it began, in seconds since 1970.
    package var created: UInt64
    /// When its tokens were last refreshed, in seconds since 1970; nil if never.
    package var refreshed: UInt64?
    /// When it ends by itself, in seconds since 1970.
    package var expires: UInt64
    /// The address that it was begun from; empty if it is not known.
    package var address: Bytes
    /// The program that began it, as that calls itself; empty if it is not known.
    package var agent: Bytes

    /// Creates a session.
    package init(
        session: SessionID, device: DeviceID, deviceName: DeviceName? = nil, isOwn: Bool = false,
        factor: SessionFactor, created: UInt64, refreshed: UInt64? = nil, expires: UInt64,
        address: Bytes = [], agent: Bytes = []
    ) {
        self.session = session
        self.device = device
        self.deviceName = deviceName
        self.isOwn = isOwn
        self.factor = factor
        self.created = created
        self.refreshed = refreshed
        self.expires = expires
        self.address = address
        self.agent = agent
    }

    /// Appends the fields, with a server's URL among them if there is one.
    func put(into frame: inout FrameWriter, at server: ServerURL? = nil) throws(WireFault) {
        try frame.put(.since, number: created)
        try frame.put(.device, device)
        try frame.put(.server, nameIfPresent: server)
        try frame.put(.expires, number: expires)
        try frame.put(deviceName: deviceName)
        try frame.put(.session, session)
        try frame.put(.address, address)
        try frame.put(.userAgent, agent)
        try frame.put(.refreshed, numberIfPresent: refreshed)
        try frame.put(.isOwn, ifSet: isOwn)
        try frame.put(.sessionFactor, number: factor.rawValue)
    }

    /// Reads the fields; `readServer` reads a server's URL at its place among them.
    init(
        from frame: inout FrameReader,
        _ readServer: (inout FrameReader) throws(WireFault) -> Void = { _ in }
    ) throws(WireFault) {
        created = try frame.number(.since)
        device = try frame.fixed(.device)
        try readServer(&frame)
        expires = try frame.number(.expires)
        deviceName = try frame.deviceName()
        session = try frame.fixed(.session)
        address = try frame.bytes(.address)
        agent = try frame.bytes(.userAgent)
        refreshed = try frame.numberIfPresent(.refreshed)
        isOwn = try frame.isSet(.isOwn)
        factor = try frame.choice(.sessionFactor)
    }
}

/// Lists the sessions that logins of the account have begun at servers.
///
/// It is answered by `session` for each and `sessionCount` for each server, `serverTrouble` for
/// each server that gave no answer, then `done`.
package struct SessionListRequest: AccountRequest {
    package static let verb = Verb(52, name: "sessionList")
    // Not even root may: it shows from where and when a person has logged in.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let logging = DecisionLogging.denials
    package static let command = "signet sessions"

    /// The account.
    package var account: AccountName
    /// How long to wait for a touch if one is required, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The only server to ask; nil for all.
    package var server: ServerURL?
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32, server: ServerURL? = nil,
        factor: ConfirmingFactor = .finger
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.factor = factor
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.server, nameIfPresent: server)
        try frame.put(factor: factor)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        server = try frame.nameIfPresent(.server)
        factor = try frame.factor()
    }
}

/// Ends one session at a server, or all that the account has there: answered by
/// `sessionCount`, then `done`.
package struct SessionEndRequest: AccountRequest {
    package static let verb = Verb(53, name: "sessionEnd")
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet sessions"

    /// The account.
    package var account: AccountName
    /// How long to wait for a touch if one is required, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The URL of the server.
    package var server: ServerURL
    /// The session's id; nil for all sessions.
    package var session: SessionID?
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor

    package var context: RequestContext {
        let what =
            session.map { Bytes("end session ".utf8) + $0.hexadecimal }
            ?? Bytes("end all sessions".utf8)
        return RequestContext(purpose: what)
    }
    package var interruption: ServerInterruption { .shown(by: "sessions") }

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32, server: ServerURL, session: SessionID?,
        factor: ConfirmingFactor = .finger
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.session = session
        self.factor = factor
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.server, name: server)
        try frame.put(factor: factor)
        try frame.put(.session, ifPresent: session?.bytes)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        server = try frame.name(.server)
        factor = try frame.factor()
        if let bytes = try frame.bytesIfPresent(.session) {
            guard let session = SessionID(bytes) else { throw .malformedValue }
            self.session = session
        }
    }
}

/// One session at a server.
package struct SessionAnswer: DaemonAnswer {
    package static let kind = AnswerKind(161, name: "session")
    // Each is shown, also if the user interrupts what follows.
    package static let meaning = AnswerMeaning.change

    /// The URL of its server.
    package var server: ServerURL
    /// The session.
    package var content: SessionContent

    /// Creates an answer.
    package init(server: ServerURL, content: SessionContent) {
        self.server = server
        self.content = content
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try content.put(into: &frame, at: server)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        var server = ServerURL.none
        content = try SessionContent(from: &frame) { (frame) throws(WireFault) in
            server = try frame.name(.server)
        }
        self.server = server
    }
}

/// How many sessions an account has at a server, or how many were ended there.
package struct SessionCountAnswer: DaemonAnswer {
    package static let kind = AnswerKind(162, name: "sessionCount")
    package static let meaning = AnswerMeaning.change

    /// The URL of the server.
    package var server: ServerURL
    /// After a list: how many sessions there are, with those that are not listed. After
    /// `sessionEnd`: how many it has ended.
    package var count: UInt32

    /// Creates an answer.
    package init(server: ServerURL, count: UInt32) {
        self.server = server
        self.count = count
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.count, number: count)
        try frame.put(.server, name: server)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        count = try frame.number(.count)
        server = try frame.name(.server)
    }
}

extension Request {
    package static func sessionList(_ request: SessionListRequest) -> Request { Request(request) }

    package static func sessionEnd(_ request: SessionEndRequest) -> Request { Request(request) }
}

extension Field {
    package static var session: Field { Field(151, size: 16) }
    package static var address: Field { Field(152, size: 0...Limit.text) }
    package static var userAgent: Field { Field(153, size: 0...Limit.text) }
    package static var refreshed: Field { Field(154, size: 8) }
    package static var isOwn: Field { Field(155, size: 1) }
    package static var sessionFactor: Field { Field(156, size: 1) }
    package static var sessionTotal: Field { Field(157, size: 4) }
}
