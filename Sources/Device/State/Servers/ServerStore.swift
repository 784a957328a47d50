// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Posix
import Sealing
import SignedFormats

/// A server's answer to the start of a registration, or the values that stand for one for the
/// signing key.
package struct ServerRegistration: Equatable, Sendable {
    /// The server's URL in canonical form.
    package let server: ServerURL
    /// The account's name at the server.
    package let account: ServerAccountName
    /// The application.
    package let application: ApplicationName
    /// The audience of statements for the server.
    package let audience: Audience
    /// The registration's id.
    package let registration: RegistrationID
    /// What the device calls itself there; nil for no name.
    package let deviceName: DeviceName?

    /// Returns the values for an account's signing key, which is registered at no server.
    package static func signing(_ account: AccountName) -> ServerRegistration {
        ServerRegistration(
            server: ServerKey.signing, account: ServerAccountName(account.bytes),
            application: .none, audience: .none, registration: .zero, deviceName: nil)
    }

    private init(
        server: ServerURL, account: ServerAccountName, application: ApplicationName,
        audience: Audience, registration: RegistrationID, deviceName: DeviceName?
    ) {
        self.deviceName = deviceName
        self.server = server
        self.account = account
        self.application = application
        self.audience = audience
        self.registration = registration
    }

    /// Creates a registration.
    ///
    /// `server` and the device's name come from the caller, everything else from the server.
    package init(server: ServerURL, begun: RelayRegistration, deviceName: DeviceName? = nil) {
        self.deviceName = deviceName
        self.server = server
        account = begun.account
        application = begun.application
        audience = begun.audience
        registration = begun.registration
    }
}

