// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store

/// Fingers taken over from fprintd: an enrolment without a scan, on the account's own password.
///
/// What vouches for them is that password, given just now, and that only root can write in fprintd's
/// store. It is left as it was.
@ServiceActor
final class PrintImport {
    let fprintd: FprintdStore
    let journal: DecisionJournal
    let readers: ReaderPool
    let settings: Configuration
    let state: StateDirectory
    let accounts: Accounts
    let credentials: Credentials
    let changes: FingerChanges
    let fingers: Fingers
    let upkeep: ReaderUpkeep
    let coverage: StorageCoverage
    let templates: TemplateKeys
    let touches: Touches

    init(
        fprintd: FprintdStore, journal: DecisionJournal, readers: ReaderPool,
        settings: Configuration, state: StateDirectory, accounts: Accounts,
        credentials: Credentials, changes: FingerChanges, fingers: Fingers, upkeep: ReaderUpkeep,
        coverage: StorageCoverage, templates: TemplateKeys, touches: Touches
    ) {
        self.fprintd = fprintd
        self.journal = journal
        self.readers = readers
        self.settings = settings
        self.state = state
        self.accounts = accounts
        self.credentials = credentials
        self.changes = changes
        self.fingers = fingers
        self.upkeep = upkeep
        self.coverage = coverage
        self.templates = templates
        self.touches = touches
    }
}

extension PrintImport {
    /// Takes over an account's prints of fprintd, each in one durable step, and tells what became of
    /// each file. One that cannot be taken over keeps none of the others back.
    func importPrints(
        of account: Account, _ password: VerifiedPassword?, _ client: any Client
    ) async throws(Denial) -> Answer {
        let turn = try await touches.upkeepTurn("signet import-fprintd", account, client)
        defer { withExtendedLifetime(turn) {} }
        // All accounts' prints are compared with those that come.
        await templates.openAllTemplates()
        await upkeep.tidyReaders()
        let entries: [FprintdStore.Entry]
        do throws(FileFault) {
            entries = try fprintd.entries(of: account.name)
        } catch { throw accounts.denial(for: .file(error), account) }
        var takeover = Takeover(account: account, password: password)
        for entry in entries where !Task.isCancelled {
            let answer = try await take(entry, &takeover)
            takeover.count(answer.outcome)
            await client.send(.importedPrint(answer))
        }
        return try end(takeover)
    }

    /// Shows what there is to take over, and since when, before the password is asked for.
    ///
    /// The store goes by names: what it has may be a former account's, and who gives the password
    /// has to be able to see that. It is no more than the account may list once it is taken over.
    func showImport(of account: Account, _ client: any Client) async {
        guard client.peer.uid != 0, let entries = try? fprintd.entries(of: account.name) else {
            return
        }
        for case .file(let file) in entries {
            await client.send(.importedPrint(file.answer(nil)))
        }
    }

    /// What one import has come to.
    private struct Takeover {
        let account: Account
        let password: VerifiedPassword?
        /// What the readers keep that were asked for it.
        var contents: [String: Result<ReaderContents, ReaderFault>] = [:]
        /// What other accounts have, once it was needed.
        var others: Set<PrintIdentity>?
        var imported = 0
        var refused = 0
        /// What the last change came to, and how many secrets the first one ended.
        var done: DoneAnswer?
        var endedSecrets: UInt32?

        mutating func count(_ outcome: ImportOutcome?) {
            if outcome == .imported {
                imported += 1
            } else if outcome != .known {
                refused += 1
            }
        }
    }

