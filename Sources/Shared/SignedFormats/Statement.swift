// SPDX-License-Identifier: Apache-2.0
import Domain

/// The statement that a touch signs for this machine, in canonical UTF-8 text that people can read.
///
/// Each line is `name: value`, in the order of the members below; docs/developer/PROTOCOL.md
/// describes each. The credential signs it, in an SSHSIG signature with the namespace
/// `login@signet` for logins. A text that deviates in any byte is rejected with a `LineFault`.
package struct Statement: Equatable, Sendable {
    /// The version of new statements.
    package static let currentVersion: UInt64 = 2
    /// The maximum length of an accepted text in bytes.
    package static let maximumLength = 8_192

    /// The version of the format, 1 or 2; version 1 has neither `requester` nor `command`.
    package var version = Statement.currentVersion
    /// The relying party; `local` is the PAM module of this machine.
    package var audience: Audience
    /// The account's name.
    package var account: AccountName
    /// The account's uid.
    package var uid: UInt32
    /// The login name of the user who requested the touch, 1 to 255 bytes; empty in version 1.
    package var requester: AccountName
    /// This machine's id.
    package var device: DeviceID
    /// The credential's id.
    package var credential: CredentialID
    /// The relying party's challenge, 32 bytes; for a released secret, the daemon's own.
    package var challenge: Challenge
    /// The PAM service.
    package var service: ServiceName
    /// The terminal; empty if there was none.
    package var terminal: [UInt8]
    /// The command or action that was authorised; empty if unknown.
    package var purpose: [UInt8]
    /// The SHA-256 of the complete command line that was authorised, 32 bytes; empty if there was
    /// none.
    package var command: [UInt8]
    /// The server that must approve the login as well; nil for a login on this machine alone.
    package var server: ServerLines?
    /// How the user was authenticated; a word of `Factor`.
    package var factor: [UInt8]
    /// The generation of the account's enrolment.
    package var enrolment: UInt64
    /// The signature counter, which strictly increases from one signature of this account to the
    /// next.
    package var counter: UInt64
    /// The SHA-256 of the previous entry of the receipt log, 32 bytes; zeros in the first receipt.
    package var previous: [UInt8]
    /// When it was signed.
    package var issued: Instant

    /// Creates a statement of the current version.
    ///
    /// The caller must respect the sizes given above, which only `init(parsing:)` checks.
    package init(
        audience: Audience, account: AccountName, uid: UInt32, requester: AccountName,
        device: DeviceID,
        credential: CredentialID, challenge: Challenge, service: ServiceName, terminal: [UInt8],
        purpose: [UInt8], command: [UInt8] = [], server: ServerLines? = nil, factor: [UInt8],
        enrolment: UInt64, counter: UInt64, previous: [UInt8], issued: Instant
    ) {
        self.audience = audience
        self.account = account
        self.uid = uid
        self.requester = requester
        self.device = device
        self.credential = credential
        self.challenge = challenge
        self.service = service
        self.terminal = terminal
        self.purpose = purpose
        self.command = command
        self.server = server
        self.factor = factor
        self.enrolment = enrolment
        self.counter = counter
        self.previous = previous
        self.issued = issued
    }

    /// The canonical text.
    package func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-statement", number: version)
        lines.put("audience", name: audience)
        lines.put("account", name: account)
        lines.put("uid", number: UInt64(uid))
        if version > 1 { lines.put("requester", name: requester) }
        lines.put("device", id: device)
        lines.put("credential", id: credential)
        lines.put("challenge", challenge: challenge)
        lines.put("service", name: service)
        lines.put("terminal", terminal)
        lines.put("purpose", purpose)
        if version > 1 { lines.put("command", Base64.encode(command, alphabet: .url)) }
        server?.write(to: &lines)
        lines.put("factor", factor)
        lines.put("enrolment", number: enrolment)
        lines.put("counter", number: counter)
        lines.put("previous", Base64.encode(previous, alphabet: .url))
        lines.put("issued", instant: issued)
        return lines.text
    }

    /// Parses a text of version 1 or 2; accepts exactly what `encoded()` writes.
    ///
    /// Throws a `LineFault` for anything else. The signature must be verified separately.
    package init(parsing text: [UInt8]) throws(LineFault) {
        guard text.count <= Statement.maximumLength else { throw .tooLong }
        var lines = LineReader(text)
        self.init()
        try read(from: &lines)
        try lines.end()
    }

    /// An empty statement to read into.
    private init() {
        self.init(
            audience: .none, account: .none, uid: 0, requester: .none, device: .zero,
            credential: .zero, challenge: .zero, service: .none,
            terminal: [], purpose: [], factor: [], enrolment: 0,
            counter: 0, previous: [], issued: Instant(seconds: 0))
    }

    /// Reads all lines in their order.
    ///
    /// It fills in a value instead of being an initialiser, because in an initialiser each line
    /// that can fail would need its own code to release the fields before it.
    private mutating func read(from lines: inout LineReader) throws(LineFault) {
        version = try lines.number("signet-statement")
        guard (1...Statement.currentVersion).contains(version) else { throw .malformed }
        audience = try lines.name("audience", cap: 256)
        account = try lines.name("account", cap: 256)
        uid = try lines.uid()
        if version > 1 {
            requester = AccountName(
                try lines.value(
                    "requester", cap: AccountName.longest, allowed: Statement.isNameByte))
        }
        device = try lines.identifier("device")
        credential = try lines.identifier("credential")
        challenge = try lines.challenge("challenge")
        service = try lines.name("service", cap: 64)
        terminal = try lines.value("terminal", cap: 256)
        purpose = try lines.value("purpose", cap: 1_024)
        if version > 1 { command = try lines.digestOrNothing("command") }
        if lines.isNext("server") { server = try ServerLines(reading: &lines) }
        factor = try lines.value("factor", cap: 32)
        enrolment = try lines.number("enrolment")
        counter = try lines.number("counter")
        previous = try lines.base64("previous", count: 32)
        issued = try lines.instant("issued")
    }

    /// Whether a user's name may contain a byte: control characters, `/` and `:` are rejected.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
    }
}

