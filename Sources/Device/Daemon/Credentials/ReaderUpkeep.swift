// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol
import Sealing
import State

/// Deletes prints that Signet has left behind on readers which store prints themselves.
///
/// An interrupted enrolment, or a deletion while the reader was unplugged, leaves a print on the
/// reader that belongs to no finger. To find it again, the intention is recorded on disk
/// (`ReaderWork`) before the reader or the prints are changed; `tidyReaders` carries it out when a
/// request has the turn.
///
/// A print is deleted only if it belongs to no account and either was recorded for deletion or
/// appeared on the reader after an interrupted enrolment had begun. Other foreign prints, such as
/// those of another operating system, stay.
@ServiceActor
final class ReaderUpkeep {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener

    init(
        journal: DecisionJournal, readers: ReaderPool, state: StateDirectory,
        coverage: StorageCoverage, templates: TemplateKeyOpener
    ) {
        self.journal = journal
        self.readers = readers
        self.state = state
        self.coverage = coverage
        self.templates = templates
    }
}

extension ReaderUpkeep {
    /// Deletes what was left behind on the readers that are connected.
    ///
    /// The caller must have the turn, since a reader does one thing at a time. Of several identical
    /// readers, none is tidied, because the records do not tell which one is meant. Failures are
    /// logged, and the work is tried again with the next turn.
    func tidyReaders() async {
        do throws(StoreFault) {
            guard try !state.readerWork().isEmpty else { return }
            let present = await readers.listing()
            await templates.openAllTemplates()
            for reader in present {
                // Two identical readers cannot be told apart in the records.
                guard present.count(where: { $0.identity == reader.identity }) == 1 else {
                    continue
                }
                try await tidy(reader)
            }
        } catch { journal.fault("leftover prints on readers could not be deleted: \(error)") }
    }

    /// Deletes what was left behind on one reader, and removes from the record what is done.
    ///
    /// A print that the reader fails to delete is recorded for deletion.
    private func tidy(_ reader: ReaderDescription) async throws(StoreFault) {
        let unit = ReaderStorage(
            driver: reader.driver, device: reader.deviceID, serial: reader.serial, prints: [])
        let work = try state.readerWork()
        let isEnrolling = work.enrolling.contains { $0.isSameUnit(as: unit) }
        let isDeleting = work.deleting.contains { $0.isSameKind(as: unit) }
        // A print that the reader cannot delete stays recorded, so that it invalidates no
        // credential.
        guard isEnrolling || (isDeleting && reader.features.contains(.delete)) else { return }
        guard case .success(let contents) = await readers.list(reader) else {
            return journal.fault("leftover prints on \(reader.id) could not be listed")
        }
        let owned = try coverage.ownedPrints()
        var left: [PrintDigest] = []
        for print in contents.prints {
            let digest = try print.identity.digest()
            guard work.isLeft(digest, on: unit), !owned.contains(digest) else { continue }
            if await !readers.delete(print, on: reader.id) { left.append(digest) }
        }
        // Another request may have recorded work meanwhile, so read the record again.
        var now = try state.readerWork()
        now.enrolling.removeAll { $0.isSameUnit(as: unit) }
        for done in work.deleting where done.isSameKind(as: unit) { now.deleted(done) }
        now.delete(contents.storage(of: left))
        try state.keep(now)
    }

    /// Records that prints are to be deleted from readers, and forgets their owners.
    ///
    /// Call this before the prints are deleted from the account: after a crash in between, prints
    /// that still belong to an account are not deleted from the reader. Prints that readers do not
    /// store are ignored.
    func noteDeletion(of prints: [StoredPrint]) throws(StoreFault) {
        let kinds = try AccountStorage(prints).kinds
        guard !kinds.isEmpty else { return }
        var work = try state.readerWork()
        for kind in kinds {
            work.delete(kind)
            for print in kind.prints { try? state.owners.remember(nil, asOwnerOf: print) }
        }
        try state.keep(work)
    }

    /// Records that a print was deleted from a reader, so that it is not deleted again.
    ///
    /// Meant for readers that cannot list their contents, which `tidyReaders` passes over. A
    /// failure is logged.
    func noteDeleted(_ print: StoredPrint) {
        do throws(StoreFault) {
            var work = try state.readerWork()
            for kind in try AccountStorage([print]).kinds { work.deleted(kind) }
            try state.keep(work)
        } catch { journal.fault(error.description) }
    }

    /// Whether a print is recorded for deletion from a reader; true if the record cannot be read.
    func isToBeDeleted(_ print: StoredPrint) -> Bool {
        do throws(StoreFault) {
            let work = try state.readerWork()
            return try AccountStorage([print]).kinds.contains { kind in
                work.deleting.contains {
                    $0.isSameKind(as: kind) && !Set($0.prints).isDisjoint(with: kind.prints)
                }
            }
        } catch {
            journal.fault(error.description)
            return true
        }
    }

    /// Records what a reader stores just before an enrolment on it.
    ///
    /// A print that appears there later and belongs to no account was left behind by this
    /// enrolment.
    func noteEnrolment(on contents: ReaderContents) throws(StoreFault) {
        var work = try state.readerWork()
        work.begin(on: try contents.storage())
        try state.keep(work)
    }

    /// Records that the enrolment on a reader is complete.
    ///
    /// Call this once the new print is on disk here, so that it is not taken for a leftover.
    func noteEnrolled(on contents: ReaderContents) throws(StoreFault) {
        let unit = contents.storage(of: [])
        var work = try state.readerWork()
        work.enrolling.removeAll { $0.isSameUnit(as: unit) }
        try state.keep(work)
    }
}

extension ReaderWork {
    /// Whether the records say that a print on a reader was left behind there.
    ///
    /// The print may belong to an account nevertheless; the caller must check that.
    fileprivate func isLeft(_ print: PrintDigest, on unit: ReaderStorage) -> Bool {
        let isDeleted = deleting.contains {
            $0.isSameKind(as: unit) && $0.prints.contains(print)
        }
        let isNew = enrolling.contains {
            $0.isSameUnit(as: unit) && !$0.prints.contains(print)
        }
        return isDeleted || isNew
    }
}
