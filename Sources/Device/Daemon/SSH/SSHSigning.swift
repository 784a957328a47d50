// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import Posix
import SSHProtocol
import Sealing
import SignedFormats
import State

extension SSHKeys {
    /// Signs a login at a server or the SSHSIG of a file, after a touch for it.
    ///
    /// Handle, application and data are checked before a finger is asked for. Throws the denial for
    /// what does not fit, and those of the touch. A key that does not open for the present fingers
    /// is destroyed, and `sshKeyInvalidated` is thrown.
    func sign(
        _ request: SSHSignRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let application = try application(request.application)
        guard let handle = SSHKeyHandle(request.handle) else { throw Denial(.sshHandleMalformed) }
        guard handle.device == state.device else { throw Denial(.sshHandleOfOtherMachine) }
        guard handle.uid == account.uid else { throw Denial(.sshHandleOfOtherAccount) }
        let key = try await usableKey(handle.key, for: application, account: account)
        let signable = try signable(request.data, by: key)
        if let granted = try await granted(
            request, signable, by: key, account: account, client: client)
        {
            return granted
        }
        let purpose = signable.content.purpose { Self.fingerprint(ofKey: $0) }
        return try await sign(
            signable, by: key, as: SSHSignRequest.self,
            milliseconds: request.timeoutMilliseconds, purpose: purpose, account: account,
            client: client
        ) { .of($0) }
    }

    /// Signs with a key of either kind, after a touch for exactly that.
    ///
    /// - Parameters:
    ///   - request: the type of the request, whose rule applies.
    ///   - answer: makes the answer for the signature.
    func sign(
        _ signable: SSHSignable, by key: StoredSSHKey, as request: any DaemonRequest.Type,
        milliseconds: UInt32, purpose: Bytes, account: Account, client: any Client,
        answer: @escaping (SSHSignatureAnswer) -> Answer
    ) async throws(Denial) -> Answer {
        let (plan, matter) = try plan(
            for: request, account: account, milliseconds: milliseconds, purpose: purpose,
            client: client)
        return try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, touch) throws(Denial) in
            answer(
                try await self.signature(
                    signable, by: key, account: account, snapshot: snapshot, for: touch))
        }
    }

    /// The key with this id, if a touch could open it.
    ///
    /// Keys that do not fit the present fingers are revoked first. Throws `sshApplicationRefused` for
    /// a key of another application or kind.
    func usableKey(
        _ identifier: SSHKeyID, for application: SSHApplication, account: Account
    ) async throws(Denial) -> StoredSSHKey {
        let key = try await usableKey(identifier, account: account)
        guard key.application == application else { throw Denial(.sshApplicationRefused) }
        return key
    }

    /// The key with this id, of any application; see `usableKey(_:for:account:)`.
    func usableKey(
        _ identifier: SSHKeyID, account: Account
    ) async throws(Denial) -> StoredSSHKey {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) {
            guard let kept = try accounts.kept(account) else { throw Denial(.unknownSshKey) }
            let enrolment = try kept.prints.enrolment()
            try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
            try holding.settle(Holder(account: account, kept: kept), for: enrolment)
            guard let key = try kept.sshKeys.key(identifier) else { throw Denial(.unknownSshKey) }
            guard key.state == .good else {
                throw Denial(.sshKeyInvalidated, subject: key.name.bytes)
            }
            return key
        }
    }

    /// The data as something that this key may sign; throws `sshDataRefused` or `sshOtherKey`.
    func signable(
        _ data: Bytes, by key: StoredSSHKey
    ) throws(Denial) -> SSHSignable {
        do throws(SSHSignable.Fault) {
            return try SSHSignable(data, by: key.publicKey)
        } catch {
            switch error {
            case .form: throw Denial(.sshDataRefused)
            case .otherKey: throw Denial(.sshOtherKey)
            }
        }
    }

    /// Signs once: advances the key's counter on disk, opens the key for the match, and signs.
    func signature(
        _ signable: SSHSignable, by found: StoredSSHKey, flags: UInt8 = SSHSecurityKey.flags,
        account: Account,
        snapshot: AccountSnapshot, for touch: Touch<ScannedFinger>
    ) async throws(Denial) -> SSHSignatureAnswer {
        let keys = snapshot.kept.sshKeys
        return try await accounts.answering(account) {
            guard let present = try keys.key(found.identifier) else { throw Denial(.unknownSshKey) }
            // It may have signed meanwhile; nothing else about it may have changed.
            guard present.publicKey == signable.key, present.state == .good,
                present.sealed(for: snapshot.enrolment.state) != nil
            else { throw try revoked(present, account: account, snapshot: snapshot) }
            let key = try keys.advance(present)
            do throws(VaultError) {
                return try await opened(
                    key, signing: signable, flags: flags, snapshot: snapshot, for: touch)
            } catch .doesNotOpen {
                let now = try keys.key(found.identifier)
                throw try now.map {
                    (key) throws(StoreFault) in
                    try revoked(key, account: account, snapshot: snapshot)
                } ?? Denial(.unknownSshKey)
            } catch { throw StoreFault.vault(error) }
        }
    }

    /// Destroys a key that does not fit the fingers, unless that has happened already, and returns
    /// the denial.
    private func revoked(
        _ key: StoredSSHKey, account: Account, snapshot: AccountSnapshot
    ) throws(StoreFault) -> Denial {
        if key.state == .good {
            try holding.invalidate(key, of: Holder(account: account, kept: snapshot.kept))
        }
        return Denial(.sshKeyInvalidated, subject: key.name.bytes)
    }

    /// Opens a key in its vault for the match, and signs what keys of its kind sign.
    private func opened(
        _ key: StoredSSHKey, signing signable: SSHSignable, flags: UInt8,
        snapshot: AccountSnapshot,
        for touch: Touch<ScannedFinger>
    ) async throws(VaultError) -> SSHSignatureAnswer {
        guard let sealed = key.sealed(for: snapshot.enrolment.state) else { throw .doesNotOpen }
        let context: SealingContext
        do throws(StoreFault) {
            context = try snapshot.kept.sshKeys.context(
                key.identifier, application: key.application, enrolment: snapshot.enrolment.state)
        } catch { throw .malformed }
        let counter = key.counter
        let data: Bytes
        do throws(CryptoFault) {
            switch signable.key {
            case .securityKey:
                data = SSHSecurityKey.signedData(
                    applicationDigest: try SHA256.digest(key.application.bytes), flags: flags,
                    counter: counter, messageDigest: try SHA256.digest(signable.data))
            case .agent: data = signable.data
            }
        } catch { throw .crypto(error) }
        let numbers = try await vaults.call(key.vault) { vault throws(VaultError) in
            let ready = try vault.ready(key: sealed, context: context)
            defer { ready.release() }
            return try ready.sign(data, context: context, for: touch.match)
        }
        return SSHSignatureAnswer(
            flags: flags, counter: counter, numbers: numbers.r + numbers.s)
    }

    /// The fingerprint of a key blob as `ssh-keygen -l` shows it; a text that says so if hashing
    /// failed.
    static func fingerprint(ofKey blob: Bytes) -> Bytes {
        guard let digest = try? SHA256.digest(blob) else { return Bytes("unknown".utf8) }
        return Bytes("SHA256:".utf8)
            + Base64.encode(digest, alphabet: .standard).filter { $0 != UInt8(ascii: "=") }
    }
}
