// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import PasswordCheck
import Posix
import Sealing
import State

/// Decides whether the login password is released, and to whom.
extension Keyring {
    /// Whether a login may be given the account's password.
    ///
    /// It may if root asks, at the machine, for the account itself, in a service that
    /// `keyring.services` lists. Names are compared as bytes, so one that is not UTF-8 is never on
    /// the list.
    func mayHavePassword(
        _ request: AuthenticateRequest, presence: Presence, account: Account,
        client: any Client
    ) -> Bool {
        guard request.wantsKeyring, client.peer.uid == 0, request.remoteHost.isEmpty else {
            return false
        }
        guard !presence.isForOther else { return false }
        return settings.words(Settings.keyringServices).contains { service in
            service.utf8.elementsEqual(request.service)
        }
    }

    /// The sealed key of an account's password; nil if there is nothing to release.
    ///
    /// A useless password is dropped here. No problem with it ever fails the login.
    func keyringItem(
        _ account: Account, standing: AccountSnapshot, client: any Client
    ) -> SealedItem? {
        do throws(StoreFault) {
            let found = try keyringRecords.keyringJudgement(
                account, kept: standing.kept, enrolment: standing.enrolment)
            if case .useless(let loss) = found {
                try keyringRecords.drop(account, kept: standing.kept, because: loss)
                if loss == .passwordChanged { client.post(.notice(Notice(.passwordStale))) }
            }
            guard case .kept(let password) = found else { return nil }
            return SealedItem(
                vault: password.vault, sealed: password.sealed.key,
                context: try standing.kept.keyring.context(
                    of: password, enrolment: standing.enrolment),
                isRequired: false)
        } catch {
            journal.fault(error.description, account: account.name)
            return nil
        }
    }

    /// The password that the touch has opened, if it may be released. Problems are logged.
    func passwordToRelease(_ proof: TouchProof, account: Account) async -> SecretBytes? {
        guard let password = openedPassword(proof, account: account) else { return nil }
        guard password.isUnwatched else { return password.secret }
        return await passwordToRelease(password, account: account, kept: proof.kept)
    }

    /// Decides whether a password that was opened earlier may be released now. Problems are logged.
    ///
    /// - Parameter limit: how long checking may take, for a password that nothing watches.
    func passwordToRelease(
        _ password: OpenedPassword, account: Account, kept: AccountState,
        within limit: Duration = Keyring.longestTrial
    ) async -> SecretBytes? {
        do throws(StoreFault) {
            if password.isUnwatched {
                let isWrong = await isWrong(
                    password.secret, account: account, kept: kept,
                    within: min(limit, Self.longestTrial))
                guard !isWrong else { return nil }
            }
            return try isStillKept(password, account: account, kept: kept) ? password.secret : nil
        } catch {
            journal.fault(error.description, account: account.name)
            return nil
        }
    }

    /// Whether an opened password is still the stored one and still valid.
    ///
    /// It may have been dropped, changed or replaced since, or the fingers may have changed.
    /// Nothing is dropped here, because another touch may be about to seal it anew.
    private func isStillKept(
        _ password: OpenedPassword, account: Account, kept: AccountState
    ) throws(StoreFault) -> Bool {
        guard case .kept(let now) = try kept.keyring.state(),
            now.identifier == password.identifier
        else { return false }
        let enrolment = try kept.prints.enrolment()
        return try kept.keyring.loss(
            of: now, enrolment: enrolment, entry: try keyringRecords.shadowEntry(account))
            == nil
    }

    /// A login password that was opened, with the identifier of its record.
    struct OpenedPassword {
        let secret: SecretBytes
        let identifier: Bytes
        let isUnwatched: Bool
    }

    /// Decrypts the password with the key that the touch has released, before others can change the
    /// record; nil if there is none. Problems are logged.
    func openedPassword(_ proof: TouchProof, account: Account) -> OpenedPassword? {
        do throws(StoreFault) {
            return try open(proof, account: account)
        } catch {
            journal.fault(error.description, account: account.name)
            return nil
        }
    }

    /// Decrypts the password with the key that the touch has released. One that does not open is
    /// dropped.
    func open(
        _ proof: TouchProof, account: Account
    ) throws(StoreFault) -> OpenedPassword? {
        guard let key = proof.released else { return nil }
        let kept = proof.kept
        let enrolment = try kept.prints.enrolment()
        // A password that was stored while the finger was awaited has another key. It is released
        // by the next touch.
        guard
            case .kept(let password) = try keyringRecords.dropUselessPassword(
                account, kept: kept, enrolment: enrolment),
            password.sealed.key == proof.readied?.sealed
        else { return nil }
        do throws(VaultError) {
            let context: SealingContext
            do throws(StoreFault) {
                context = try kept.keyring.context(of: password, enrolment: enrolment)
            } catch { throw .malformed }
            let secret = try SealedContent.open(
                password.sealed.content, key: try key.get(), context: context)
            return OpenedPassword(
                secret: secret, identifier: password.identifier, isUnwatched: password.isUnwatched)
        } catch {
            switch error {
            case .doesNotOpen, .malformed:
                try keyringRecords.drop(account, kept: kept, because: .damaged)
            case .crypto, .trouble: journal.fault(error.description, account: account.name)
            }
            return nil
        }
    }

    /// Whether a password that nothing watches for changes must not be released.
    ///
    /// It is checked here once, so that a stale one fails once and is then dropped. If it cannot be
    /// checked, it is withheld and stays stored.
    private func isWrong(
        _ password: SecretBytes, account: Account, kept: AccountState,
        within limit: Duration
    ) async -> Bool {
        guard limit > .zero else { return true }
        let verdict = await passwords.verdict(on: password, of: account, within: limit)
        switch verdict {
        case .right: return false
        case .wrong, .denied, .accountExpired, .passwordExpired:
            do throws(StoreFault) {
                try keyringRecords.drop(account, kept: kept, because: .passwordChanged)
            } catch { journal.fault(error.description, account: account.name) }
            return true
        case .fault: return true
        }
    }

    /// How long a login may wait for the check of a password that nothing watches.
    static let longestTrial = Duration.seconds(5)
}
