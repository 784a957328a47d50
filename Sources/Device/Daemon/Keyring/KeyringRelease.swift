// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import PasswordCheck
import Posix
import Sealing
import State

/// Decides whether the login password is released, and to which login.
///
/// A login receives it only with its confirmation, after a touch that has opened the password's
/// key. No problem with the password ever fails a login.
extension Keyring {
    /// Whether a login may receive the account's password.
    ///
    /// It may if all of this holds: the client runs as root and asks for it, the login is not
    /// remote, the requester is the account's own user, and `keyring.services` lists the PAM
    /// service. Names are compared as bytes, so one that is not UTF-8 is never on the list.
    func mayHavePassword(
        _ request: AuthenticateRequest, presence: Presence, account: Account,
        client: any Client
    ) -> Bool {
        guard request.wantsKeyring, client.peer.uid == 0, request.remoteHost.isEmpty else {
            return false
        }
        guard !presence.isForOther else { return false }
        return settings.words(Settings.keyringServices).contains { service in
            service.utf8.elementsEqual(request.service.bytes)
        }
    }

    /// Returns the sealed key of an account's password, to be opened by the touch; nil if there is
    /// nothing to release.
    ///
    /// A password that is no longer usable is dropped here, and the client is told if that is
    /// because the login password was changed. Errors are logged and count as nothing to release.
    func keyringItem(
        _ account: Account, snapshot: AccountSnapshot, client: any Client
    ) -> SealedItem? {
        do throws(StoreFault) {
            let found = try keyringRecords.keyringJudgement(
                account, kept: snapshot.kept, enrolment: snapshot.enrolment)
            if case .useless(let loss) = found {
                try keyringRecords.drop(account, kept: snapshot.kept, because: loss)
                if loss == .passwordChanged { client.post(.notice(Notice(.passwordStale))) }
            }
            guard case .kept(let password) = found else { return nil }
            return SealedItem(
                vault: password.vault, sealed: password.sealed.key,
                context: try snapshot.kept.keyring.context(
                    of: password, enrolment: snapshot.enrolment),
                isRequired: false)
        } catch {
            journal.fault(error.description, account: account.name)
            return nil
        }
    }

    /// Returns the password that the touch has opened, if it may be released.
    ///
    /// Problems are logged. May take `limit`, but at most `longestTrial`, for a password whose changes this machine
    /// cannot notice.
    func passwordToRelease(
        _ proof: TouchProof, account: Account, within limit: Duration
    ) async -> SecretBytes? {
        guard let password = openedPassword(proof, account: account) else { return nil }
        guard password.isUnwatched else { return password.secret }
        return await passwordToRelease(
            password, account: account, kept: proof.kept, within: limit)
    }

    /// Returns a password that was opened earlier, if it may still be released now.
    ///
    /// Problems are logged.
    ///
    /// - Parameter limit: how long libpam may take to check a password whose changes this machine
    ///   cannot notice.
    func passwordToRelease(
        _ password: OpenedPassword, account: Account, kept: AccountState,
        within limit: Duration
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
    /// Nothing is dropped here, because another request may be about to reseal it.
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
        let identifier: KeyringItemID
        /// Whether this machine cannot notice changes of the password, because shadow(5) has no
        /// entry.
        let isUnwatched: Bool
    }

    /// Decrypts the password with the key that the touch has released; nil if there is none.
    ///
    /// Call this before another request can change the record. Problems are logged.
    func openedPassword(_ proof: TouchProof, account: Account) -> OpenedPassword? {
        do throws(StoreFault) {
            return try open(proof, account: account)
        } catch {
            journal.fault(error.description, account: account.name)
            return nil
        }
    }

    /// Decrypts the password with the key that the touch has released.
    ///
    /// Returns nil if the touch released none, or if the stored password is another one by now. One
    /// that does not open is dropped as damaged.
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
            password.sealed.key == proof.openedItem?.sealed
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

    /// Whether a password whose changes this machine cannot notice must not be released.
    ///
    /// libpam checks it once, so that a stale one fails once and is then dropped. If it cannot be
    /// checked in time, it is withheld and stays stored.
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

    /// How long a login may wait for libpam to check such a password.
    static let longestTrial = Duration.seconds(15)
}
