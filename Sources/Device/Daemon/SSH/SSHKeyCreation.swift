// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import SSHProtocol
import Sealing
import SignedFormats
import State

extension SSHKeys {
    /// Makes a key, after a touch, for the fingers as they were at the touch.
    ///
    /// Throws `sshApplicationRefused`, `sshKeyExists` for a name that is in use, `tooManySshKeys`,
    /// and the denials of the touch. Name and number are checked before the touch and again after
    /// it, since another request may have made a key meanwhile.
    func create(
        _ request: SSHCreateRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        try await makeKey(
            request.name, for: try application(request.application), as: SSHCreateRequest.self,
            milliseconds: request.timeoutMilliseconds, purpose: request.purpose, account: account,
            client: client
        ) { .of(SSHKeyMadeAnswer(self.content($0, account: account))) }
    }

    /// Makes a key of either kind; see `create`.
    ///
    /// - Parameters:
    ///   - request: the type of the request, whose rule applies.
    ///   - answer: makes the answer for the new key.
    func makeKey(
        _ wanted: SSHKeyName?, for application: SSHApplication,
        as request: any DaemonRequest.Type, milliseconds: UInt32, purpose: Bytes,
        account: Account, client: any Client, answer: @escaping (StoredSSHKey) -> Answer
    ) async throws(Denial) -> Answer {
        _ = try accounts.reading(account) {
            guard let kept = try accounts.kept(account) else { throw Denial(.notEnrolled) }
            return try freeName(wanted, for: application, among: try kept.sshKeys.list())
        }
        let (plan, matter) = try plan(
            for: request, account: account, milliseconds: milliseconds, purpose: purpose,
            client: client)
        return try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, _) throws(Denial) in
            try await self.accounts.answering(account) {
                let keys = snapshot.kept.sshKeys
                let new = try await self.newKey(for: application, snapshot: snapshot)
                let name = try self.freeName(
                    wanted, for: application, among: try keys.list())
                let key = try keys.keep(
                    new.made, as: new.identifier, name: name, application: application,
                    context: new.context, by: new.vault, now: self.accounts.instant)
                self.journal.credential(of: account, change: "made", because: key.journalText)
                return answer(key)
            }
        }
    }

    /// The name for a new key: the one that is wanted, or one after the application.
    ///
    /// Throws `sshKeyExists` if the wanted name is in use, and `tooManySshKeys`. Keys that are
    /// invalidated count until they are removed.
    private func freeName(
        _ wanted: SSHKeyName?, for application: SSHApplication, among keys: [StoredSSHKey]
    ) throws(Denial) -> SSHKeyName {
        guard keys.count < SSHKeyStore.limit else { throw Denial(.tooManySshKeys) }
        let taken = Set(keys.map(\.name))
        if let wanted {
            guard !taken.contains(wanted) else {
                throw Denial(.sshKeyExists, subject: wanted.bytes)
            }
            return wanted
        }
        // Room for the number is left at the end.
        let word = Bytes(application.word.prefix(SSHKeyName.longest - 3))
        let base = SSHKeyName(word)?.bytes ?? Bytes("ssh".utf8)
        for number in 1...(SSHKeyStore.limit + 1) {
            let bytes = number == 1 ? base : base + Bytes("-\(number)".utf8)
            if let name = SSHKeyName(bytes), !taken.contains(name) { return name }
        }
        throw Denial(.tooManySshKeys)
    }

    /// A key that a vault has just made, with the context to which it is sealed.
    private struct NewKey {
        let identifier: SSHKeyID
        let made: NewCredential
        let context: SealingContext
        let vault: VaultKind
    }

    /// Makes a key, sealed to the fingers as they were at the touch; it is not on disk yet.
    ///
    /// Throws `.changedMeanwhile` if the fingers have changed since the touch.
    private func newKey(
        for application: SSHApplication, snapshot: AccountSnapshot
    ) async throws(StoreFault) -> NewKey {
        let identifier: SSHKeyID
        do throws(SystemFault) {
            identifier = SSHKeyID(random: try randomBytes(SSHKeyID.count))
        } catch { throw .file(.system(error)) }
        let context = try snapshot.kept.sshKeys.context(
            identifier, application: application, enrolment: snapshot.enrolment.state)
        let kind: VaultKind
        let made: NewCredential
        do throws(VaultError) {
            kind = try await vaults.chosen(after: snapshot.credential.vault)
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(context)
            }
        } catch { throw .vault(error) }
        guard try snapshot.kept.prints.enrolment().state == snapshot.enrolment.state else {
            throw .changedMeanwhile
        }
        return NewKey(identifier: identifier, made: made, context: context, vault: kind)
    }
}
