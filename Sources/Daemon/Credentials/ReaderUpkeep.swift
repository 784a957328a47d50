// SPDX-License-Identifier: Apache-2.0
import Loop
import ReaderProtocol
import Store
import Vault

/// Prints that an interrupted enrolment, or a deletion without the reader, left on readers: they are
/// deleted there, or they would stand as fingers that nobody knows.
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
    /// Does what is to be done on readers, as far as they are there. The caller has the turn.
    func tidyReaders() async {
        do throws(StoreFault) {
            guard try !state.readerWork().isEmpty else { return }
            let present = await readers.listing()
            await templates.openAllTemplates()
            for reader in present {
                // Which of two that cannot be told apart is meant, nobody knows.
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
        // What a reader cannot delete stays noted, and so stands against nobody.
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
        // Others may have begun something meanwhile.
        var now = try state.readerWork()
        now.enrolling.removeAll { $0.isSameUnit(as: unit) }
        for done in work.deleting where done.isSameKind(as: unit) { now.deleted(done) }
        now.delete(contents.storage(of: left))
        try state.keep(now)
    }

    /// Notes that prints are to be deleted from readers, before they stop counting here.
    func noteDeletion(of prints: [Store.StoredPrint]) throws(StoreFault) {
        let kinds = try AccountStorage(prints).kinds
        guard !kinds.isEmpty else { return }
        var work = try state.readerWork()
        for kind in kinds {
            work.delete(kind)
            for print in kind.prints { try? state.owners.remember(nil, asOwnerOf: print) }
        }
        try state.keep(work)
    }

    /// Notes that a print was deleted from a reader that does not list what it keeps.
    func noteDeleted(_ print: Store.StoredPrint) {
        do throws(StoreFault) {
            var work = try state.readerWork()
            for kind in try AccountStorage([print]).kinds { work.deleted(kind) }
            try state.keep(work)
        } catch { journal.fault(error.description) }
    }

    /// Notes what a reader keeps before an enrolment on it.
    func noteEnrolment(on contents: ReaderContents) throws(StoreFault) {
        var work = try state.readerWork()
        work.begin(on: try contents.storage())
        try state.keep(work)
    }

    /// Notes that what was enrolled on a reader is on disk.
    func noteEnrolled(on contents: ReaderContents) throws(StoreFault) {
        let unit = contents.storage(of: [])
        var work = try state.readerWork()
        work.enrolling.removeAll { $0.isSameUnit(as: unit) }
        try state.keep(work)
    }
}

extension ReaderWork {
    /// Whether a print that a reader keeps was left there.
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
