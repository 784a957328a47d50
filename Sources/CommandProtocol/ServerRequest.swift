// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Registers this device for an account at a server.
package struct ServerEnableRequest: Equatable, Sendable {
    /// Whose finger.
    package var account: Bytes
    /// The server's URL, in its one form.
    package var server: Bytes
    /// The activation code.
    package var code: Bytes

    /// All of it.
    package init(account: Bytes, server: Bytes, code: Bytes) {
        self.account = account
        self.server = server
        self.code = code
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.server, server)
        try frame.put(.code, code)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        server = try frame.bytes(.server)
        code = try frame.bytes(.code)
    }
}

/// A device that was registered at a server.
package struct ServerEnabledAnswer: Equatable, Sendable {
    /// The account's name at the server.
    package var account: Bytes
    /// The application.
    package var application: Bytes
    /// The key's fingerprint as this device has it.
    package var fingerprint: Bytes
    /// Whether somebody has yet to compare it.
    package var progress: RegistrationProgress

    /// All of it.
    package init(
        account: Bytes, application: Bytes, fingerprint: Bytes, progress: RegistrationProgress
    ) {
        self.account = account
        self.application = application
        self.fingerprint = fingerprint
        self.progress = progress
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.account, account)
        try frame.put(.application, application)
        try frame.put(.fingerprint, fingerprint)
        try frame.put(.registrationState, number: progress.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.bytes(.account)
        application = try frame.bytes(.application)
        fingerprint = try frame.bytes(.fingerprint)
        progress = try frame.choice(.registrationState)
    }
}

/// What a login to a server gave.
package struct TokenAnswer: Equatable, Sendable {
    /// What the caller shows to others.
    package var accessToken: Bytes
    /// For how many seconds it is good.
    package var seconds: UInt32
    /// What gives the next one; empty for none.
    package var refreshToken: Bytes

    /// All of it.
    package init(accessToken: Bytes, seconds: UInt32, refreshToken: Bytes) {
        self.accessToken = accessToken
        self.seconds = seconds
        self.refreshToken = refreshToken
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        guard accessToken.isVisible, refreshToken.isVisible else { throw .malformedValue }
        try frame.put(.seconds, number: seconds)
        try frame.put(.accessToken, accessToken)
        try frame.put(.refreshToken, refreshToken)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        seconds = try frame.number(.seconds)
        accessToken = try frame.bytes(.accessToken)
        refreshToken = try frame.bytes(.refreshToken)
        guard accessToken.isVisible, refreshToken.isVisible else { throw .malformedValue }
    }
}

extension Bytes {
    /// Whether a token can have these bytes: visible characters of ASCII, so that a terminal it is
    /// shown on, and a header that it is put into, take it for nothing else; RFC 6750, section 2.1.
    var isVisible: Bool { allSatisfy { (0x21...0x7E).contains($0) } }
}

/// What a server's refusal means, where more can be told than its code; docs/developer/SERVER.md has all.
package enum ServerProblem: String, CaseIterable, Sendable {
    /// The state at the server does not allow it yet.
    case conflict = "conflict"
    /// The factor, or the machine's integrity, is not accepted.
    case policy = "policy"
    /// Too many tries.
    case slowDown = "slow-down"
    /// The server's database does not answer.
    case unavailable = "unavailable"
    /// The clocks do not agree.
    case clock = "clock"
}

/// How an account's key for a server stands; the raw value is on the wire.
package enum ServerKeyState: UInt8, CaseIterable, Sendable {
    /// A touch opens it.
    case good = 1
    /// The fingers changed since it was made: it opens no more.
    case invalidated = 2
    /// It is off here, and the server has yet to be told.
    case removing = 3
}

/// One server that an account is registered at.
package struct ServerAnswer: Equatable, Sendable {
    /// The account's name at the server.
    package var account: Bytes
    /// Since when, in seconds since 1970.
    package var since: UInt64
    /// How the key stands.
    package var state: ServerKeyState
    /// The server's URL.
    package var server: Bytes
    /// The application.
    package var application: Bytes
    /// The key's fingerprint.
    package var fingerprint: Bytes

    /// All of it.
    package init(
        account: Bytes, since: UInt64, state: ServerKeyState, server: Bytes, application: Bytes,
        fingerprint: Bytes
    ) {
        self.account = account
        self.since = since
        self.state = state
        self.server = server
        self.application = application
        self.fingerprint = fingerprint
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.account, account)
        try frame.put(.since, number: since)
        try frame.put(.state, number: state.rawValue)
        try frame.put(.server, server)
        try frame.put(.application, application)
        try frame.put(.fingerprint, fingerprint)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.bytes(.account)
        since = try frame.number(.since)
        state = try frame.choice(.state)
        server = try frame.bytes(.server)
        application = try frame.bytes(.application)
        fingerprint = try frame.bytes(.fingerprint)
    }
}
