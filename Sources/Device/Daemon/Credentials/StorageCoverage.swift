// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol
import Sealing
import State

/// Determines which of the prints on a reader an account's credential covers.
///
/// It covers the account's own prints, and prints that belong to no account on this machine: a
/// foreign print that appears or disappears invalidates the credential, because it may be a finger
/// that an attacker has added. Prints of other accounts and prints that Signet is about to delete
/// are left out, so that enrolling and deleting them does not affect this credential.
///
/// Throws `StoreFault.othersClosed` if the owner of a print cannot be determined, because the
/// prints of other accounts cannot be opened or one of them is damaged.
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
    /// Returns the part of a reader's contents that an account's credential covers.
    ///
    /// - Parameters:
    ///   - contents: all prints that the reader has just listed.
    ///   - own: the account's own prints on this kind of reader.
    ///   - recorded: what the credential covered before; those prints stay covered while the reader
    ///     still stores them.
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

    /// Returns the reader contents that a newly issued credential covers.
    ///
    /// The contents recorded before stay, without the prints that this change removes; `listed`
    /// replaces those recorded for the same unit. Readers on which the account has no print are
    /// left out.
    ///
    /// - Parameters:
    ///   - recorded: the contents that the former credential covered.
    ///   - own: the account's prints on readers after the change.
    ///   - gone: the account's prints that the change removes.
    ///   - listed: the covered contents of the readers that were listed for this change.
    ///   - isVouched: whether the account's own prints also count on readers that cannot be listed
    ///     now, because the user has vouched for them with the password.
    func storage(
        after recorded: [ReaderStorage], now own: AccountStorage, removing gone: AccountStorage,
        listed: [ReaderStorage], isVouched: Bool = false
    ) -> [ReaderStorage] {
        var all = listed.filter(own.has)
        for reader in recorded where own.has(reader) {
            guard !listed.contains(where: { $0.isSameUnit(as: reader) }) else { continue }
            // It was recorded without a serial number, so it must be one of the units listed now.
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

    /// Returns the SHA-256 digests of all prints that readers store for accounts on this machine.
    func ownedPrints() throws(StoreFault) -> Set<PrintDigest> {
        var all: Set<PrintDigest> = []
        for kept in try state.accounts() { all.formUnion(try storedPrints(of: kept)) }
        return all
    }

    /// Returns the prints that are about to be deleted from a reader, or that an interrupted
    /// enrolment has left there.
    private func leftBehind(on listed: ReaderStorage) throws(StoreFault) -> Set<PrintDigest> {
        let work = try state.readerWork()
        var left = Set(work.deleting.filter { $0.isSameKind(as: listed) }.flatMap(\.prints))
        if let before = work.enrolling.first(where: { $0.isSameUnit(as: listed) }) {
            left.formUnion(Set(listed.prints).subtracting(before.prints))
        }
        return left
    }

    /// Returns those of the prints that belong to other accounts.
    ///
    /// The owners that the hints name are searched first (`PrintOwners`), so that this is fast even
    /// with a thousand accounts. A hint is only believed if the account's own prints confirm it.
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
        // A damaged print may be the one on the reader, which is no reason to invalidate a
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

    /// Returns the prints of an account other than the one that the request is about.
    ///
    /// Throws `othersClosed` instead of `closed` if they cannot be opened, so that the denial does
    /// not seem to be about the requested account.
    func othersEnrolment(_ kept: AccountState) throws(StoreFault) -> Enrolment {
        do throws(StoreFault) {
            return try kept.prints.enrolment()
        } catch {
            guard case .closed(let why) = error else { throw error }
            throw .othersClosed(why.description)
        }
    }
}
