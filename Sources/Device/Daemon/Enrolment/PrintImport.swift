// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import State

/// Imports an account's fingers from fprintd, which is an enrolment without a scan.
///
/// Two things vouch for the prints: the account's password, given for this request (root needs
/// none), and that only root can write to fprintd's store. An import only adds fingers: it never
/// replaces one, never imports a print of another account, and changes neither fprintd's store nor
/// the contents of a reader.
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
    let policy: LoginPolicy
    let upkeep: ReaderUpkeep
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener
    let touches: Touches

    init(
        fprintd: FprintdStore, journal: DecisionJournal, readers: ReaderPool,
        settings: Configuration, state: StateDirectory, accounts: Accounts,
        credentials: Credentials, changes: FingerChanges, fingers: Fingers, policy: LoginPolicy,
        upkeep: ReaderUpkeep, coverage: StorageCoverage, templates: TemplateKeyOpener,
        touches: Touches
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
        self.policy = policy
        self.upkeep = upkeep
        self.coverage = coverage
        self.templates = templates
        self.touches = touches
    }
}

extension PrintImport {
    /// The handler for imports, which shows the files before the password is asked for.
    var handlers: [RequestHandler] {
        [RequestHandler(foretelling: showImport, importPrints)]
    }

    /// Imports an account's prints from fprintd, each in one durable step, and sends the outcome
    /// for each file.
    ///
    /// A print that cannot be imported does not prevent the others. If the request is cancelled,
    /// the prints imported before stay, and the answer reports them. Throws `cancelled` if there
    /// were none, and the denial of a fault that concerns the account rather than a file; that ends
    /// the import.
    func importPrints(
        _: ImportPrintRequest, account: Account, approval: ChangeApproval, client: any Client
    ) async throws(Denial) -> Answer {
        let turn = try await touches.upkeepTurn(
            "signet import-fprintd", account: account, client: client)
        defer { withExtendedLifetime(turn) {} }
        // The imported prints are compared with those of all accounts.
        await templates.openAllTemplates()
        await upkeep.tidyReaders()
        let entries: [FprintdStore.Entry]
        do throws(FileFault) {
            entries = try fprintd.entries(of: account.name)
        } catch { throw accounts.denial(for: .file(error), account: account) }
        var takeover = Takeover(account: account, approval: approval)
        for entry in entries where !Task.isCancelled {
            let answer = try await take(entry, takeover: &takeover)
            takeover.count(answer.outcome)
            await client.send(.importedPrint(answer))
        }
        return policy.keptOut(try end(takeover), account: account)
    }

    /// Shows which files could be imported, and when they were written, before the password is
    /// asked for.
    ///
    /// fprintd's store is organised by account name, so its prints may be those of a former account
    /// with that name. The user who gives the password must be able to notice that. It shows no
    /// more than the account may list after the import. Root gives no password and is shown
    /// nothing.
    ///
    /// What the import will end is told as well. Throws `accountNameUnusable`.
    func showImport(
        _: ImportPrintRequest, account: Account, client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        try accounts.checkName(of: account)
        let isAuthorized = client.peer.uid != 0
        await templates.openTemplates(of: account)
        let forecast = try changes.forecast(
            ForetoldChange(isAuthorized: isAuthorized, leavesFinger: true), of: account)
        await changes.tell(forecast, to: client)
        guard isAuthorized, let entries = try? fprintd.entries(of: account.name) else {
            return forecast
        }
        for case .file(let file) in entries {
            await client.send(.importedPrint(file.answer(nil)))
        }
        return forecast
    }

    /// The progress of one import.
    private struct Takeover {
        let account: Account
        var approval: ChangeApproval
        /// The contents of the readers that were asked, by their identifiers.
        var contents: [String: Result<ReaderContents, ReaderFault>] = [:]
        /// The identities of the prints of other accounts; nil until they are needed.
        var others: Set<PrintIdentity>?
        var imported = 0
        var refused = 0
        /// The answer of the last change.
        ///
        /// Its number of stale secrets is replaced by that of the first change, `endedSecrets`,
        /// since later changes find none.
        var done: DoneAnswer?
        var endedSecrets: UInt32?
        /// The number of ssh keys that the changes so far have destroyed; nil for none.
        var endedSSHKeys: UInt32?

        mutating func count(_ outcome: ImportOutcome?) {
            if outcome == .imported {
                imported += 1
            } else if outcome != .known {
                refused += 1
            }
        }
    }

