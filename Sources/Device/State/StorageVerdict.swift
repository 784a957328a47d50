// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Sealing

/// The result of comparing a reader's storage with what a credential was sealed to.
package enum StorageVerdict: Equatable, Sendable {
    /// The storage is as recorded.
    case same
    /// Nothing recorded contradicts it: the credential was created before anything was recorded of
    /// this reader or, at index `replacing`, without knowing which unit it was.
    case unrecorded(replacing: Int?)
    /// The storage has changed, for this reason.
    case changed(InvalidationCause)
}

extension ReaderStorage {
    /// Compares the present storage of a reader with the recorded storage of all readers.
    ///
    /// Readers of the same kind without serial numbers are treated as one unit.
    package func verdict(against recorded: [ReaderStorage]) -> StorageVerdict {
        if recorded.contains(self) { return .same }
        let alike = recorded.indices.filter { recorded[$0].isSameKind(as: self) }
        if alike.isEmpty { return .unrecorded(replacing: nil) }
        if let same = alike.first(where: { recorded[$0].isSameUnit(as: self) }) {
            return .changed(difference(from: recorded[same]))
        }
        // It was recorded while the unit was not present and its serial number unknown.
        guard let unknown = alike.first(where: { recorded[$0].serial == nil }) else {
            return .changed(.readerExchanged)
        }
        return recorded[unknown].prints == prints
            ? .unrecorded(replacing: unknown) : .changed(difference(from: recorded[unknown]))
    }

    private func difference(from before: ReaderStorage) -> InvalidationCause {
        let (old, new) = (Set(before.prints), Set(prints))
        if !old.isEmpty, !new.isEmpty, old.isDisjoint(with: new) { return .readerExchanged }
        return new.isSubset(of: old) ? .fingerRemovedOnReader : .fingerAddedOnReader
    }
}
