// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing
import SignedFormats

/// Pending changes of readers' own storage.
///
/// Work that a crash or an absent reader leaves unfinished is completed when the reader is next
/// used.
package struct ReaderWork: Equatable, Sendable {
    /// The contents of readers at the start of an enrolment.
    ///
    /// A print that is on the reader, not in these contents, and not owned by any account is left
    /// over from the interrupted enrolment.
    package var enrolling: [ReaderStorage] = []
    /// Prints to delete from any reader of the given kind.
    package private(set) var deleting: [ReaderStorage] = []

    /// Creates an empty list.
    package init() {}

    /// Whether nothing is pending.
    package var isEmpty: Bool { enrolling.isEmpty && deleting.isEmpty }

    /// The maximum number of readers with an unfinished enrolment.
    ///
    /// The oldest entries are dropped.
    private static let units = 8

    /// Records the start of an enrolment on a reader that stores these prints.
    ///
    /// If an earlier enrolment on the same unit was interrupted and not cleaned up, only prints
    /// that were there before both are recorded, so that its leftovers are still deleted.
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

    /// Adds prints to those to delete.
    package mutating func delete(_ storage: ReaderStorage) {
        change(storage) { $0.union(storage.prints) }
    }

    /// Removes prints, which have been deleted, from those to delete.
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

/// The record `reader-work`: the contents at the start of enrolments, and the prints to delete.
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
    /// Returns the pending work.
    ///
    /// A damaged record counts as empty, in which case a leftover print is treated as one that does
    /// not belong to Signet.
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

    /// Stores the pending work durably.
    ///
    /// Throws `.tooManyStoredPrints` if it exceeds the record's limits.
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
