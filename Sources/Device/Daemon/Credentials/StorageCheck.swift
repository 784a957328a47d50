// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import SignedFormats
import State

/// What the readers were found to store during one touch, compared with what the credential is
/// sealed to.
@ServiceActor
final class StorageCheck {
    /// What each reader was found to store, by its identifier.
    private var found: [String: (storage: ReaderStorage, verdict: StorageVerdict)] = [:]
    /// Why waiting for a finger is pointless; nil if it is not.
    fileprivate(set) var denial: Denial?

    fileprivate func keep(
        _ storage: ReaderStorage, verdict: StorageVerdict, of reader: String
    ) {
        found[reader] = (storage, verdict)
    }

    /// The reader contents that the credential's key must be opened with, after a match on this
    /// reader.
    ///
    /// For this reader, that is what it was just found to store; for all others, what was recorded.
    func storage(
        _ recorded: [ReaderStorage], matchedOn reader: String
    ) -> [ReaderStorage] {
        guard let (storage, verdict) = found[reader] else { return recorded }
        switch verdict {
        // What was found equals what was recorded, or nothing was recorded for this reader.
        case .same, .unrecorded: return recorded
        // No finger was asked for on this reader. If one matched nevertheless, the key does not
        // open.
        case .changed: return recorded.filter { !$0.isSameKind(as: storage) } + [storage]
        }
    }

    /// The reader contents to record after a match on a reader that was not covered; nil if it was.
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
    /// Makes the check that runs on each reader before a finger is asked for. A failed check ends
    /// the wait on all readers.
    func examination(
        _ account: Account, standing: AccountSnapshot, check: StorageCheck,
        interruption: Interruption
    ) -> ReaderPool.Examination {
        { [self] reader, contents in
            let isGood = examine(
                contents, of: reader, account: account, standing: standing, check: check)
            if !isGood { interruption.raise() }
            return isGood
        }
    }

    /// Judges what a reader stores before it is asked for a finger.
    ///
    /// If that is not what the credential is sealed to, the credential is destroyed and false is
    /// returned, so that the user is not asked for a finger in vain. The reason is stored in
    /// `check`.
    func examine(
        _ contents: ReaderContents, of reader: String, account: Account,
        standing: AccountSnapshot,
        check: StorageCheck
    ) -> Bool {
        do throws(Denial) {
            try judge(contents, of: reader, account: account, standing: standing, check: check)
            return true
        } catch {
            if check.denial == nil { check.denial = error }
            return false
        }
    }

    /// Compares the reader's contents with the credential. Throws `invalidated`, after destroying
    /// the credential, if they do not fit.
    func judge(
        _ contents: ReaderContents, of reader: String, account: Account,
        standing: AccountSnapshot,
        check: StorageCheck
    ) throws(Denial) {
        try accounts.reading(account) {
            let own = try AccountStorage(standing.enrolment.prints)
            let recorded = standing.credential.storage
            let storage = try coverage.covered(
                contents, of: account.uid,
                own: own.prints(on: contents.storage(of: [])), recorded: recorded)
            let verdict = storage.verdict(against: recorded)
            check.keep(storage, verdict: verdict, of: reader)
            guard case .changed(let cause) = verdict else { return }
            guard try standing.kept.credential.state() == .issued(standing.credential) else {
                throw Denial(.badRequest)
            }
            // Commit a change of fingers first, so that secrets sealed to the old ones no longer
            // open. In the other order, after a crash, the next login would destroy the key and
            // nothing would invalidate the rest.
            try standing.kept.prints.commit(try standing.kept.prints.draft(removing: []))
            _ = try destroy(account, kept: standing.kept, because: cause)
            throw Denial(.invalidated, cause: cause, since: accounts.instant.seconds)
        }
    }

    /// Reseals the key so that it covers a reader that was not recorded. The key has just opened
    /// for a match there. Failures are logged.
    func record(
        _ storage: [ReaderStorage], credential: FoundCredential, account: Account,
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
