// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import SignedFormats
import State

// Keys that sign for a server where the password takes the finger's place.
//
// Such a key is sealed to the account's entry in shadow(5), of which nothing is stored with it, so
// it opens only while the account has the password for which it was made. It belongs to the
// credential of the fingerprint key and shares its counter.

/// A password key that a vault has just made, with the context to which it is sealed.
struct SealedPasswordKey {
    let key: ServerKey.PasswordKey
    let context: SealingContext
}

extension ServerKey {
    /// The vault of the key that signs for a factor.
    func vault(for factor: Bytes) -> VaultKind {
        factor == Factor.password ? password?.vault ?? vault : vault
    }
}

extension ServerKeys {
    /// Signs with a password key; see `signed(by:in:account:snapshot:for:_:)`.
    func signedByPassword(
        _ found: ServerKey, in namespace: SignatureNamespace, account: Account,
        snapshot: AccountSnapshot, for proof: PasswordProof<VerifiedPassword>,
        _ message: (ServerKey) throws(CryptoFault) -> SignedMessage
    ) async throws(Denial) -> SignedAnswer {
        guard found.password != nil else {
            throw Denial(.noPasswordKey, subject: found.server.bytes)
        }
        let context = try passwordContext(of: found, account: account, snapshot: snapshot)
        let signed: SignedAnswer? = try await advancing(
            found, account: account, snapshot: snapshot
        ) { (key) async throws(VaultError) in
            guard let password = key.password, let context else { return nil }
            let signs: SignedMessage
            do throws(CryptoFault) { signs = try message(key) } catch { throw .crypto(error) }
            let data = SSHSignature.signedData(
                namespace: namespace.bytes, messageDigest: signs.digest)
            do throws(VaultError) {
                let numbers = try await using(password.sealed, in: password.vault, context) {
                    (ready, context) throws(VaultError) in
                    try ready.sign(data, context: context, for: proof.match)
                }
                return SignedAnswer(
                    statement: signs.text,
                    signature: SSHSignature(
                        publicKey: password.publicKey, namespace: namespace, r: numbers.r,
                        s: numbers.s
                    ).blob)
            } catch .doesNotOpen {
                // Another password than the one that it was made for: the fingerprint key stays.
                return nil
            }
        }
        guard let signed else { throw Denial(.passwordKeyStale, subject: found.server.bytes) }
        return signed
    }

    /// The context that opens a password key now; nil if the account has no entry in shadow(5).
    ///
    /// The entry is read now, so a password that was changed after it was checked opens nothing.
    private func passwordContext(
        of key: ServerKey, account: Account, snapshot: AccountSnapshot
    ) throws(Denial) -> SealingContext? {
        try accounts.reading(account) { () throws(StoreFault) in
            try snapshot.kept.servers.passwordContext(
                key.identifier, server: key.server, entry: try Self.shadowEntry(of: account))
        }
    }

    private static func shadowEntry(of account: Account) throws(StoreFault) -> ShadowEntry? {
        do throws(SystemFault) {
            return try ShadowEntry.named(account.name)
        } catch { throw .file(.system(error)) }
    }

    /// Makes a password key for a credential, sealed to the password that was just verified; it is
    /// not on disk yet.
    ///
    /// Nil if the account has no entry in shadow(5) on this machine. `entry` is the one from before
    /// the password was verified.
    func newPasswordKey(
        for identifier: CredentialID, at server: ServerURL, by kind: VaultKind,
        entry: ShadowEntry?, snapshot: AccountSnapshot
    ) async throws(StoreFault) -> SealedPasswordKey? {
        guard
            let context = try snapshot.kept.servers.passwordContext(
                identifier, server: server, entry: entry)
        else { return nil }
        let made: NewCredential
        do throws(VaultError) {
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(context)
            }
        } catch { throw .vault(error) }
        guard let key = ServerKey.PasswordKey(made, by: kind, created: accounts.instant) else {
            throw .vault(.malformed)
        }
        return SealedPasswordKey(key: key, context: context)
    }

    /// Signs the statement of a registration with one of the keys that it registers; returns the
    /// SSHSIG blob.
    func registrationSignature(
        _ statement: LoginStatement, with sealed: Bytes, in vault: VaultKind,
        context: SealingContext, publicKey: SSHPublicKey, for confirmation: Confirmation
    ) async throws(VaultError) -> Bytes {
        let message = try RegistrationMessage(statement)
        let numbers = try await using(sealed, in: vault, context) {
            (ready, context) throws(VaultError) in
            switch confirmation {
            case .finger(let touch):
                try ready.sign(message, context: context, for: touch.match)
            case .password(let proof):
                try ready.sign(message, context: context, for: proof.match)
            }
        }
        return SSHSignature(
            publicKey: publicKey, namespace: .registration, r: numbers.r, s: numbers.s
        ).blob
    }

    /// Loads a key in its vault, runs `sign` with it, and releases it.
    private func using(
        _ sealed: Bytes, in vault: VaultKind, _ context: SealingContext,
        _ sign:
            @escaping @Sendable (any ReadyKey, SealingContext) throws(VaultError)
            -> P256Signature
    ) async throws(VaultError) -> P256Signature {
        try await vaults.call(vault) { vault throws(VaultError) in
            let ready = try vault.ready(key: sealed, context: context)
            defer { ready.release() }
            return try sign(ready, context)
        }
    }
}

