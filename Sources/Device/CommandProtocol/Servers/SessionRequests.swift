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
package struct SessionContent: FrameContent {
    /// The session's id.
    package var session: SessionID
    /// The id of the device that began it.
    package var device: DeviceID
    /// What that device calls itself; nil if it has no name.
    package var deviceName: DeviceName? = nil
    /// Whether this device's registration began it.
    package var isOwn: Bool = false
    /// How the login was confirmed.
    package var factor: SessionFactor  // .sessionFactor
    /// When it began, in seconds since 1970.
    package var created: UInt64  // .since
    /// When its tokens were last refreshed, in seconds since 1970; nil if never.
    package var refreshed: UInt64? = nil
    /// When it ends by itself, in seconds since 1970.
    package var expires: UInt64
    /// The address that it was begun from; empty if it is not known.
    package var address: Bytes = []
    /// The program that began it, as that calls itself; empty if it is not known.
    package var agent: Bytes = []  // .userAgent
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
    package var server: ServerURL? = nil
    /// What confirms the request for a reading token, if one is missing.
    package var factor: ConfirmingFactor = .finger
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
    package var factor: ConfirmingFactor = .finger

    package var context: RequestContext {
        let what =
            session.map { Bytes("end session ".utf8) + $0.hexadecimal }
            ?? Bytes("end all sessions".utf8)
        return RequestContext(purpose: what)
    }
    package var interruption: ServerInterruption { .shown(by: "sessions") }
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
