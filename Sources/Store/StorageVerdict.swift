// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Vault

/// How what a reader keeps now compares with what a credential was sealed to.
package enum StorageVerdict: Equatable, Sendable {
    /// It is what was recorded.
    case same
    /// Nothing that speaks against it was recorded: the credential was made before anything was
    /// recorded of this reader, or, at `replacing`, without knowing which unit it is.
    case unrecorded(replacing: Int?)
    /// It is something else, and why.
    case changed(InvalidationCause)
}

extension ReaderStorage {
    /// Compares what a reader keeps now with what was recorded of all.
    ///
    /// Readers without serial numbers that are alike stand for each other.
    package func verdict(against recorded: [ReaderStorage]) -> StorageVerdict {
        if recorded.contains(self) { return .same }
        let alike = recorded.indices.filter { recorded[$0].isSameKind(as: self) }
        if alike.isEmpty { return .unrecorded(replacing: nil) }
        if let same = alike.first(where: { recorded[$0].isSameUnit(as: self) }) {
            return .changed(difference(from: recorded[same]))
        }
        // Recorded while no unit was there to be asked.
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