/// Stores an account's keys for servers, and its signing key, as files in `servers/`, named after
/// the credential's id.
///
/// It cannot open a key: a vault does that, for the right fingers. Ending a key also deletes its
/// cached verdict and its MAC tokens.
package struct ServerStore: Sendable {
    /// The maximum number of servers that an account can be registered at.
    package static let limit = 32
    static let directoryName = "servers"

    let account: AccountState

    /// Returns the keys for servers, ordered by server, without the signing key.
    package func list() throws(StoreFault) -> [ServerKey] {
        try all().filter { !$0.isSigning }
    }

    /// Returns all keys, including the signing key.
    ///
    /// Unreadable ones are left out, since they open nothing.
    package func all() throws(StoreFault) -> [ServerKey] {
        guard let directory = try directory() else { return [] }
        var keys: [ServerKey] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            guard let identifier = CredentialID(hexadecimal: Array(name.utf8))
            else { continue }
            if let key = try self.key(identifier) { keys.append(key) }
        }
        return keys.sorted { $0.server < $1.server }
    }

    /// Returns the key of this credential; nil if it is missing or its file cannot be used.
    package func key(_ identifier: CredentialID) throws(StoreFault) -> ServerKey? {
        guard let directory = try directory() else { return nil }
        do throws(StoreFault) {
            let key: ServerKey? = try directory.record(fileName(identifier))
            // A file whose name is not that of its key was moved or copied.
            return key?.identifier == identifier ? key : nil
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Returns the context that a key is sealed to: account, credential, server and fingers.
    package func context(
        _ identifier: CredentialID, server: ServerURL, enrolment: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: String(decoding: server.bytes, as: UTF8.self), enrolment: enrolment)
        guard let context else { throw .unsupportedName }
        return context
    }

    /// Returns the context that a credential's password key is sealed to: account, credential,
    /// server and the password in `entry`.
    ///
    /// Nil without an entry in shadow(5), since a change of the password would go unnoticed.
    package func passwordContext(
        _ identifier: CredentialID, server: ServerURL, entry: ShadowEntry?
    ) throws(StoreFault) -> SealingContext? {
        let state = try sealed { () throws(VaultError) in
            try PasswordState(
                of: entry, account: account.sealedName, item: identifier, host: account.host)
        }
        return SealingContext.passwordKey(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: String(decoding: server.bytes, as: UTF8.self), password: state)
    }

    /// Stores a new key, with the counter at its first statement, and removes older ones for the
    /// server.
    ///
    /// An older key that is disabled, and whose server has not been told yet, stays.
    package func keep(
        _ made: NewCredential, as identifier: CredentialID, context: SealingContext,
        by vault: VaultKind,
        at place: ServerRegistration, state: ServerKey.State,
        password: ServerKey.PasswordKey? = nil, now: Instant
    ) throws(StoreFault) -> ServerKey {
        guard let publicKey = SSHPublicKey(point: made.publicPoint) else {
            throw .vault(.malformed)
        }
        let key = ServerKey(
            server: place.server, account: place.account, application: place.application,
            audience: place.audience, registration: place.registration,
            deviceName: place.deviceName,
            identifier: identifier, created: now, publicKey: publicKey, vault: vault,
            state: state, counter: 1,
            sealings: [ServerKey.Sealing(enrolment: context.enrolment, key: made.sealed)],
            password: password)
        let former = try all().filter { $0.server == place.server && $0.state != .removing }
        try write(key)
        for old in former { try remove(old) }
        return key
    }

    /// Records that the server has confirmed the key.
    package func confirm(_ key: ServerKey) throws(StoreFault) -> ServerKey {
        try change(key) { $0.state = .good }
    }

    /// Reserves the next counter durably.
    ///
    /// Call it before signing, so that no counter is signed twice.
    package func advance(_ key: ServerKey) throws(StoreFault) -> ServerKey {
        guard key.counter < UInt64.max else { throw .damaged(path: fileName(key.identifier)) }
        return try change(key) { $0.counter += 1 }
    }

    /// Replaces the key's password key, or adds one, after the server has accepted it.
    ///
    /// Throws `.changedMeanwhile` unless the file still holds the key as it was read.
    package func keep(
        _ password: ServerKey.PasswordKey, of key: ServerKey
    ) throws(StoreFault) -> ServerKey {
        try change(key) { $0.password = password }
    }

    /// Deletes the private keys because the fingers changed.
    ///
    /// The record remains, to explain the state to the user. Also deletes the cached verdict and
    /// the MAC tokens of the key. Throws `.changedMeanwhile` unless the file still holds the key as
    /// it was read.
    package func invalidate(_ key: ServerKey) throws(StoreFault) -> ServerKey {
        try forgetVerdict(for: key)
        let invalidated = try change(key) { next in
            next.state = .invalidated
            next.sealings = []
            next.password = nil
        }
        try account.macTokens.remove(of: key)
        return invalidated
    }

    /// Records that the key is disabled and that the server has not been told yet.
    ///
    /// Also deletes the cached verdict and the MAC tokens of the key. The private key stays, since
    /// the message to the server must be signed. Throws as `invalidate` does.
    package func beginRemoval(_ key: ServerKey) throws(StoreFault) -> ServerKey {
        try forgetVerdict(for: key)
        let removing = try change(key) { $0.state = .removing }
        try account.macTokens.remove(of: key)
        return removing
    }

    /// Removes everything that is stored for this key, but nothing of a key that replaced it.
    package func remove(_ key: ServerKey) throws(StoreFault) {
        try forgetVerdict(for: key)
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(fileName(key.identifier)) }
        // Tokens are useless without their key: see `MACTokenStore`.
        try account.macTokens.remove(of: key)
    }

    /// Changes a key.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, unless the file still holds the key as it
    /// was read.
    private func change(
        _ key: ServerKey, _ body: (inout ServerKey) -> Void
    ) throws(StoreFault) -> ServerKey {
        guard try self.key(key.identifier) == key else { throw .changedMeanwhile }
        var next = key
        body(&next)
        try write(next)
        return next
    }

    private func write(_ key: ServerKey) throws(StoreFault) {
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(key, as: fileName(key.identifier))
    }

    /// Returns the directory; nil if no key was ever stored.
    func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: CredentialID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }
}