    private func end(_ takeover: Takeover) throws(Denial) -> Answer {
        let account = takeover.account
        if takeover.imported + takeover.refused > 0 {
            journal.service(
                """
                fprintd's prints of \(account.name): \(takeover.imported) taken over, \
                \(takeover.refused) not
                """)
        }
        // What was taken over before it was taken back stays, and is told.
        if Task.isCancelled, takeover.imported == 0 { throw Denial(.cancelled) }
        if var done = takeover.done {
            done.finger = nil
            done.secrets = takeover.endedSecrets
            return .done(done)
        }
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else {
                return .done(DoneAnswer(prints: 0, state: CommandProtocol.CredentialState.none))
            }
            let enrolment = try kept.prints.enrolment()
            let state = try kept.credential.judgement(on: enrolment)
            return .done(DoneAnswer(prints: enrolment.count, state: state.onTheWire))
        }
    }

    /// Takes over one entry, if it can be; a denial ends the whole request.
    private func take(
        _ entry: FprintdStore.Entry, _ takeover: inout Takeover
    ) async throws(Denial) -> ImportedPrintAnswer {
        let file: FprintdFile
        switch entry {
        case .refused(let answer): return answer
        case .file(let found): file = found
        }
        let template: Template
        switch file.print(for: takeover.account.name) {
        case .refused(let outcome, let subject):
            return file.answer(outcome, subject: subject)
        case .print(let found): template = found
        }
        let outcome = try accounts.reading(takeover.account) { () throws(StoreFault) in
            try obstacle(to: template, &takeover)
        }
        if let outcome { return file.answer(outcome) }
        switch await place(of: template, &takeover) {
        case .nowhere(let outcome, let subject): return file.answer(outcome, subject: subject)
        case .reader(let reader, let contents):
            let done = try await keep(template, on: reader, contents, takeover)
            takeover.done = done
            takeover.endedSecrets = takeover.endedSecrets ?? done.secrets
            return file.answer(.imported)
        }
    }

    /// What of that which is enrolled speaks against a print; nil if nothing does.
    ///
    /// Not counted as an enrolment's comparison is: nobody is scanned. It finds the same print, byte
    /// for byte, which only root could have put among the account's files.
    private func obstacle(
        to template: Template, _ takeover: inout Takeover
    ) throws(StoreFault) -> ImportOutcome? {
        let enrolment = try fingers.keptForEnrolment(takeover.account)?.prints.enrolment()
        let own = enrolment?.prints ?? []
        if let same = own.first(where: { $0.identity == template.identity }) {
            return same.finger == template.finger ? .known : .duplicate
        }
        let damaged = enrolment?.damaged ?? []
        if own.contains(where: { $0.finger == template.finger })
            || damaged.contains(where: { $0.finger == template.finger })
        {
            return .fingerKnown
        }
        let others: Set<PrintIdentity>
        if let found = takeover.others {
            others = found
        } else {
            others = try identities(ofOthersThan: takeover.account.uid)
            takeover.others = others
        }
        if others.contains(template.identity) { return .fingerTaken }
        return own.count >= settings.count(Settings.fingers) ? .full : nil
    }

    private func identities(ofOthersThan uid: UInt32) throws(StoreFault) -> Set<PrintIdentity> {
        var found: Set<PrintIdentity> = []
        for kept in try state.accounts() where kept.uid != uid {
            found.formUnion(try coverage.othersEnrolment(kept).prints.compactMap(\.identity))
        }
        return found
    }

    /// Where a print is good.
    private enum Place {
        /// On this reader, which keeps that beside it, where it keeps prints itself.
        case reader(ReaderDescription, ReaderContents?)
        case nowhere(ImportOutcome, subject: Bytes? = nil)
    }

    private func place(of template: Template, _ takeover: inout Takeover) async -> Place {
        let fitting = await readers.found(for: template)
        guard let first = fitting.first else { return .nowhere(.noReader) }
        do throws(ReaderFault) {
            guard try await readers.canUse(template, on: first.id) else {
                return .nowhere(.malformed)
            }
        } catch {
            // It went as it was found.
            return error == .noReader
                ? .nowhere(.noReader) : .nowhere(.readerFailed, subject: Denial(of: error).subject)
        }
        guard template.isStoredOnReader || first.features.contains(.storage) else {
            return .reader(first, nil)
        }
        var trouble: Place?
        for reader in fitting where reader.features.contains(.list) {
            let listed: Result<ReaderContents, ReaderFault>
            if let known = takeover.contents[reader.id] {
                listed = known
            } else {
                listed = await readers.list(reader)
                takeover.contents[reader.id] = listed
            }
            switch listed {
            case .success(let contents):
                if contents.prints.contains(where: { $0.isSame(as: template) }) {
                    return .reader(reader, contents)
                }
            case .failure(.removed), .failure(.noReader): trouble = .nowhere(.noReader)
            case .failure(let fault):
                trouble = .nowhere(.readerFailed, subject: Denial(of: fault).subject)
            }
        }
        return trouble ?? .nowhere(.notOnReader)
    }

    /// Enrols a print; it never takes the place of another. Whatever comes of it, the reader keeps
    /// what it keeps.
    private func keep(
        _ template: Template, on reader: ReaderDescription, _ contents: ReaderContents?,
        _ takeover: Takeover
    ) async throws(Denial) -> DoneAnswer {
        let account = takeover.account
        defer { rememberOwner(of: template, keptWith: contents, account) }
        return try await accounts.answering(account) {
            if let contents { try credentials.judge(contents, account) }
            let key = try await templates.sealingKey(of: account)
            let kept = try state.makeAccount(
                Bytes(account.name.utf8), uid: account.uid, now: accounts.instant)
            var bytes = template.bytes
            let change = try kept.prints.draft(
                adding: &bytes, finger: template.finger, reader: Bytes(reader.id.utf8),
                sealedWith: key, now: accounts.instant)
            guard change.removed.isEmpty else { throw StoreFault.changedMeanwhile }
            return try await changes.make(
                change, account, kept, from: try kept.prints.enrolment(), template.finger,
                contents, takeover.password, because: "a finger was taken over from fprintd")
        }
    }

    private func rememberOwner(
        of template: Template, keptWith contents: ReaderContents?, _ account: Account
    ) {
        guard contents != nil, !fingers.isUncounted(template.bytes, of: account) else { return }
        do throws(StoreFault) {
            try state.owners.remember(account.uid, asOwnerOf: try template.identity.digest())
        } catch { journal.fault(error.description, account: account.name) }
    }
}

extension Store.StoredPrint {
    /// What tells it from others; nil where the template cannot be read.
    fileprivate var identity: PrintIdentity? { (try? Template(bytes: template))?.identity }
}
