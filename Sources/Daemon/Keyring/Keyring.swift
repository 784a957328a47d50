// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Password
import Policy
import Posix
import Store
import Vault

/// The login password that is kept for the keyring: kept, sealed anew, and dropped.
@ServiceActor
final class Keyring {
    let journal: DecisionJournal
    let passwords: PasswordProof
    let settings: Configuration
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let keyringRecords: KeyringRecords

    init(
        journal: DecisionJournal, passwords: PasswordProof, settings: Configuration, vaults: Vaults,
        accounts: Accounts, credentials: Credentials, keyringRecords: KeyringRecords
    ) {
        self.journal = journal
        self.passwords = passwords
        self.settings = settings
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.keyringRecords = keyringRecords
    }
}

extension Keyring {
    /// Seals a password to the fingers as they are, in the place of any older one.
    ///
    /// Throws `.changedMeanwhile`, with nothing kept, if the fingers change while the vault works.
    func keep(
        _ password: VerifiedPassword, _ account: Account, _ kept: AccountState,
        because reason: String
    ) async throws(StoreFault) {
        let enrolment = try kept.prints.enrolment()
        let draft = try kept.keyring.draft(enrolment, password.entry)
        guard case .issued(let credential) = try credentials.revokeIfUnfit(account, kept, enrolment)
        else {
            throw .changedMeanwhile
        }
        // One vault for both: a touch opens them together.
        let kind = credential.vault
        let sealed: SealedContent
        do throws(VaultError) {
            sealed = try await vaults.call(kind) { vault throws(VaultError) in
                try SealedContent.seal(password.secret, draft.context, by: vault)
            }
        } catch { throw .vault(error) }
        guard try kept.prints.enrolment().state == enrolment.state else {
            throw .changedMeanwhile
        }
        try kept.keyring.keep(draft, sealed, by: kind, now: accounts.instant)
        journal.keyring(of: account, "kept", because: reason)
    }

    /// Moves a kept password to another vault. What fails is told, and stays as it was.
    func moveKeyring(_ account: Account, to kind: VaultKind) async {
        do throws(StoreFault) {
            guard let kept = try accounts.kept(account) else { return }
            let enrolment = try kept.prints.enrolment()
            guard
                case .kept(let password) = try keyringRecords.dropUselessPassword(
                    account, kept, enrolment)
            else { return }
            let context = try kept.keyring.context(of: password, enrolment)
            let key = try await credentials.move(
                password.sealed.key, from: password.vault, to: kind, context)
            guard try kept.keyring.state() == .kept(password),
                try kept.prints.enrolment().state == enrolment.state
            else { throw .changedMeanwhile }
            try kept.keyring.keep(password, resealed: key, by: kind)
        } catch {
            journal.fault("the login password was not moved: \(error)", account: account.name)
        }
    }

    /// Brings the keyring in line after the credential was issued anew: what had been wanted stays
    /// wanted where the password was given, and is dropped, with the reason, where it was not.
    ///
    /// `wants` is what the request says of it, nil for nothing.
    func settleKeyring(
        _ wants: Bool?, _ password: VerifiedPassword?, _ account: Account, _ kept: AccountState,
        because reason: String
    ) async throws(StoreFault) -> CommandProtocol.KeyringState? {
        let enrolment = try kept.prints.enrolment()
        if wants == false || enrolment.isEmpty {
            try keyringRecords.forgetKeyring(account, kept, because: reason)
            return wants == nil ? nil : .off
        }
        let before = try kept.keyring.state()
        guard wants == true || before != .off else { return nil }
        if let password, case .issued = try credentials.revokeIfUnfit(account, kept, enrolment) {
            try await keep(password, account, kept, because: reason)
        }
        return try keyringRecords.dropUselessPassword(account, kept, try kept.prints.enrolment())
            .onTheWire
    }

    /// The password was changed through PAM: keeps the new one if it proves right, else none.
    func passwordChanged(
        _ account: Account, _ client: any Client
    ) async throws(Denial) -> Answer {
        guard let secret = client.consumePassword() else { throw Denial(.badRequest) }
        return try await accounts.answering(account) {
            guard let kept = try accounts.kept(account), try isStale(account, kept) else {
                return .done(DoneAnswer())
            }
            let given = VerifiedPassword(
                secret: secret, entry: try keyringRecords.shadowEntry(account))
            let verdict = await passwords.verdict(on: secret, of: account)
            // While it was checked, anything may have happened.
            guard try isStale(account, kept) else { return .done(DoneAnswer()) }
            guard verdict == .right, !Task.isCancelled else {
                try keyringRecords.drop(account, kept, because: .passwordChanged)
                return .done(DoneAnswer(keyring: .passwordChanged))
            }
            do throws(StoreFault) {
                try await keep(given, account, kept, because: "the password was changed")
            } catch {
                try keyringRecords.drop(account, kept, because: .passwordChanged)
                throw error
            }
            return .done(DoneAnswer(keyring: .on))
        }
    }

    /// Whether the kept password was changed, or was dropped for that, and nothing else is wrong;
    /// one of an account whose password is not in shadow(5) may always have been changed.
    private func isStale(
        _ account: Account, _ kept: AccountState
    ) throws(StoreFault) -> Bool {
        let enrolment: Enrolment
        do throws(StoreFault) {
            enrolment = try kept.prints.enrolment()
        } catch {
            guard case .closed = error else { throw error }
            // Only the fingers tell. A password is not kept on a guess.
            if case .kept = try kept.keyring.state() { return true } else { return false }
        }
        guard case .issued = try credentials.revokeIfUnfit(account, kept, enrolment) else {
            return false
        }
        switch try kept.keyring.state() {
        case .kept(let password):
            let entry = try keyringRecords.shadowEntry(account)
            let loss = try kept.keyring.loss(of: password, enrolment, entry)
            return loss == .passwordChanged || loss == nil && password.isUnwatched
        case .dropped(let loss, _): return loss == .passwordChanged
        case .off, .damaged: return false
        }
    }
}
