// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Sealing

/// The result of comparing a reader's storage with what a credential was sealed to.
package enum StorageVerdict: Equatable, Sendable {
    /// The storage is exactly as recorded.
    case same
    /// Nothing recorded contradicts it.
    ///
    /// Either nothing was recorded for this reader when the credential was created, or the entry at
    /// index `replacing` holds the same prints without a serial number.
    case unrecorded(replacing: Int?)
    /// The storage has changed, for this reason.
    case changed(InvalidationCause)
}

extension ReaderStorage {
    /// Compares the present storage of a reader with the storage that was recorded for all readers.
    ///
    /// Readers of the same kind without serial numbers are treated as one unit. A reader that has a
    /// serial number matches an entry without one only if the prints are the same.
    package func verdict(against recorded: [ReaderStorage]) -> StorageVerdict {
        if recorded.contains(self) { return .same }
        let alike = recorded.indices.filter { recorded[$0].isSameKind(as: self) }
        if alike.isEmpty { return .unrecorded(replacing: nil) }
        if let same = alike.first(where: { recorded[$0].isSameUnit(as: self) }) {
            return .changed(difference(from: recorded[same]))
        }
        // An entry without a serial number was recorded while the unit was not present.
        guard let unknown = alike.first(where: { recorded[$0].serial == nil }) else {
            return .changed(.readerExchanged)
        }
        return recorded[unknown].prints == prints
            ? .unrecorded(replacing: unknown) : .changed(difference(from: recorded[unknown]))
    }

    /// Returns the reason to report for two different contents of one unit.
    ///
    /// If both had prints and have none in common, another reader is assumed.
    private func difference(from before: ReaderStorage) -> InvalidationCause {
        let (old, new) = (Set(before.prints), Set(prints))
        if !old.isEmpty, !new.isEmpty, old.isDisjoint(with: new) { return .readerExchanged }
        return new.isSubset(of: old) ? .fingerRemovedOnReader : .fingerAddedOnReader
    }
}