extension Servers {
    /// Throws the denial for a registration whose key for the password cannot be replaced from here.
    func checkReplacing(
        _ request: ServerPasswordKeyRequest, account: Account, client: any Client
    ) async throws(Denial) {
        guard let url = CanonicalServerURL(request.server) else { throw Denial(.badRequest) }
        _ = try await keys.goodKey(for: url, account: account)
        let plan = guards.plan(
            for: ServerPasswordKeyRequest.self, account: account, milliseconds: .max)
        try guards.checkPlace(plan, client: client)
    }

    /// Makes a new password key for a registration, in place of the present one or where there is
    /// none.
    ///
    /// The password was verified before, and a touch authorises the change: the fingerprint key
    /// signs a statement that names the new key. The new key takes effect here once the server has
    /// accepted it. Throws `passwordElsewhere` if the account's password is not stored on this
    /// machine, and the denial for the server's answer.
    func replacePasswordKey(
        _ request: ServerPasswordKeyRequest, account: Account, password: VerifiedPassword?,
        client: any Client
    ) async throws(Denial) -> Answer {
        guard let url = CanonicalServerURL(request.server), let password else {
            throw Denial(.badRequest)
        }
        let key = try await keys.goodKey(for: url, account: account)
        guard let entry = password.entry else { throw Denial(.passwordElsewhere) }
        let challenge = try await keys.challenge(
            for: key, by: .finger, action: LoginAction.passwordKey, url: url, account: account)
        let matter = SignedMatter(
            purpose: Bytes("server \(url.text): make a key for the password".utf8),
            challenge: challenge)
        let plan = guards.plan(
            for: ServerPasswordKeyRequest.self, account: account, milliseconds: .max)
        return try await confirmations.confirmed(
            plan, by: .finger, matter: matter, client: client
        ) { (snapshot, confirmation) throws(Denial) in
            let new = try await accounts.answering(account) { () async throws(StoreFault) in
                try await keys.newPasswordKey(
                    for: key.identifier, at: key.server, by: key.vault, entry: entry,
                    snapshot: snapshot)
            }
            guard let new else { throw Denial(.passwordElsewhere) }
            let answer = try await keys.serverHears(
                of: key, account: account, kept: snapshot.kept, telling: client
            ) { (snapshot) throws(Denial) in
                let (statement, signature) = try await keys.signed(
                    challenge, action: LoginAction.passwordKey, by: key, account: account,
                    snapshot: snapshot, for: confirmation,
                    purpose: PasswordKeyPurpose.text(new.key.publicKey.point))
                let own = try await ownSignature(
                    statement, with: new, account: account, for: confirmation)
                return SignedPasswordKey(statement: statement, signature: signature, own: own)
            } _: { signed in
                .passwordKey(
                    server: ServerURL(url), registration: key.registration,
                    statement: signed.statement, signature: signed.signature,
                    key: RelayPasswordKey(
                        publicKey: new.key.publicKey.point, signature: signed.own))
            }
            guard case .proven = answer else {
                throw keys.denial(of: answer, url: url, account: account, signedBy: key)
            }
            return try keep(new.key, of: key, url: url, account: account)
        }
    }

    /// What a server receives for a new password key.
    private struct SignedPasswordKey {
        let statement: Bytes
        let signature: Bytes
        /// The signature by the new key.
        let own: Bytes
    }

    private func ownSignature(
        _ statement: Bytes, with new: SealedPasswordKey, account: Account,
        for confirmation: Confirmation
    ) async throws(Denial) -> Bytes {
        try await accounts.answering(account) { () async throws(VaultError) in
            let parsed: LoginStatement
            do throws(LineFault) { parsed = try LoginStatement(parsing: statement) } catch {
                throw .malformed
            }
            return try await keys.registrationSignature(
                parsed, with: new.key.sealed, in: new.key.vault, context: new.context,
                publicKey: new.key.publicKey, for: confirmation)
        }
    }

    /// Stores a password key that the server has accepted, if the key that it belongs to is still
    /// good.
    private func keep(
        _ password: ServerKey.PasswordKey, of key: ServerKey, url: CanonicalServerURL,
        account: Account
    ) throws(Denial) -> Answer {
        try accounts.reading(account) {
            guard let kept = try accounts.kept(account),
                let now = try kept.servers.key(key.identifier), now.state == .good
            else { throw Denial(.unknownServer, subject: url.bytes) }
            _ = try kept.servers.keep(password, of: now)
            journal.credential(
                of: account, change: "changed", because: "a new key for the password at \(url.text)"
            )
            return .done(DoneAnswer())
        }
    }
}
