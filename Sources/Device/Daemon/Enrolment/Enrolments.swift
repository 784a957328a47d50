// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import State

/// Enrols a finger, after comparing it with those of all accounts.
///
/// The finger is first compared (`EnrolmentComparison`), so that no finger belongs to two accounts.
/// Then it is scanned several times, sealed, and written to disk in one step together with a new
/// credential. A print that ends up on the reader without an entry here is deleted from it, even
/// after a crash (`ReaderUpkeep`).
///
/// Root may enrol a finger for any account, and an account for itself with its password. Enrolments
/// give way to touches: if a touch waits and no finger was on the reader for `TouchQueue.patience`,
/// the enrolment ends with `enrolmentYielded`.
@ServiceActor
final class Enrolments {
    let boot: Bytes
    let clock: Clock
    let gate: TouchGate<ReaderPool>
    let journal: DecisionJournal
    let queue: TouchQueue
    let readers: ReaderPool
    let settings: Configuration
    let state: StateDirectory
    let accounts: Accounts
    let credentials: Credentials
    let enabling: Enabling
    let changes: FingerChanges
    let fingers: Fingers
    let upkeep: ReaderUpkeep
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener
    let guards: TouchGuards
    let policy: LoginPolicy
    let touches: Touches

    init(
        boot: Bytes, clock: Clock, gate: TouchGate<ReaderPool>, journal: DecisionJournal,
        queue: TouchQueue, readers: ReaderPool, settings: Configuration, state: StateDirectory,
        accounts: Accounts, credentials: Credentials, enabling: Enabling, changes: FingerChanges,
        fingers: Fingers, upkeep: ReaderUpkeep, coverage: StorageCoverage,
        templates: TemplateKeyOpener,
        guards: TouchGuards, policy: LoginPolicy, touches: Touches
    ) {
        self.boot = boot
        self.clock = clock
        self.gate = gate
        self.journal = journal
        self.queue = queue
        self.readers = readers
        self.settings = settings
        self.state = state
        self.accounts = accounts
        self.credentials = credentials
        self.enabling = enabling
        self.changes = changes
        self.fingers = fingers
        self.upkeep = upkeep
        self.coverage = coverage
        self.templates = templates
        self.guards = guards
        self.policy = policy
        self.touches = touches
    }
}

extension Enrolments {
    /// The handlers for enrolling a finger and for lifting lockouts.
    var handlers: [RequestHandler] {
        [RequestHandler(foretelling: foretell, enroll), RequestHandler(unlock)]
    }

    /// Tells which finger will be enrolled, and what that will end; throws as `check`.
    func foretell(
        _ request: EnrollRequest, account: Account, client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        let reader = try await check(request, account: account, client: client)
        await templates.openTemplates(of: account)
        let forecast = try changes.forecast(
            ForetoldChange(isAuthorized: client.peer.uid != 0, leavesFinger: true), of: account)
        let finger = try finger(for: request, account: account)
        let move = try move(of: finger, to: reader, account: account)
        await changes.tell(
            forecast, ending: ChangeForecastAnswer(finger: finger, move: move), to: client)
        return forecast
    }

