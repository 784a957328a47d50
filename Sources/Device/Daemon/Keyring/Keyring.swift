// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import MainContext
import PasswordCheck
import Posix
import Sealing
import State

/// The login password that is stored to unlock the keyring: it is stored, resealed and
/// dropped here.
///
/// It is sealed to the same fingers as the credential and stored in the credential's vault, so that
/// one touch opens both. It is stored only after libpam has accepted it (`VerifiedPassword`), and
/// dropped, with the reason, when the fingers, the credential or the password change.
/// `KeyringRelease.swift` decides who receives it. See docs/admin/KEYRING.md.
@ServiceActor
final class Keyring {
    let journal: DecisionJournal
    let passwords: PasswordChecker
    let settings: Configuration
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let keyringRecords: KeyringRecords

    init(
        journal: DecisionJournal, passwords: PasswordChecker, settings: Configuration,
        vaults: Vaults,
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
    /// The handler for password changes through PAM.
    var handlers: [RequestHandler] { [RequestHandler(passwordChanged)] }

    /// Seals a password to the current fingers and stores it, in place of an older one.
    ///
    /// Throws `.changedMeanwhile`, and stores nothing, if there is no valid credential or the
    /// fingers change while the vault works. Throws `.vault` if the vault fails.
    func keep(
        _ password: VerifiedPassword, account: Account, kept: AccountState,
        because reason: String
    ) async throws(StoreFault) {
        let enrolment = try kept.prints.enrolment()
        let draft = try kept.keyring.draft(enrolment, entry: password.entry)
        guard
            case .issued(let credential) = try credentials.revokeIfUnfit(
                account, kept: kept, enrolment: enrolment)
        else {
            throw .changedMeanwhile
        }
        // Use the same vault for both, because one touch opens them together.
        let kind = credential.vault
        let sealed: SealedContent
        do throws(VaultError) {
            sealed = try await vaults.call(kind) { vault throws(VaultError) in
                try SealedContent.seal(password.secret, context: draft.context, by: vault)
            }
        } catch { throw .vault(error) }
        guard try kept.prints.enrolment().state == enrolment.state else {
            throw .changedMeanwhile
        }
        try kept.keyring.keep(draft, sealed: sealed, by: kind, now: accounts.instant)
        journal.keyring(of: account, change: "kept", because: reason)
    }

    /// Updates the stored password after the fingers or the credential have changed.
    ///
    /// If the user wants one stored and has given the password, it is sealed again; without the
    /// password, a stored one that no longer fits is dropped with the reason. If the user turns it
    /// off, or no finger is left, it is deleted without a reason.
    ///
    /// - Parameter wants: whether the request turns it on or off; nil to leave it as it was.
    /// - Returns: the state to report; nil if the request leaves it as it was and it is off or no
    ///   finger is left.
    func settleKeyring(
        _ wants: Bool?, password: VerifiedPassword?, account: Account, kept: AccountState,
        because reason: String
    ) async throws(StoreFault) -> KeyringState? {
        let enrolment = try kept.prints.enrolment()
        if wants == false || enrolment.isEmpty {
            try keyringRecords.forgetKeyring(account, kept: kept, because: reason)
            return wants == nil ? nil : .off
        }
        let before = try kept.keyring.state()
        guard wants == true || before != .off else { return nil }
        if let password,
            case .issued = try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
        {
            try await keep(password, account: account, kept: kept, because: reason)
        }
        return try keyringRecords.dropUselessPassword(
            account, kept: kept, enrolment: try kept.prints.enrolment()
        )
        .onTheWire
    }

    /// Serves a password change through PAM: stores the new password if libpam accepts it,
    /// otherwise drops the old one.
    ///
    /// Only root may make the request. Does nothing unless the stored password has become stale, or
    /// was dropped because of that. Throws `badRequest` if the request came without a password.
    func passwordChanged(
        _: PasswordChangedRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        if client.process.starter == account.uid {
            // passwd(1), run by the account itself, has asked for the old password.
            try accounts.reading(account) { () throws(StoreFault) in
                try accounts.passwordGiven(account, knowingOld: true)
            }
        }
        guard let secret = client.consumePassword() else { throw Denial(.badRequest) }
        // The module waits for some seconds only, and the password has changed all the same: this goes on
        // when the client has gone.
        let outcome: Result<Answer, Denial> = await withCheckedContinuation { continuation in
            onService { [self] in
                do throws(Denial) {
                    continuation.resume(returning: .success(try await replace(secret, account)))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        return try outcome.get()
    }

    /// Stores a changed password if the stored one has become stale, and drops that otherwise.
    private func replace(
        _ secret: SecretBytes, _ account: Account
    ) async throws(Denial) -> Answer {
        try await accounts.answering(account) {
            guard let kept = try accounts.kept(account), try isStale(account, kept: kept) else {
                return .done(DoneAnswer())
            }
            let entry = try keyringRecords.shadowEntry(account)
            let given = await passwords.verified(secret, of: account, entry: entry)
            // Another request may have changed anything while libpam checked it.
            guard try isStale(account, kept: kept) else { return .done(DoneAnswer()) }
            guard let given else {
                try keyringRecords.drop(account, kept: kept, because: .passwordChanged)
                return .done(DoneAnswer(keyring: .passwordChanged))
            }
            do throws(StoreFault) {
                try await keep(
                    given, account: account, kept: kept, because: "the password was changed")
            } catch {
                try keyringRecords.drop(account, kept: kept, because: .passwordChanged)
                throw error
            }
            return .done(DoneAnswer(keyring: .on))
        }
    }

    /// Whether the stored password was changed, or was dropped for that reason, and nothing else is
    /// wrong.
    ///
    /// For an account that is not in shadow(5), a stored password always counts as possibly
    /// changed. If the prints cannot be opened, a stored password counts as stale; it cannot be
    /// replaced then, and is dropped.
    private func isStale(
        _ account: Account, kept: AccountState
    ) throws(StoreFault) -> Bool {
        guard let enrolment = try kept.prints.enrolmentIfOpen() else {
            // Whether it fits depends on the prints, which cannot be opened. A new password is not
            // stored on a guess.
            if case .kept = try kept.keyring.state() { return true } else { return false }
        }
        guard
            case .issued = try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
        else {
            return false
        }
        switch try kept.keyring.state() {
        case .kept(let password):
            let entry = try keyringRecords.shadowEntry(account)
            let loss = try kept.keyring.loss(of: password, enrolment: enrolment, entry: entry)
            return loss == .passwordChanged || loss == nil && password.isUnwatched
        case .dropped(let loss, _): return loss == .passwordChanged
        case .off, .damaged: return false
        }
    }
}
