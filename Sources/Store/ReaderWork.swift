// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Vault

/// Changes of readers' own storage that were begun; what a crash or an absent reader leaves undone
/// is done at the reader's next use.
package struct ReaderWork: Equatable, Sendable {
    /// What readers kept when an enrolment on them began: what is there beside it, and is nobody's,
    /// was left by that.
    package var enrolling: [ReaderStorage] = []
    /// Prints to delete, whichever reader of the kind keeps them.
    package private(set) var deleting: [ReaderStorage] = []

    /// Nothing to do.
    package init() {}

    /// Whether nothing is to be done.
    package var isEmpty: Bool { enrolling.isEmpty && deleting.isEmpty }

    /// The most readers on which an enrolment may be unfinished: those that were not seen again give way.
    private static let units = 8

    /// An enrolment begins on a reader that keeps these prints. Where one was cut short before and is not
    /// tidied up after, what that has left there stays among what is to be deleted.
    package mutating func begin(on storage: ReaderStorage) {
        var prints = Set(storage.prints)
        for older in enrolling where older.isSameUnit(as: storage) {
            prints.formIntersection(older.prints)
        }
        enrolling.removeAll { $0.isSameUnit(as: storage) }
        enrolling.append(
            ReaderStorage(
                driver: storage.driver, device: storage.device, serial: storage.serial,
                prints: prints))
        enrolling.removeFirst(max(0, enrolling.count - Self.units))
    }

    /// Adds prints to delete.
    package mutating func delete(_ storage: ReaderStorage) {
        change(storage) { $0.union(storage.prints) }
    }

    /// Takes prints out of those to delete.
    package mutating func deleted(_ storage: ReaderStorage) {
        change(storage) { $0.subtracting(storage.prints) }
    }

    private mutating func change(
        _ storage: ReaderStorage, _ body: (Set<[UInt8]>) -> Set<[UInt8]>
    ) {
        let before = deleting.first { $0.isSameKind(as: storage) }
        let after = body(Set(before?.prints ?? []))
        deleting.removeAll { $0.isSameKind(as: storage) }
        guard !after.isEmpty else { return }
        deleting.append(
            ReaderStorage(
                driver: storage.driver, device: storage.device, serial: nil, prints: after))
    }
}

/// The record `reader-work`.
struct ReaderWorkRecord: LineRecord, Equatable {
    static let cap = 1 << 19

    let enrolling: [ReaderStorage]
    let deleting: [ReaderStorage]

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-reader-work", number: 1)
        lines.put(storage: enrolling)
        lines.put(storage: deleting)
        return lines.text
    }

    init(enrolling: [ReaderStorage], deleting: [ReaderStorage]) {
        self.enrolling = enrolling
        self.deleting = deleting
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-reader-work")
        enrolling = try lines.storage()
        deleting = try lines.storage()
    }
}

extension StateDirectory {
    /// What is to be done on readers. A record that is damaged says nothing: then a print that was
    /// left is one that nobody knows.
    package func readerWork() throws(StoreFault) -> ReaderWork {
        var work = ReaderWork()
        do throws(StoreFault) {
            guard let record = try secrets.record(Self.workName, as: ReaderWorkRecord.self) else {
                return work
            }
            work.enrolling = record.enrolling
            for storage in record.deleting { work.delete(storage) }
        } catch {
            guard error.isAboutContent else { throw error }
        }
        return work
    }

    /// Writes durably what is to be done on readers.
    package func keep(_ work: ReaderWork) throws(StoreFault) {
        if work.isEmpty {
            return try files { () throws(FileFault) in try secrets.remove(Self.workName) }
        }
        guard ReaderStorage.isRecordable(work.enrolling),
            ReaderStorage.isRecordable(work.deleting)
        else { throw .tooManyStoredPrints }
        let record = ReaderWorkRecord(enrolling: work.enrolling, deleting: work.deleting)
        guard record.encoded().count <= ReaderWorkRecord.cap else { throw .tooManyStoredPrints }
        try secrets.keep(record, as: Self.workName)
    }

    private static let workName = "reader-work"
}
