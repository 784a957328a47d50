// SPDX-License-Identifier: Apache-2.0
import Loop
import ReaderProtocol
import Store
import Vault

/// What readers keep, as far as an account's enrolment state covers it: its own prints, and those
/// that no account has. What others enrol does not concern it.
@ServiceActor
final class StorageCoverage {
    let state: StateDirectory

    init(
        state: StateDirectory
    ) {
        self.state = state
    }
}

extension StorageCoverage {
    /// What is covered of a reader's list. `recorded` is covered already, as far as it is there.
    func covered(
        _ contents: ReaderContents, of uid: UInt32, own: Set<PrintDigest>,
        recorded: [ReaderStorage]
    ) throws(StoreFault) -> ReaderStorage {
        let listed = try contents.storage()
        let known = recorded.filter { $0.isSameKind(as: listed) }
            .reduce(into: own) { $0.formUnion($1.prints) }
        let unknown = Set(listed.prints).subtracting(known)
        guard !unknown.isEmpty else { return listed }
        let left = try leftBehind(on: listed)
        let others = try ownedByOthers(unknown.subtracting(left), than: uid)
        return contents.storage(
            of: Set(listed.prints).subtracting(left.subtracting(known)).subtracting(others))
    }

    /// What an issued credential covers from now on.
    ///
    /// What was recorded stays, without what is gone by this change; `listed` takes the place of
    /// what was recorded of the same unit. With `isVouched` whoever gave the password answers for
    /// what cannot be listed now: the account's own prints.
    func storage(
        after recorded: [ReaderStorage], now own: AccountStorage, removing gone: AccountStorage,
        listed: [ReaderStorage], isVouched: Bool = false
    ) -> [ReaderStorage] {
        var all = listed.filter(own.has)
        for reader in recorded where own.has(reader) {
            guard !listed.contains(where: { $0.isSameUnit(as: reader) }) else { continue }
            // A unit that was not known then is one that is listed now.
            if reader.serial == nil, listed.contains(where: { $0.isSameKind(as: reader) }) {
                continue
            }
            all.append(
                ReaderStorage(
                    driver: reader.driver, device: reader.device, serial: reader.serial,
                    prints: Set(reader.prints).subtracting(gone.prints(on: reader))))
        }
        guard isVouched else { return all }
        for kind in own.kinds where !all.contains(where: { $0.isSameKind(as: kind) }) {
            all.append(kind)
        }
        return all
    }

    /// All prints that readers keep for accounts here.
    func ownedPrints() throws(StoreFault) -> Set<PrintDigest> {
        var all: Set<PrintDigest> = []
        for kept in try state.accounts() { all.formUnion(try storedPrints(of: kept)) }
        return all
    }

    /// Prints of work that is to be done on a reader: they are on their way out.
    private func leftBehind(on listed: ReaderStorage) throws(StoreFault) -> Set<PrintDigest> {
        let work = try state.readerWork()
        var left = Set(work.deleting.filter { $0.isSameKind(as: listed) }.flatMap(\.prints))
        if let before = work.enrolling.first(where: { $0.isSameUnit(as: listed) }) {
            left.formUnion(Set(listed.prints).subtracting(before.prints))
        }
        return left
    }

    /// Which of these prints are another account's. One that a hint names is asked first, so that
    /// this takes no longer with a thousand accounts.
    private func ownedByOthers(
        _ prints: Set<PrintDigest>, than uid: UInt32
    ) throws(StoreFault) -> Set<PrintDigest> {
        var left = prints
        var found: Set<PrintDigest> = []
        for hinted in Set(prints.compactMap(state.owners.hint)) where hinted != uid {
            guard let kept = try? state.account(uid: hinted) else { continue }
            found.formUnion(left.intersection(try storedPrints(of: kept)))
        }
        left.subtract(found)
        guard !left.isEmpty else { return found }
        var hasDamaged = false
        for kept in try state.accounts() where kept.uid != uid {
            let enrolment = try othersEnrolment(kept)
            let theirs = left.intersection(try storedPrints(in: enrolment))
            for print in theirs { try? state.owners.remember(kept.uid, asOwnerOf: print) }
            found.formUnion(theirs)
            if !enrolment.damaged.isEmpty { hasDamaged = true }
        }
        // One that does not open may be what the reader keeps: no reason to end anybody's login.
        guard !hasDamaged || found.isSuperset(of: prints) else {
            throw .othersClosed("one is damaged")
        }
        return found
    }

    private func storedPrints(of kept: AccountState) throws(StoreFault) -> Set<PrintDigest> {
        try storedPrints(in: try othersEnrolment(kept))
    }

    private func storedPrints(in enrolment: Enrolment) throws(StoreFault) -> Set<PrintDigest> {
        Set(try AccountStorage(enrolment.prints).kinds.flatMap(\.prints))
    }

    /// The prints of an account that is not the one asked about: that they are closed is told as such.
    func othersEnrolment(_ kept: AccountState) throws(StoreFault) -> Enrolment {
        do throws(StoreFault) {
            return try kept.prints.enrolment()
        } catch {
            guard case .closed(let why) = error else { throw error }
            throw .othersClosed(why.description)
        }
    }
}
