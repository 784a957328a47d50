// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats
import Vault

/// An account's key for one server, as it lies on disk: sealed to the fingers, for that server alone.
///
/// The account's signing key, for files and challenges, is one too: its relying party is `signing`,
/// which is no URL, and it has no place at any server.
package struct ServerKey: Equatable, Sendable {
    /// How far it is.
    package enum State: String, CaseIterable, Sendable {
        /// Whether it opens, only opening it tells.
        case good = "good"
        /// The server has yet to say that it knows it: where a crash leaves it so, it is given up.
        case proving = "proving"
        /// It was made for other fingers, and is destroyed.
        case invalidated = "invalidated"
        /// Off here; the server has yet to be told.
        case removing = "removing"
    }

    /// One way to open it: the private half, sealed by the vault to one set of fingers.
    struct Sealing: Equatable, Sendable {
        let enrolment: EnrolmentState
        let key: [UInt8]
    }

    /// What the signing key has in the place of a server's URL.
    package static let signing = Array("signing".utf8)

    /// The server's URL in its one form.
    package let server: [UInt8]
    /// The account's name there, its application, and what statements for it name.
    package let account: [UInt8]
    /// See `account`.
    package let application: [UInt8]
    /// See `account`.
    package let audience: [UInt8]
    /// The registration's id at the server, 16 bytes.
    package let registration: [UInt8]
    /// The credential's id, 16 bytes.
    package let identifier: [UInt8]
    /// When it was made.
    package let created: Instant
    /// The public half.
    package let publicKey: SSHPublicKey
    /// The vault that opens it.
    package let vault: VaultKind
    /// How far it is.
    package internal(set) var state: State
    /// The last counter that was signed, or is about to be.
    package internal(set) var counter: UInt64
    /// At most two: while a template is exchanged for a better one, whichever set of prints a crash
    /// leaves, one of them opens.
    var sealings: [Sealing]

    /// Whether it is the signing key.
    package var isSigning: Bool { server == Self.signing }

    /// The key as `signet servers` shows it, for these fingers, nil where the credential that logs in
    /// is revoked: what a request that uses it would make of it. Nil of one that would be forgotten.
    package func shown(fitting fingers: EnrolmentState?) -> ServerKey? {
        var shown = self
        guard let fingers else {
            if state == .removing { return nil }
            shown.state = .invalidated
            return shown
        }
        if state == .proving { shown.state = .removing }
        if state == .invalidated || sealed(for: fingers) != nil { return shown }
        if shown.state == .removing { return nil }
        shown.state = .invalidated
        return shown
    }

    /// The private half as it was sealed to these fingers; nil where it was not.
    package func sealed(for state: EnrolmentState) -> [UInt8]? {
        sealings.first { $0.enrolment == state }?.key
    }
}

extension ServerKey: LineRecord {
    static let cap = 8_192
    private static let sealingsLimit: UInt64 = 2

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-server-key", number: 1)
        lines.put("server", server)
        lines.put("account", account)
        lines.put("application", application)
        lines.put("audience", audience)
        lines.put("registration", Hexadecimal.encode(registration))
        lines.put("credential", Hexadecimal.encode(identifier))
        lines.put("created", created.text)
        lines.put("public", Base64.encode(publicKey.point, .url))
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put("state", Array(state.rawValue.utf8))
        lines.put("counter", number: counter)
        lines.put("sealings", number: UInt64(sealings.count))
        for sealing in sealings {
            lines.put(enrolment: sealing.enrolment)
            lines.put("key", Base64.encode(sealing.key, .url))
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-server-key")
        server = try lines.value("server", cap: 256)
        account = try lines.value("account", cap: 256)
        application = try lines.value("application", cap: 256)
        audience = try lines.value("audience", cap: 256)
        registration = try lines.hexadecimal("registration", count: 16)
        identifier = try lines.hexadecimal("credential", count: 16)
        created = try lines.instant("created")
        guard let key = SSHPublicKey(point: try lines.base64("public", count: 65)) else {
            throw .malformed
        }
        publicKey = key
        vault = try lines.vault("vault")
        let word = String(decoding: try lines.value("state", cap: 16), as: UTF8.self)
        guard let found = State(rawValue: word) else { throw .malformed }
        state = found
        counter = try lines.number("counter")
        let count = try lines.number("sealings")
        guard count <= Self.sealingsLimit else { throw .tooLong }
        var sealings: [Sealing] = []
        for _ in 0..<count {
            let enrolment = try lines.enrolment()
            let key = try lines.bytes("key", cap: VaultLimit.sealed)
            sealings.append(Sealing(enrolment: enrolment, key: key))
        }
        self.sealings = sealings
    }
}