    /// From which other kind of reader the finger would move to this one; nil for none.
    private func move(
        of finger: Finger, to reader: ReaderDescription, account: Account
    ) throws(Denial) -> ReaderMove? {
        let old = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.keptIfOwn(account)?.prints.enrolmentIfOpen()?.prints
                .first { $0.finger == finger }?.reader
        }
        let new = Bytes(reader.id.utf8)
        guard let old, Self.kind(of: old) != Self.kind(of: new) else { return nil }
        return ReaderMove(old: old, new: new)
    }

    /// The kind of a reader: its id without the number that tells equal readers apart.
    private static func kind(of reader: Bytes) -> Bytes {
        Bytes(reader.prefix { $0 != UInt8(ascii: "#") })
    }

    /// The finger to enrol: the one in the request, else the first that is not enrolled; throws
    /// `tooManyFingers` if all are.
    private func finger(
        for request: EnrollRequest, account: Account
    ) throws(Denial) -> Finger {
        if let finger = request.finger { return finger }
        let taken = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.prints.fingers() ?? []
        }
        guard let free = Finger.preference.first(where: { !taken.contains($0) }) else {
            throw Denial(.tooManyFingers)
        }
        return free
    }

    /// Returns the reader on which to enrol. Throws what no password could change:
    /// `accountNameUnusable`, the denial of a place from which no finger is enrolled,
    /// `tooManyFingers`, `noReader`, or a reader's fault.
    private func check(
        _ request: EnrollRequest, account: Account, client: any Client
    ) async throws(Denial) -> ReaderDescription {
        try accounts.checkName(of: account)
        let plan = guards.plan(for: EnrollRequest.self, account: account, milliseconds: .max)
        _ = try await guards.admit(plan, client: client)
        do throws(Denial) {
            try checkRoom(account, finger: finger(for: request, account: account))
        } catch {
            // The password is not kept waiting for a TPM to open them.
            guard error.reason == .fingersClosed else { throw error }
        }
        return try await reader(for: request)
    }

    /// The reader on which to enrol; throws `noReader` if it is not there.
    private func reader(for request: EnrollRequest) async throws(Denial) -> ReaderDescription {
        do throws(ReaderFault) {
            if let reader = try await readers.choose(request.readerID) { return reader }
        } catch { throw Denial(of: error) }
        throw Denial(.noReader)
    }

    /// Enrols a finger, in place of an older print of the same finger.
    ///
    /// Passes the guards of the request, takes a turn at the readers, and may take
    /// `enrolment.timeout` from then on. Throws, among others, `noReader`, `tooManyFingers`,
    /// `fingerKnown` if it is enrolled as another finger of the account, `fingerNotEnrolled` if it
    /// belongs to another account, and `enrolmentYielded`.
    func enroll(
        _ request: EnrollRequest, account: Account, approval: ChangeApproval,
        client: any Client
    ) async throws(Denial) -> Answer {
        try await enroll(
            request, account: account, approval: approval, client: client, comparing: .ifUseful)
    }

    /// Enrols a finger for a request that has been authorised, and compares it before as `rule`
    /// says; `compared` is called when that scan is over and the enrolment goes on.
    func enroll(
        _ request: EnrollRequest, account: Account, approval: ChangeApproval,
        client: any Client, comparing rule: ComparisonRule, compared: () -> Void = {}
    ) async throws(Denial) -> Answer {
        let finger = try finger(for: request, account: account)
        let limit = settings.duration(Settings.enrolmentTimeout) ?? .seconds(120)
        var plan = guards.plan(for: EnrollRequest.self, account: account, milliseconds: .max)
        plan.timeout = limit
        let presence = try await guards.admit(plan, client: client)
        let turn = try await gate.turn(
            for: touches.applicant(
                .enrolment, account: account, asker: touches.asker(plan, presence: presence),
                client: client),
            within: limit)
        // The new finger is compared with the fingers of all accounts.
        await templates.openAllTemplates()
        await upkeep.tidyReaders()
        let reader = try await reader(for: request)
        let end = clock.sinceBoot() + limit
        try checkRoom(account, finger: finger)
        try changes.check(approval.foretold, of: account)
        // Check this now, so that no finger is scanned for a print that could not be sealed.
        _ = try await accounts.answering(account) { try await templates.sealingKey(of: account) }
        // From now on, readers and TPM are ready, and a waiting touch interrupts what no finger comes for.
        let interruption = Interruption()
        queue.mayInterrupt(turn, by: interruption)
        let scans = EnrolmentScans(reader: reader, end: end, interruption: interruption)
        do throws(Denial) {
            let comparison = try await compare(
                account, finger: finger, scans: scans, rule: rule, during: turn,
                client: client)
            if reader.features.contains(.identify) { compared() }
            let answer = try await enroll(
                account, finger: finger, scans: scans, comparison: comparison, during: turn,
                approval: approval, client: client)
            return policy.keptOut(answer, account: account)
        } catch {
            guard error.reason == .cancelled, queue.hasYielded(turn) else { throw error }
            throw Denial(.enrolmentYielded)
        }
    }

    /// The reader of an enrolment, its end as time since boot, and the interruption for a waiting
    /// touch.
    struct EnrolmentScans {
        let reader: ReaderDescription
        let end: Duration
        let interruption: Interruption
    }

    /// Scans the finger on the reader and stores its print.
    ///
    /// Whatever the outcome, a print that belongs to no finger afterwards is deleted from the
    /// reader. Before the reader stores anything, its contents are judged and recorded (`begin`). A
    /// finger that belongs to another account is scanned to the end and rejected only then, so that
    /// the user cannot tell when it was recognised.
    func enroll(
        _ account: Account, finger: Finger, scans: EnrolmentScans,
        comparison: EnrolmentComparison, during turn: borrowing Turn,
        approval: ChangeApproval, client: any Client
    ) async throws(Denial) -> Answer {
        let before = EnrolmentBefore()
        let (reader, left) = (scans.reader, scans.end - clock.sinceBoot())
        let noteTouch = queue.touchNote(turn)
        // Such a reader refuses a second print of the same finger, so the old print has to be
        // replaced.
        let old = reader.features.contains(.duplicateCheck) ? comparison.own : nil
        let scanned = await interruptible(by: scans.interruption) { [self] in
            await readers.enroll(
                finger, account: account.name, on: reader.id, limit: left, replacing: old,
                examine: { [self] _, contents in
                    begin(on: contents, account: account, before: before)
                },
                tidy: upkeep.tidyReaders
            ) { notice in
                if notice.kind != .touch { noteTouch() }
                client.tell(notice)
            }
        }
        let answer: Result<Answer, Denial>
        switch scanned {
        case .failure(let fault):
            let denial = fault == .duplicate ? comparison.duplicate : Denial(of: fault)
            answer = .failure(before.denial ?? denial)
            if old != nil {
                // Do this even if the request was cancelled; its own task can no longer reach the
                // reader.
                await onService { [self] in
                    await dropLost(finger, of: account, on: reader, approval: approval)
                }.value
            }
        case .success(let (template, contents)):
            do throws(Denial) {
                try comparison.refuseTaken()
                answer = .success(
                    try await keep(
                        template, finger: finger, reader: reader, contents: contents,
                        approval: approval, for: account))
                comparison.completed()
            } catch { answer = .failure(error) }
            if fingers.isUncounted(template.bytes, of: account) {
                await readers.forget(template)
            }
        }
        await upkeep.tidyReaders()
        return try answer.get()
    }

    /// Deletes the account's old print of a finger, if the reader has given it up without storing a
    /// new one.
    ///
    /// Otherwise the credential would be sealed to a print that no longer exists, and the other
    /// fingers could not be used either.
    private func dropLost(
        _ finger: Finger, of account: Account, on reader: ReaderDescription,
        approval: ChangeApproval
    ) async {
        guard case .success(let contents) = await readers.list(reader) else { return }
        var gone: [StoredPrint] = []
        var isBlind = false
        do throws(Denial) {
            let isThere = try accounts.reading(account) { () throws(StoreFault) -> Bool in
                let prints = try accounts.kept(account)?.prints.enrolment().prints ?? []
                let old = prints.first { $0.finger == finger }
                return contents.prints.contains { stored in
                    (old.flatMap { try? Template(bytes: $0.template) }).map(stored.isSame) ?? false
                }
            }
            guard !isThere else { return }
            _ = try await fingers.remove(
                finger, of: account, approval: approval, gone: &gone, isBlind: &isBlind)
            journal.fault(
                "the reader deleted a print that was not replaced", account: account.name)
        } catch { journal.fault(error.reason.protocolName, account: account.name) }
    }

    /// Receives the reason why the check of the reader before an enrolment has failed.
    private final class EnrolmentBefore {
        var denial: Denial?
    }

    /// Judges what the reader stores before it stores more, and records it on disk.
    ///
    /// Returns false, with the reason in `before`, if that fails; then nothing may be enrolled. See
    /// `Credentials.revokeIfUnfit(storage:of:)` and `ReaderUpkeep.noteEnrolment`.
    private func begin(
        on contents: ReaderContents, account: Account, before: EnrolmentBefore
    ) -> Bool {
        do throws(Denial) {
            try accounts.reading(account) { () throws(StoreFault) in
                try credentials.revokeIfUnfit(storage: contents, of: account)
                try upkeep.noteEnrolment(on: contents)
            }
            return true
        } catch {
            before.denial = error
            return false
        }
    }

    /// Throws `tooManyFingers` if the account has as many other fingers as the settings allow.
    private func checkRoom(_ account: Account, finger: Finger) throws(Denial) {
        let others = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.prints.enrolment().prints.count {
                $0.finger != finger
            }
        }
        guard (others ?? 0) < settings.count(Settings.fingers) else {
            throw Denial(.tooManyFingers)
        }
    }

    /// Writes a new print to disk, and issues the credential again for the fingers and what the
    /// reader stores now.
    ///
    /// An older print of the same finger is replaced, and deleted from its reader. If it throws,
    /// the change may have taken effect nevertheless; the caller looks at the records
    /// (`Fingers.isUncounted`).
    private func keep(
        _ template: Template, finger: Finger, reader: ReaderDescription,
        contents: ReaderContents?, approval: ChangeApproval, for account: Account
    ) async throws(Denial) -> Answer {
        // Open the template keys again: root may have trusted another TPM while a finger was
        // awaited, which closes them.
        await templates.openAllTemplates()
        var replaced: [StoredPrint] = []
        let answer: Result<DoneAnswer, Denial>
        do {
            let key = try await templates.sealingKey(of: account)
            let name = AccountName(account.name)
            let kept = try state.makeAccount(name, uid: account.uid, now: accounts.instant)
            var bytes = template.bytes
            let change = try kept.prints.draft(
                adding: &bytes, finger: finger, reader: Bytes(reader.id.utf8), sealedWith: key,
                now: accounts.instant)
            replaced = change.removed
            answer = .success(
                try await changes.make(
                    change, account: account, kept: kept, from: try kept.prints.enrolment(),
                    finger: finger, contents: contents,
                    approval: approval, because: "a finger was added"))
        } catch { answer = .failure(accounts.denial(for: error, account: account)) }
        if !fingers.isUncounted(template.bytes, of: account) {
            await counted(template, contents: contents, account: account)
        }
        await fingers.forget(replaced, of: account)
        return .done(try answer.get())
    }

    /// Records that a print on a reader belongs to an account, so that it is not taken for a
    /// leftover.
    func counted(
        _ template: Template, contents: ReaderContents?, account: Account
    ) async {
        guard let contents else { return }
        do throws(StoreFault) {
            try state.owners.remember(
                account.uid, asOwnerOf: try template.identity.digest())
            try upkeep.noteEnrolled(on: contents)
        } catch { journal.fault(error.description, account: account.name) }
    }
}
