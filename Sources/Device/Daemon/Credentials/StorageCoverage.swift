// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol
import Sealing
import State

/// Determines which prints on readers an account's credential covers.
///
/// It covers the account's own prints, and prints that belong to no account here: a foreign print
/// that appears or disappears invalidates the credential. Prints of other accounts are left out, so
/// that their enrolments do not affect this one. Throws `StoreFault.othersClosed` if other
/// accounts' prints cannot be read and the owner of a print therefore cannot be told.
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
    /// The part of a reader's contents that an account's credential covers.
    ///
    /// - Parameters:
    ///   - own: the account's own prints on this kind of reader.
    ///   - recorded: what the credential covered before; that stays covered as far as it is still
    ///     there.
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

    /// The reader contents that a newly issued credential covers.
    ///
    /// What was recorded before stays, without the prints that this change removes; `listed`
    /// replaces what was recorded for the same unit.
    ///
    /// - Parameter isVouched: whether the account's own prints also count on readers that cannot be
    ///   listed now, because the user has vouched with the password.
    func storage(
        after recorded: [ReaderStorage], now own: AccountStorage, removing gone: AccountStorage,
        listed: [ReaderStorage], isVouched: Bool = false
    ) -> [ReaderStorage] {
        var all = listed.filter(own.has)
        for reader in recorded where own.has(reader) {
            guard !listed.contains(where: { $0.isSameUnit(as: reader) }) else { continue }
            // It was recorded without a serial number, and is one of those listed now.
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

    /// All prints that readers store for accounts here.
    func ownedPrints() throws(StoreFault) -> Set<PrintDigest> {
        var all: Set<PrintDigest> = []
        for kept in try state.accounts() { all.formUnion(try storedPrints(of: kept)) }
        return all
    }

    /// Prints that are about to be deleted from a reader (`ReaderWork`).
    private func leftBehind(on listed: ReaderStorage) throws(StoreFault) -> Set<PrintDigest> {
        let work = try state.readerWork()
        var left = Set(work.deleting.filter { $0.isSameKind(as: listed) }.flatMap(\.prints))
        if let before = work.enrolling.first(where: { $0.isSameUnit(as: listed) }) {
            left.formUnion(Set(listed.prints).subtracting(before.prints))
        }
        return left
    }

    /// Which of these prints belong to other accounts.
    ///
    /// The owner that a hint names is tried first, so that this is fast even with a thousand
    /// accounts.
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
        // A damaged print may be the one on the reader, and is no reason to invalidate a
        // credential.
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

    /// The prints of an account other than the requested one. If they cannot be opened, throws
    /// `othersClosed`.
    func othersEnrolment(_ kept: AccountState) throws(StoreFault) -> Enrolment {
        do throws(StoreFault) {
            return try kept.prints.enrolment()
        } catch {
            guard case .closed(let why) = error else { throw error }
            throw .othersClosed(why.description)
        }
    }
}
