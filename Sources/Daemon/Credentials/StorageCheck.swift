// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix
import ReaderProtocol
import SignedFormats
import Store
import Vault

/// What the readers that a touch is awaited on keep, held against what the credential is sealed to.
@ServiceActor
final class StorageCheck {
    /// What readers were found to keep, by their ids.
    private var found: [String: (storage: ReaderStorage, verdict: StorageVerdict)] = [:]
    /// Why no finger need be awaited.
    fileprivate(set) var denial: Denial?

    fileprivate func keep(
        _ storage: ReaderStorage, _ verdict: StorageVerdict, of reader: String
    ) {
        found[reader] = (storage, verdict)
    }

    /// What the credential must be opened with after a match on this reader: what that was just
    /// found to keep, and what was recorded of the others.
    func storage(
        _ recorded: [ReaderStorage], matchedOn reader: String
    ) -> [ReaderStorage] {
        guard let (storage, verdict) = found[reader] else { return recorded }
        switch verdict {
        // What was found is among what was recorded, or nothing was recorded of it.
        case .same, .unrecorded: return recorded
        // Not asked for a finger; whoever has come here all the same does not get on.
        case .changed: return recorded.filter { !$0.isSameKind(as: storage) } + [storage]
        }
    }

    /// What is to be recorded after a match on a reader of which it was not yet; nil where all is.
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
    /// The examination of readers for a touch, which ends the wait on all of them where it fails.
    func examination(
        _ account: Account, _ standing: AccountSnapshot, _ check: StorageCheck,
        _ interruption: Interruption
    ) -> ReaderPool.Examination {
        { [self] reader, contents in
            let isGood = examine(contents, of: reader, account, standing, check)
            if !isGood { interruption.raise() }
            return isGood
        }
    }

    /// Judges what a reader keeps before it is asked for a finger. Where that is not what the
    /// credential is sealed to, the credential is destroyed and the wait ends: nobody shall touch
    /// in vain.
    func examine(
        _ contents: ReaderContents, of reader: String, _ account: Account,
        _ standing: AccountSnapshot,
        _ check: StorageCheck
    ) -> Bool {
        do throws(Denial) {
            try judge(contents, of: reader, account, standing, check)
            return true
        } catch {
            if check.denial == nil { check.denial = error }
            return false
        }
    }

    func judge(
        _ contents: ReaderContents, of reader: String, _ account: Account,
        _ standing: AccountSnapshot,
        _ check: StorageCheck
    ) throws(Denial) {
        try accounts.reading(account) {
            let own = try AccountStorage(standing.enrolment.prints)
            let recorded = standing.credential.storage
            let storage = try coverage.covered(
                contents, of: account.uid,
                own: own.prints(on: contents.storage(of: [])), recorded: recorded)
            let verdict = storage.verdict(against: recorded)
            check.keep(storage, verdict, of: reader)
            guard case .changed(let cause) = verdict else { return }
            guard try standing.kept.credential.state() == .issued(standing.credential) else {
                throw Denial(.badRequest)
            }
            // A change of fingers like any other: what was sealed to the old ones stays shut. First,
            // because after a crash the next login destroys the key, and nothing shuts the rest.
            try standing.kept.prints.commit(try standing.kept.prints.draft(removing: []))
            _ = try destroy(account, standing.kept, because: cause)
            throw Denial(.invalidated, cause: cause, since: accounts.instant.seconds)
        }
    }

    /// Seals the key to what was found on a reader of which nothing was recorded: it has just
    /// opened for a match there.
    func record(
        _ storage: [ReaderStorage], _ credential: FoundCredential, _ account: Account,
        _ kept: AccountState
    ) async {
        do throws(StoreFault) {
            let enrolment = try kept.prints.enrolment()
            guard try kept.credential.judgement(on: enrolment) == .issued(credential) else {
                return
            }
            let old = try kept.credential.context(of: credential, enrolment)
            let new = try kept.credential.context(of: credential, enrolment, covering: storage)
            let resealed: [UInt8]
            do throws(VaultError) {
                resealed = try await vaults.call(credential.vault) { vault throws(VaultError) in
                    try vault.reseal(key: credential.sealed, from: old, to: new)
                }
            } catch { throw .vault(error) }
            try kept.credential.keep(credential, resealed: resealed, covering: storage)
            journal.credential(of: account, "resealed", because: "a reader is covered now")
        } catch { journal.fault(error.description, account: account.name) }
    }
}
