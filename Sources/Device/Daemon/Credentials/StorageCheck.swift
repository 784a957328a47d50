// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import SignedFormats
import State

/// What readers were found to store during one touch, compared with what the credential is sealed
/// to.
///
/// `Credentials.examine` fills it, once for each reader, before a finger is asked for on that
/// reader. After a match it says which contents to open the key with, and whether to record a
/// reader that the credential did not cover yet.
@ServiceActor
final class StorageCheck {
    /// The contents of each reader and the verdict on them, by the reader's identifier.
    private var found: [String: (storage: ReaderStorage, verdict: StorageVerdict)] = [:]
    /// Why the touch must end without a match; nil while every reader has passed the check.
    fileprivate(set) var denial: Denial?

    fileprivate func keep(
        _ storage: ReaderStorage, verdict: StorageVerdict, of reader: String
    ) {
        found[reader] = (storage, verdict)
    }

    /// Returns the reader contents to open the credential's key with, after a match on a reader.
    ///
    /// For that reader, these are the contents found during this touch; for all others, the
    /// recorded ones.
    ///
    /// - Parameters:
    ///   - recorded: the contents recorded with the credential.
    ///   - reader: the identifier of the reader on which the finger matched.
    func storage(
        _ recorded: [ReaderStorage], matchedOn reader: String
    ) -> [ReaderStorage] {
        guard let (storage, verdict) = found[reader] else { return recorded }
        switch verdict {
        // The contents equal those recorded, or none were recorded for this reader.
        case .same, .unrecorded: return recorded
        // No finger was asked for on this reader. If one matched nevertheless, the key will not
        // open.
        case .changed: return recorded.filter { !$0.isSameKind(as: storage) } + [storage]
        }
    }

    /// Returns the reader contents to record after a match on a reader that the credential did not
    /// cover.
    ///
    /// Nil if it did, or if the reader was not examined.
    func unrecorded(
        _ recorded: [ReaderStorage], matchedOn reader: String
    ) -> [ReaderStorage]? {
        guard let (storage, verdict) = found[reader], case .unrecorded(let place) = verdict else {
            return nil
        }
        var all = recorded
        if let place { all.remove(at: place) }
        return all + [storage]
    }
}

extension Credentials {
    /// Returns the check that each reader must pass before a finger is asked for on it.
    ///
    /// If one reader fails the check, the wait for a finger ends on all readers.
    func examination(
        _ account: Account, snapshot: AccountSnapshot, check: StorageCheck,
        interruption: Interruption
    ) -> ReaderPool.Examination {
        { [self] reader, contents in
            let isGood = examine(
                contents, of: reader, account: account, snapshot: snapshot, check: check)
            if !isGood { interruption.raise() }
            return isGood
        }
    }

    /// Judges the contents of a reader before a finger is asked for on it.
    ///
    /// Returns false if they do not fit the credential, which is then destroyed, or if they cannot
    /// be judged; the reason is in `check.denial` then. The user is not asked for a finger that
    /// could not sign.
    ///
    /// - Parameters:
    ///   - contents: the prints that the reader has just listed.
    ///   - reader: the reader's identifier.
    ///   - check: receives the contents, the verdict, and the first denial.
    func examine(
        _ contents: ReaderContents, of reader: String, account: Account,
        snapshot: AccountSnapshot,
        check: StorageCheck
    ) -> Bool {
        do throws(Denial) {
            try judge(contents, of: reader, account: account, snapshot: snapshot, check: check)
            return true
        } catch {
            if check.denial == nil { check.denial = error }
            return false
        }
    }

    /// Compares a reader's contents with those that the credential is sealed to.
    ///
    /// Throws what `revokeIfChanged` returns, and the denial of a fault in the records.
    func judge(
        _ contents: ReaderContents, of reader: String, account: Account,
        snapshot: AccountSnapshot,
        check: StorageCheck
    ) throws(Denial) {
        let denial = try accounts.reading(account) { () throws(StoreFault) in
            try revokeIfChanged(
                contents, of: reader, account: account, snapshot: snapshot, check: check)
        }
        if let denial { throw denial }
    }

    /// Destroys the credential if a reader's contents differ from those that it is sealed to.
    ///
    /// Only the prints that the credential covers count (`StorageCoverage`). If they differ,
    /// commits a new generation of the enrolment, destroys the credential, and returns
    /// `invalidated` with the cause. Returns `badRequest`, and destroys nothing, if the credential
    /// is no longer the one that was read. Returns nil if nothing differs.
    func revokeIfChanged(
        _ contents: ReaderContents, of reader: String, account: Account,
        snapshot: AccountSnapshot, check: StorageCheck
    ) throws(StoreFault) -> Denial? {
        let own = try AccountStorage(snapshot.enrolment.prints)
        let recorded = snapshot.credential.storage
        let storage = try coverage.covered(
            contents, of: account.uid,
            own: own.prints(on: contents.storage(of: [])), recorded: recorded)
        let verdict = storage.verdict(against: recorded)
        check.keep(storage, verdict: verdict, of: reader)
        guard case .changed(let cause) = verdict else { return nil }
        guard try snapshot.kept.credential.state() == .issued(snapshot.credential) else {
            return Denial(.badRequest)
        }
        // Commit a change of the enrolment first, so that secrets sealed to the old one no
        // longer open. In the other order, a crash in between would leave them valid: the next
        // login would destroy the key, and nothing would invalidate the rest.
        try snapshot.kept.prints.commit(try snapshot.kept.prints.draft(removing: []))
        _ = try destroy(account, kept: snapshot.kept, because: cause)
        return Denial(.invalidated, cause: cause, since: accounts.instant.seconds)
    }

    /// Reseals the credential's key so that it also covers a reader that was not recorded.
    ///
    /// The key has just opened for a match on that reader, and the caller must have the turn, so
    /// that its contents stay the same. Does nothing if the credential was replaced or no longer
    /// fits the fingers. Failures are logged; the next touch on the reader tries again.
    func record(
        _ storage: [ReaderStorage], credential: StoredCredential, account: Account,
        kept: AccountState
    ) async {
        do throws(StoreFault) {
            let enrolment = try kept.prints.enrolment()
            guard try kept.credential.judgement(on: enrolment) == .issued(credential) else {
                return
            }
            let old = try kept.credential.context(of: credential, enrolment: enrolment)
            let new = try kept.credential.context(
                of: credential, enrolment: enrolment, covering: storage)
            let resealed: [UInt8]
            do throws(VaultError) {
                resealed = try await vaults.call(credential.vault) { vault throws(VaultError) in
                    try vault.reseal(key: credential.sealed, from: old, to: new)
                }
            } catch { throw .vault(error) }
            try kept.credential.keep(credential, resealed: resealed, covering: storage)
            journal.credential(of: account, change: "resealed", because: "a reader is covered now")
        } catch { journal.fault(error.description, account: account.name) }
    }
}
