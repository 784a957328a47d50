// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

/// A prepared change of an account's prints, with the new template sealed but nothing written yet.
///
/// It exists only in memory; discarding it leaves nothing on disk.
package struct PrintChange: Sendable {
    /// The prints after the change, with the state that a credential for them must be sealed to.
    package let enrolment: Enrolment
    /// The prints that the change removes, as far as they could be opened.
    package let removed: [StoredPrint]

    fileprivate let added: SealedPrint?
    fileprivate let before: AccountFile
    fileprivate let after: AccountFile
}

/// A new print and the record of its future file.
private struct SealedPrint {
    let print: StoredPrint
    let file: PrintRecord
}

extension PrintStore {
    /// Drafts a new print, which replaces any older one of the same finger, even a damaged one.
    ///
    /// Seals the template with a key that is open, and wipes `template` in any case.
    ///
    /// - Throws: `.tooManyPrints`, `.readerNameTooLong`; `.vault` if the new print's key is not
    ///   open; `.closed` if the key of an existing print is not open.
    package func draft(
        adding template: inout [UInt8], finger: Finger, reader: [UInt8],
        sealedWith key: TemplateKeyID = .host, now: Instant
    ) throws(StoreFault) -> PrintChange {
        defer { wipe(&template) }
        return try draft(
            adding: &template, as: try random(), finger: finger, reader: reader,
            sealedWith: key, now: now)
    }

    func draft(
        adding template: inout [UInt8], as identifier: PrintID, finger: Finger, reader: [UInt8],
        sealedWith key: TemplateKeyID, now: Instant
    ) throws(StoreFault) -> PrintChange {
        let new = try seal(
            &template, identifier: identifier, finger: finger, reader: reader, added: now, with: key
        )
        return try draft(from: account.record(), adding: new) { $0.finger == finger }
    }

    /// Drafts the removal of prints, intact or damaged, by their ids.
    ///
    /// Throws `.unknownPrint` if one of them is not listed. An empty list drafts a change that only
    /// increases the generation.
    package func draft(removing identifiers: [PrintID]) throws(StoreFault) -> PrintChange {
        let record = try account.record()
        let listed = record.prints.map(\.identifier)
        guard identifiers.allSatisfy(listed.contains) else { throw .unknownPrint }
        return try draft(from: record, adding: nil) { identifiers.contains($0.identifier) }
    }

    /// Drafts the removal of all prints, including those that cannot be opened now.
    ///
    /// Prints that cannot be opened are missing from `removed`.
    package func draftRemovingAll() throws(StoreFault) -> PrintChange {
        let record = try account.record()
        let next = try account.changed(record, to: [])
        var removed: [StoredPrint] = []
        for listed in record.prints {
            if case .intact(let print) = try? load(listed.identifier) { removed.append(print) }
        }
        return PrintChange(
            enrolment: try Enrolment(generation: next.generation, prints: [], damaged: []),
            removed: removed, added: nil, before: record, after: next)
    }

    /// Makes a change effective, by writing the record `account`.
    ///
    /// After a return the change is on disk. After an error, or a crash at any point, either the
    /// old prints are in effect or the new ones. Throws `.changedMeanwhile`, with nothing changed,
    /// if there was another change since the draft.
    package func commit(_ change: PrintChange) throws(StoreFault) {
        try check(change)
        if let added = change.added {
            let name = ListedPrint.fileName(added.print.identifier)
            try account.makePrintsDirectory().keep(added.file, as: name)
        }
        try account.keep(change.after)
        removeUnlisted(by: change.after)
    }

    /// Throws `.changedMeanwhile` if there was another change since the draft, or if the new
    /// print's template key is gone.
    func check(_ change: PrintChange) throws(StoreFault) {
        guard try account.record() == change.before else { throw .changedMeanwhile }
        // The key was open at the time of the draft, but may have been removed with the last print
        // that used it.
        if let key = change.added?.file.key, (try? account.templates.seal(key)) == nil {
            throw .changedMeanwhile
        }
    }

    private func seal(
        _ template: inout [UInt8], identifier: PrintID, finger: Finger, reader: [UInt8],
        added: Instant, with key: TemplateKeyID
    ) throws(StoreFault) -> SealedPrint {
        defer { wipe(&template) }
        guard reader.count <= PrintRecord.readerLimit else { throw .readerNameTooLong }
        let secret: SecretBytes
        do throws(SystemFault) {
            secret = try SecretBytes(moving: &template)
        } catch { throw .file(.system(error)) }
        let context = context(identifier, finger: finger, reader: reader)
        return try sealed { () throws(VaultError) in
            let file = PrintRecord(
                finger: finger, reader: reader, added: added, key: key,
                sealed: try account.templates.seal(key).seal(secret, context: context))
            return SealedPrint(
                print: try StoredPrint(identifier, record: file, secret: secret), file: file)
        }
    }

    private func draft(
        from record: AccountFile, adding new: SealedPrint?,
        removing isRemoved: (ListedPrint) -> Bool
    ) throws(StoreFault) -> PrintChange {
        let now = try enrolment(record)
        var after = record.prints.filter { !isRemoved($0) }
        let stay = Set(after.map(\.identifier))
        if let print = new?.print {
            guard after.count < Self.limit else { throw .tooManyPrints }
            after.append(ListedPrint(identifier: print.identifier, finger: print.finger))
        }
        let next = try account.changed(record, to: after)
        let prints = now.prints.filter { stay.contains($0.identifier) }
        return PrintChange(
            enrolment: try Enrolment(
                generation: next.generation, prints: prints + [new?.print].compactMap(\.self),
                damaged: now.damaged.filter { stay.contains($0.identifier) }),
            removed: now.prints.filter { !stay.contains($0.identifier) },
            added: new, before: record, after: next)
    }
}
