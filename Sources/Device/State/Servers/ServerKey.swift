// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Sealing
import SignedFormats

/// An account's key for one server, as stored: sealed to the fingers and to that server alone.
///
/// The account's signing key, for files and challenges, has the same form. Its relying party is
/// `signing`, which is not a URL, and it is registered at no server.
package struct ServerKey: Equatable, Sendable {
    /// The state of a key.
    package enum State: String, CaseIterable, Sendable {
        /// The key is registered.
        ///
        /// Whether it opens is known only after opening it.
        case good = "good"
        /// The server has not confirmed the key yet.
        ///
        /// A key that a crash leaves in this state is given up.
        case proving = "proving"
        /// The key was created for other fingers, and its private half has been deleted.
        case invalidated = "invalidated"
        /// The key is disabled on this machine, and the server has not been told yet.
        case removing = "removing"
    }

    /// One sealing of the private key, to one set of fingers.
    struct Sealing: Equatable, Sendable {
        let enrolment: EnrolmentState
        let key: [UInt8]
    }

    /// The key that signs where the password takes the finger's place, sealed to the account's
    /// password.
    ///
    /// It belongs to the same credential and shares its counter. It ends with the key: when the
    /// fingers change, both do.
    package struct PasswordKey: Equatable, Sendable {
        /// When it was made.
        package let created: Instant
        /// The public key.
        package let publicKey: SSHPublicKey
        /// The vault that opens it.
        package let vault: VaultKind
        /// The private key as sealed to the password; see `SealingContext.passwordKey`.
        package let sealed: [UInt8]

        /// Describes a key that a vault has just made; nil if its public key is not one of P-256.
        package init?(_ made: NewCredential, by vault: VaultKind, created: Instant) {
            guard let publicKey = SSHPublicKey(point: made.publicPoint) else { return nil }
            self.init(
                created: created, publicKey: publicKey, vault: vault, sealed: made.sealed)
        }

        fileprivate init(
            created: Instant, publicKey: SSHPublicKey, vault: VaultKind, sealed: [UInt8]
        ) {
            self.created = created
            self.publicKey = publicKey
            self.vault = vault
            self.sealed = sealed
        }
    }

    /// The signing key's value in place of a server's URL.
    package static let signing = ServerURL("signing")

    /// The server's URL in canonical form.
    package let server: ServerURL
    /// The account's name at the server.
    package let account: ServerAccountName
    /// The application that the key is registered for.
    package let application: ApplicationName
    /// The audience of statements for the server.
    package let audience: Audience
    /// The registration's id at the server.
    package let registration: RegistrationID
    /// What the device calls itself at the server; nil for no name.
    package let deviceName: DeviceName?
    /// The credential's id.
    package let identifier: CredentialID
    /// The time of creation.
    package let created: Instant
    /// The public key.
    package let publicKey: SSHPublicKey
    /// The vault that opens the key.
    package let vault: VaultKind
    /// The state of the key.
    package internal(set) var state: State
    /// The last counter that was reserved for a statement.
    package internal(set) var counter: UInt64
    /// The sealings of the private key, at most two; empty if the key is invalidated.
    ///
    /// With two sealings, one of them opens whichever of two sets of prints is in effect. This
    /// version writes one and reads both forms.
    var sealings: [Sealing]
    /// The key for the password; nil if the server accepts none, if none was made, or if the key is
    /// invalidated.
    package internal(set) var password: PasswordKey?

    /// Whether this is the signing key.
    package var isSigning: Bool { server == Self.signing }

    /// Returns the key as `signet servers` shows it: in the state that the next request would put
    /// it in.
    ///
    /// `fingers` is the present enrolment state, or nil if the credential for this machine is
    /// revoked. Returns nil for a key that the next request would forget. Changes nothing on disk.
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

    /// Returns the private key as sealed to these fingers; nil if there is no such sealing.
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
        lines.put("server", name: server)
        lines.put("account", name: account)
        lines.put("application", name: application)
        lines.put("audience", name: audience)
        lines.put("registration", id: registration)
        if let deviceName { lines.put("device-name", deviceName.bytes) }
        lines.put("credential", id: identifier)
        lines.put("created", created.text)
        lines.put("public", Base64.encode(publicKey.point.bytes, alphabet: .url))
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put("state", Array(state.rawValue.utf8))
        lines.put("counter", number: counter)
        lines.put("sealings", number: UInt64(sealings.count))
        for sealing in sealings {
            lines.put(enrolment: sealing.enrolment)
            lines.put("key", Base64.encode(sealing.key, alphabet: .url))
        }
        if let password {
            lines.put("password-created", password.created.text)
            lines.put(
                "password-public", Base64.encode(password.publicKey.point.bytes, alphabet: .url))
            lines.put("password-vault", Array(password.vault.rawValue.utf8))
            lines.put("password-key", Base64.encode(password.sealed, alphabet: .url))
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-server-key")
        server = try lines.name("server", cap: 256)
        account = try lines.name("account", cap: 256)
        application = try lines.name("application", cap: 256)
        audience = try lines.name("audience", cap: 256)
        registration = try lines.identifier("registration")
        deviceName = try DeviceName(parsingNext: &lines)
        identifier = try lines.identifier("credential")
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
        password = try PasswordKey(parsingNext: &lines)
    }
}

extension DeviceName {
    /// Reads the line of a device's name; nil if the next line is another.
    fileprivate init?(parsingNext lines: inout LineReader) throws(LineFault) {
        guard lines.isNext("device-name") else { return nil }
        guard let name = DeviceName(try lines.value("device-name", cap: Self.longest)) else {
            throw .malformed
        }
        self = name
    }
}

extension ServerKey.PasswordKey {
    /// Reads the lines of a password key; nil if the next line is not one of them.
    fileprivate init?(parsingNext lines: inout LineReader) throws(LineFault) {
        guard lines.isNext("password-created") else { return nil }
        let created = try lines.instant("password-created")
        guard let key = SSHPublicKey(point: try lines.base64("password-public", count: 65)) else {
            throw .malformed
        }
        let vault = try lines.vault("password-vault")
        self.init(
            created: created, publicKey: key, vault: vault,
            sealed: try lines.bytes("password-key", cap: VaultLimit.sealed))
    }
}