    /// Logs the totals, and returns the final answer: that of the last change, or the present state
    /// if there was none.
    private func end(_ takeover: Takeover) throws(Denial) -> Answer {
        let account = takeover.account
        if takeover.imported + takeover.refused > 0 {
            journal.service(
                """
                fprintd's prints of \(account.name): \(takeover.imported) taken over, \
                \(takeover.refused) not
                """)
        }
        // Prints that were imported before the cancellation stay, and are reported.
        if Task.isCancelled, takeover.imported == 0 { throw Denial(.cancelled) }
        if var done = takeover.done {
            done.finger = nil
            done.secrets = takeover.endedSecrets
            done.sshKeysEnded = takeover.endedSSHKeys
            return .done(done)
        }
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else {
                return .done(DoneAnswer(prints: 0, state: CredentialState.none))
            }
            let enrolment = try kept.prints.enrolment()
            let state = try kept.credential.judgement(on: enrolment)
            return .done(DoneAnswer(prints: enrolment.count, state: state.onTheWire))
        }
    }

    /// Imports one entry if possible, and returns its outcome.
    ///
    /// A denial ends the whole request.
    private func take(
        _ entry: FprintdStore.Entry, takeover: inout Takeover
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
            try obstacle(to: template, takeover: &takeover)
        }
        if let outcome { return file.answer(outcome) }
        switch await place(of: template, takeover: &takeover) {
        case .nowhere(let outcome, let subject): return file.answer(outcome, subject: subject)
        case .reader(let reader, let contents):
            let done = try await keep(template, on: reader, contents: contents, takeover: &takeover)
            takeover.done = done
            takeover.endedSecrets = takeover.endedSecrets ?? done.secrets
            if let ended = done.sshKeysEnded {
                takeover.endedSSHKeys = (takeover.endedSSHKeys ?? 0) + ended
            }
            return file.answer(.imported)
        }
    }

    /// Returns why a print cannot be imported beside those that are enrolled; nil if nothing
    /// prevents it.
    ///
    /// A finger that has a print here already is not replaced. This is not counted as a comparison
    /// of an enrolment, because nothing is scanned: it only finds copies of the same print, which
    /// only root could have put among the account's files.
    private func obstacle(
        to template: Template, takeover: inout Takeover
    ) throws(StoreFault) -> ImportOutcome? {
        let enrolment = try accounts.kept(takeover.account)?.prints.enrolment()
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

    /// Where an imported print can be used.
    private enum Place {
        /// On this reader, whose contents are given if it stores prints itself.
        case reader(ReaderDescription, ReaderContents?)
        case nowhere(ImportOutcome, subject: Bytes? = nil)
    }

    /// Finds the connected reader that a print can be used on, or the reason why there is none.
    ///
    /// A print that a reader stores must be in the reader's list. libfprint itself is asked whether
    /// it can use the print on the reader.
    private func place(of template: Template, takeover: inout Takeover) async -> Place {
        let fitting = await readers.found(for: template)
        guard let first = fitting.first else { return .nowhere(.noReader) }
        do throws(ReaderFault) {
            guard try await readers.canUse(template, on: first.id) else {
                return .nowhere(.malformed)
            }
        } catch {
            // The reader was removed in the meantime.
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

    /// Enrols a print, without ever replacing another.
    ///
    /// Throws the denial of `.changedMeanwhile` if the finger was enrolled since it was checked.
    /// The contents of the reader stay as they are, whatever the result.
    private func keep(
        _ template: Template, on reader: ReaderDescription, contents: ReaderContents?,
        takeover: inout Takeover
    ) async throws(Denial) -> DoneAnswer {
        let account = takeover.account
        defer { rememberOwner(of: template, keptWith: contents, account: account) }
        return try await accounts.answering(account) {
            if let contents { try credentials.revokeIfUnfit(storage: contents, of: account) }
            let key = try await templates.sealingKey(of: account)
            let kept = try state.makeAccount(
                AccountName(account.name), uid: account.uid, now: accounts.instant)
            var bytes = template.bytes
            let change = try kept.prints.draft(
                adding: &bytes, finger: template.finger, reader: Bytes(reader.id.utf8),
                sealedWith: key, now: accounts.instant)
            guard change.removed.isEmpty else { throw StoreFault.changedMeanwhile }
            // Only the first import changes the fingers that the user was told of.
            defer { takeover.approval.foretold = nil }
            return try await changes.make(
                change, account: account, kept: kept, from: try kept.prints.enrolment(),
                finger: template.finger,
                contents: contents, approval: takeover.approval,
                because: "a finger was taken over from fprintd")
        }
    }

    /// Records that a print on a reader belongs to the account, if it was enrolled.
    private func rememberOwner(
        of template: Template, keptWith contents: ReaderContents?, account: Account
    ) {
        guard contents != nil, !fingers.isUncounted(template.bytes, of: account) else { return }
        do throws(StoreFault) {
            try state.owners.remember(account.uid, asOwnerOf: try template.identity.digest())
        } catch { journal.fault(error.description, account: account.name) }
    }
}

extension StoredPrint {
    /// The print's identity; nil if the template cannot be read.
    fileprivate var identity: PrintIdentity? { (try? Template(bytes: template))?.identity }
}