extension LineReader {
    /// Reads the hexadecimal value of the next line; throws `.malformed` unless it has `count`
    /// bytes.
    package mutating func hexadecimal(
        _ name: StaticString, count: Int
    ) throws(LineFault) -> [UInt8] {
        guard let bytes = Hexadecimal.decode(try value(name, cap: count * 2)),
            bytes.count == count
        else { throw .malformed }
        return bytes
    }

    /// The id in the next line, in hexadecimal; throws `.malformed` for any other length.
    package mutating func identifier<ID: FixedBytes>(
        _ name: StaticString
    ) throws(LineFault) -> ID {
        guard let id = ID(try hexadecimal(name, count: ID.count)) else { throw .malformed }
        return id
    }

    /// The challenge in the next line, in base64url; throws `.malformed` for any other length.
    package mutating func challenge(_ name: StaticString) throws(LineFault) -> Challenge {
        guard let challenge = Challenge(try base64(name, count: Challenge.count)) else {
            throw .malformed
        }
        return challenge
    }

    /// Reads the base64url value of the next line; throws `.malformed` unless it has `count` bytes.
    package mutating func base64(_ name: StaticString, count: Int) throws(LineFault) -> [UInt8] {
        guard let bytes = Base64.decode(try value(name, cap: count * 2), alphabet: .url),
            bytes.count == count
        else { throw .malformed }
        return bytes
    }

    /// Reads the SHA-256 digest in the next line: 32 bytes, or none if the value is empty.
    fileprivate mutating func digestOrNothing(
        _ name: StaticString
    ) throws(LineFault) -> [UInt8] {
        guard let digest = Base64.decode(try value(name, cap: 64), alphabet: .url),
            digest.isEmpty || digest.count == 32
        else { throw .malformed }
        return digest
    }

    /// Reads the line `uid`; throws `.malformed` for a number of more than 32 bits.
    package mutating func uid() throws(LineFault) -> UInt32 {
        guard let uid = UInt32(exactly: try number("uid")) else { throw .malformed }
        return uid
    }
}
