// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol
import Sealing
import State

/// Deletes prints from readers that store prints themselves, where Signet has left some behind.
///
/// An interrupted enrolment, or a deletion while the reader was away, leaves a print on the reader
/// that belongs to no finger. Intentions are recorded on disk (`ReaderWork`) before the reader or
/// the prints are changed, and carried out by `tidyReaders`.
@ServiceActor
final class ReaderUpkeep {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let coverage: StorageCoverage
    let templates: TemplateKeys

    init(
        journal: DecisionJournal, readers: ReaderPool, state: StateDirectory,
        coverage: StorageCoverage, templates: TemplateKeys
    ) {
        self.journal = journal
        self.readers = readers
        self.state = state
        self.coverage = coverage
        self.templates = templates
    }
}

extension ReaderUpkeep {
    /// Deletes what was left behind on the readers that are connected. The caller must have the
    /// turn. Failures are logged, and retried next time.
    func tidyReaders() async {
        do throws(StoreFault) {
            guard try !state.readerWork().isEmpty else { return }
            let present = await readers.listing()
            await templates.openAllTemplates()
            for reader in present {
                // Of two identical readers, it is not known which one is meant.
                guard present.count(where: { $0.identity == reader.identity }) == 1 else {
                    continue
                }
                try await tidy(reader)
            }
        } catch { journal.fault("cannot tidy readers: \(error)") }
    }

    private func tidy(_ reader: ReaderDescription) async throws(StoreFault) {
        let unit = ReaderStorage(
            driver: reader.driver, device: reader.deviceID, serial: reader.serial, prints: [])
        let work = try state.readerWork()
        let isEnrolling = work.enrolling.contains { $0.isSameUnit(as: unit) }
        let isDeleting = work.deleting.contains { $0.isSameKind(as: unit) }
        // A print that the reader cannot delete stays noted, and is not held against any
        // credential.
        guard isEnrolling || (isDeleting && reader.features.contains(.delete)) else { return }
        guard case .success(let contents) = await readers.list(reader) else {
            return journal.fault("cannot list what \(reader.id) keeps, to tidy it")
        }
        let owned = try coverage.ownedPrints()
        var left: [PrintDigest] = []
        for print in contents.prints {
            let digest = try print.identity.digest()
            guard work.isLeft(digest, on: unit), !owned.contains(digest) else { continue }
            if await !readers.delete(print, on: reader.id) { left.append(digest) }
        }
        // Others may have started something meanwhile, so the record is read again.
        var now = try state.readerWork()
        now.enrolling.removeAll { $0.isSameUnit(as: unit) }
        for done in work.deleting where done.isSameKind(as: unit) { now.deleted(done) }
        now.delete(contents.storage(of: left))
        try state.keep(now)
    }

    /// Records that prints are to be deleted from readers. Call this before they are deleted here.
    func noteDeletion(of prints: [State.StoredPrint]) throws(StoreFault) {
        let kinds = try AccountStorage(prints).kinds
        guard !kinds.isEmpty else { return }
        var work = try state.readerWork()
        for kind in kinds {
            work.delete(kind)
            for print in kind.prints { try? state.owners.remember(nil, asOwnerOf: print) }
        }
        try state.keep(work)
    }

    /// Records that a print was deleted from a reader that cannot list its contents.
    func noteDeleted(_ print: State.StoredPrint) {
        do throws(StoreFault) {
            var work = try state.readerWork()
            for kind in try AccountStorage([print]).kinds { work.deleted(kind) }
            try state.keep(work)
        } catch { journal.fault(error.description) }
    }

    /// Records what a reader stores before an enrolment on it; a print that is new later was left
    /// behind.
    func noteEnrolment(on contents: ReaderContents) throws(StoreFault) {
        var work = try state.readerWork()
        work.begin(on: try contents.storage())
        try state.keep(work)
    }

    /// Records that the print enrolled on a reader is on disk, so that it is not taken for a
    /// leftover.
    func noteEnrolled(on contents: ReaderContents) throws(StoreFault) {
        let unit = contents.storage(of: [])
        var work = try state.readerWork()
        work.enrolling.removeAll { $0.isSameUnit(as: unit) }
        try state.keep(work)
    }
}

extension ReaderWork {
    /// Whether a print that a reader stores was left behind there.
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
