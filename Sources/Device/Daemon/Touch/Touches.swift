// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import SignedFormats
import State

/// What a touch has found out about a reader, to be recorded after the answer was sent.
private struct Improvement: Sendable {
    let unrecorded: [ReaderStorage]
    let credential: StoredCredential
    let kept: AccountState

    /// Returns nil if the touch has found out nothing new.
    init?(_ proof: TouchProof) {
        guard let unrecorded = proof.unrecorded else { return nil }
        self.unrecorded = unrecorded
        credential = proof.credential
        kept = proof.kept
    }
}

/// Finds the sealed item that a touch is to release, given the account's current records; nil for
/// none.
typealias SealedItemSearch = (AccountSnapshot) throws -> SealedItem?

/// Carries out touches that sign, from the turn at the readers to the receipt.
///
/// The account's credential signs here and nowhere else, and sealed items are released here: only
/// for a finger that has just matched (`Match`), and only with the fingers and reader contents to
/// which the key was sealed. Keys for servers sign in `ServerKeys`, for a touch from here.
///
/// The receipt's number is reserved on disk before the reader is asked, and the key is prepared
/// while the finger is awaited. If signing fails after the match, the attempt is taken back and
/// does not count towards the lockout.
@ServiceActor
final class Touches {
    let afterAnswers: AfterAnswers
    let clock: Clock
    let gate: TouchGate<ReaderPool>
    let journal: DecisionJournal
    let logind: Logind
    let receiptSlots: ReceiptSlots
    let settings: Configuration
    let state: StateDirectory
    let vaults: Vaults
    let watchers: Watchers
    let accounts: Accounts
    let credentials: Credentials
    let upkeep: ReaderUpkeep
    let templates: TemplateKeyOpener
    let guards: TouchGuards

    init(
        afterAnswers: AfterAnswers, clock: Clock, gate: TouchGate<ReaderPool>,
        journal: DecisionJournal, logind: Logind, receiptSlots: ReceiptSlots,
        settings: Configuration, state: StateDirectory, vaults: Vaults, watchers: Watchers,
        accounts: Accounts, credentials: Credentials, upkeep: ReaderUpkeep,
        templates: TemplateKeyOpener,
        guards: TouchGuards
    ) {
        self.afterAnswers = afterAnswers
        self.clock = clock
        self.gate = gate
        self.journal = journal
        self.logind = logind
        self.receiptSlots = receiptSlots
        self.settings = settings
        self.state = state
        self.vaults = vaults
        self.watchers = watchers
        self.accounts = accounts
        self.credentials = credentials
        self.upkeep = upkeep
        self.templates = templates
        self.guards = guards
    }
}

extension Touches {
    /// The request's entry in the queue for the readers.
    func applicant(
        _ purpose: Applicant.Purpose, account: Account, asker: Asker, client: any Client
    ) -> Applicant {
        Applicant(purpose, account: account.uid, asker: asker) { await client.show($0) }
    }

    /// Describes this request to the clients that wait in the queue.
    func asker(_ plan: TouchPlan, presence: Presence) -> Asker {
        guard let login = plan.login else {
            guard let purpose = plan.confirmed else {
                return Asker(plan.command, by: presence.requester)
            }
            return Asker(
                service: ServiceName(plan.command), terminal: [], purpose: purpose,
                by: presence.requester)
        }
        return Asker(
            service: login.service, terminal: presence.terminal, purpose: login.purpose,
            by: presence.requester)
    }

    /// Waits for the turn at the readers, for a touch that leaves no receipt; throws as
    /// `TouchGate.turn`.
    func turn(
        _ plan: TouchPlan, presence: Presence, client: any Client
    ) async throws(Denial) -> Turn {
        try await gate.turn(
            for: applicant(
                plan.purpose, account: plan.account, asker: asker(plan, presence: presence),
                client: client),
            within: plan.timeout)
    }

    /// Waits for both the turn at the readers and the end of the account's receipt chain.
    ///
    /// It never holds one while it waits for the other. While an earlier touch of the account is
    /// not settled, for example because its server has not answered yet, others can use the
    /// readers.
    ///
    /// Throws `timedOut` or `cancelled` if both are not free within `plan.timeout`, otherwise as
    /// `TouchGate.turn`.
    func signingTurn(
        _ plan: TouchPlan, presence: Presence, client: any Client
    ) async throws(Denial) -> SigningTurn {
        let end = clock.sinceBoot() + plan.timeout
        var slot: ReceiptSlot?
        while true {
            do {
                let turn = try await gate.turn(
                    for: applicant(
                        plan.purpose, account: plan.account,
                        asker: asker(plan, presence: presence),
                        client: client),
                    within: end - clock.sinceBoot())
                if let slot = slot ?? receiptSlots.free(for: plan.account.uid) {
                    return SigningTurn(turn: turn, slot: slot)
                }
            }
            slot = await receiptSlots.next(
                for: plan.account.uid, within: end - clock.sinceBoot())
            guard slot != nil else { throw Denial(Task.isCancelled ? .cancelled : .timedOut) }
        }
    }

    /// Carries out one touch: reads the account, waits for a finger, signs, and writes the receipt.
    ///
    /// The caller holds the turn and the receipt slot (see `signingTurn`) and evidence of presence.
    /// If the fingers, the credential or a reader's contents are not those to which the key was
    /// sealed, the credential may be destroyed; the denial then says so. After a success, the
    /// attempt still counts as a failure on disk until the caller settles it. If anything fails
    /// after the match, the attempt is taken back.
    ///
    /// - Parameters:
    ///   - interruption: ends the wait early with `cancelled`.
    ///   - item: finds what is to be released. It is called before the touch and again after the
    ///     match, each time with the account's current records.
    func touch(
        _ plan: TouchPlan, presence: Presence, matter: SignedMatter,
        during turn: borrowing Turn, in slot: ReceiptSlot, client: any Client,
        interruptedBy interruption: Interruption = Interruption(),
        releasing item: SealedItemSearch = { _ in nil }
    ) async throws(Denial) -> TouchProof {
        let account = plan.account
        await templates.openTemplatesForListing()
        await upkeep.tidyReaders()
        // Read again: the fingers may have changed while this request waited.
        let snapshot = try credentials.revokingSnapshot(of: account)
        let ledger = accounts.lockoutLedger(of: account, kept: snapshot.kept)
        // Check before anything is written for a touch that cannot succeed.
        try ledger.check()
        let place = try reserve(account, snapshot: snapshot, in: slot)
        let prints = snapshot.enrolment.prints.filter {
            plan.finger == nil || $0.finger == plan.finger
        }
        if prints.isEmpty { throw Denial(.unknownFinger, finger: plan.finger) }
        let preparation = try ready(
            account, snapshot: snapshot, item: item, interruption: interruption)
        defer { preparation.end() }
        let check = StorageCheck()
        let query = FingerQuery(
            gallery: Gallery(prints), seat: guards.seat(of: presence),
            examine: credentials.examination(
                account, snapshot: snapshot, check: check, interruption: interruption),
            reports: PrintReports(
                account: account, kept: snapshot.kept, accounts: accounts, journal: journal))
        let touch: Touch<ScannedFinger>
        do throws(Denial) {
            let told = tell(plan, presence: presence, client: client)
            defer { told?.end() }
            touch = try await gate.touch(
                TouchRequest(
                    account: account.uid, query: query, tries: plan.tries,
                    timeout: plan.timeout),
                presence: presence, during: turn, counting: ledger, interruptedBy: interruption
            ) { client.tell($0, requestedBy: presence) }
        } catch { throw check.reason(instead: preparation.reason(instead: error)) }
        do throws(Denial) {
            return try await proof(
                touch, before: snapshot, place: place, matter: matter, account: account, item: item,
                preparation: preparation, check: check)
        } catch {
            touch.attempt.takeBack()
            throw error
        }
    }

    /// Carries out a touch in a separate turn, and records its success.
    ///
    /// The turn has ended when this returns, so that others can use the readers however long the
    /// following work takes. The caller must still settle the receipt.
    func settledTouch(
        _ plan: TouchPlan, presence: Presence, matter: SignedMatter, client: any Client,
        releasing item: SealedItemSearch = { _ in nil }
    ) async throws(Denial) -> TouchProof {
        let signing = try await signingTurn(plan, presence: presence, client: client)
        let proof = try await touch(
            plan, presence: presence, matter: matter, during: signing.turn, in: signing.slot,
            client: client,
            releasing: item)
        keepSuccess(of: proof, account: plan.account)
        return proof
    }

    /// Settles a touch for a command: records its receipt as granted on disk, and records findings
    /// about the reader after the answer.
    func settleCommand(
        _ proof: TouchProof, account: Account, by requester: Requester, client: any Client
    ) {
        settleReceipt(of: proof, account: account)
        improveAfterwards(proof, account: account, by: requester, client: client)
    }

    /// Settles a touch for a command, success and receipt, after the answer was sent.
    ///
    /// Only for a touch whose answer opens nothing: the key has signed and the receipt is written, so
    /// that nothing can refuse it any more, but the disk is not waited for. If the daemon is killed
    /// before, the attempt stays counted as a failure. If the power fails, the receipt may be lost, and
    /// with it whatever the answer has unlocked on this machine.
    func settleAfterwards(
        _ proof: TouchProof, account: Account, by requester: Requester, client: any Client
    ) {
        afterAnswers.add(client) { [self] in
            keepSuccess(of: proof, account: account)
            settleCommand(proof, account: account, by: requester, client: client)
        }
    }

    /// Records what a touch has found out about the reader, after the answer was sent.
    ///
    /// This takes a separate turn, so that no finger is asked for while the key is resealed. If
    /// no turn comes within a minute, the finding is dropped, and the next touch will make it
    /// again.
    func improveAfterwards(
        _ proof: TouchProof, account: Account, by requester: Requester, client: any Client
    ) {
        // Do not capture the proof: while it exists, no other touch of the account can append a
        // receipt.
        guard let improvement = Improvement(proof) else { return }
        let asker = Asker("signet", by: requester)
        let applicant = Applicant(.upkeep, account: account.uid, asker: asker) { _ in true }
        afterAnswers.add(client) { [self] in
            onService { [self] in
                // If the queue is full, the next touch will record it.
                guard let turn = try? await gate.turn(for: applicant, within: .seconds(60)) else {
                    return
                }
                await keep(improvement, account: account, during: turn)
            }
        }
    }

    /// Signs for a finger that matched.
    ///
    /// Throws `badRequest` if the credential was changed since the finger was asked for. What is
    /// released is looked up again, in the account's current records.
    private func proof(
        _ touch: Touch<ScannedFinger>, before: AccountSnapshot, place: ReceiptTicket,
        matter: SignedMatter, account: Account, item: SealedItemSearch,
        preparation: KeyPreparation, check: StorageCheck
    ) async throws(Denial) -> TouchProof {
        let items: Result<ReadyItems, VaultError>
        do throws(VaultError) {
            items = .success(
                try await WaitTeller.during { () throws(VaultError) in
                    try await preparation.items()
                })
        } catch { items = .failure(error) }
        var snapshot = try credentials.revokingSnapshot(of: account, since: before)
        // The credential was changed meanwhile, and with it possibly the fingers: the finger that
        // matched may be gone.
        guard snapshot.credential == before.credential else { throw Denial(.badRequest) }
        let recorded = snapshot.credential.storage
        snapshot.storage = check.storage(recorded, matchedOn: touch.finger.reader)
        let now = snapshot
        let opening = try accounts.reading(account) { try item(now) }
        let (assertion, released) = try await sign(
            matter, account: account, snapshot: now, place: place, ready: items, item: opening,
            for: touch)
        return TouchProof(
            assertion: assertion, touch: touch, snapshot: now, place: place,
            released: released, openedItem: preparation.data,
            unrecorded: check.unrecorded(recorded, matchedOn: touch.finger.reader))
    }

    /// Reserves the receipt's number on disk, so that no sync is needed between touch and
    /// signature.
    ///
    /// A chain of receipts that was cut or changed is logged, and does not prevent the touch.
    func reserve(
        _ account: Account, snapshot: AccountSnapshot, in slot: ReceiptSlot
    ) throws(Denial) -> ReceiptTicket {
        try accounts.reading(account) { () throws(StoreFault) in
            let log = try snapshot.kept.receipts()
            let reservation = try log.prepare()
            if !reservation.isIntact {
                journal.fault("the receipts were truncated or altered", account: account.name)
            }
            return ReceiptTicket(log, reservation: reservation, in: slot)
        }
    }

    /// Starts to prepare the key, and the item to release, while the finger is awaited.
    ///
    /// `interruption` is raised if the vault is out of order, since a touch could then achieve
    /// nothing.
    func ready(
        _ account: Account, snapshot: AccountSnapshot, item: SealedItemSearch,
        interruption: Interruption
    ) throws(Denial) -> KeyPreparation {
        try accounts.reading(account) {
            let data = try item(snapshot)
            let key = try snapshot.key()
            // Only a vault that is out of order ends the wait. A key that does not open is reported
            // and destroyed after a match.
            return KeyPreparation(key, data: data, in: vaults) { interruption.raise() }
        }
    }

    /// Records on disk that the finger matched, which resets the count of failed attempts.
    ///
    /// A disk fault is logged, and the attempt remains counted.
    func keepSuccess(of proof: TouchProof, account: Account) {
        do throws(Denial) {
            try proof.touch.attempt.succeeded()
        } catch { _ = error }
    }

    /// Records on disk that a command has used its proof; a fault is logged.
    private func settleReceipt(of proof: TouchProof, account: Account) {
        do throws(StoreFault) {
            try proof.place.grant()
            try proof.place.end()
        } catch { _ = accounts.denial(for: error, account: account) }
    }

    /// Whether the machine is about to be suspended, or was suspended since the finger was asked
    /// for.
    ///
    /// A proof from before a suspension must not be used.
    func hasSlept(since proof: TouchProof) -> Bool {
        logind.hasSlept(since: proof.touch.suspensions)
    }

    /// Reseals the key to the contents of the reader, which cannot change while the turn is held.
    private func keep(
        _ improvement: Improvement, account: Account, during turn: borrowing Turn
    ) async {
        await credentials.record(
            improvement.unrecorded, credential: improvement.credential, account: account,
            kept: improvement.kept)
    }
}

extension KeyPreparation {
    /// Replaces a cancellation by the error of the vault that has caused it.
    fileprivate func reason(instead denial: Denial) -> Denial {
        guard denial.reason == .cancelled, let failure else { return denial }
        return Denial(of: failure, mismatches: denial.mismatches)
    }
}

extension StorageCheck {
    /// Replaces a cancellation by the finding on a reader that has caused it.
    fileprivate func reason(instead other: Denial) -> Denial {
        guard other.reason == .cancelled, var denial else { return other }
        denial.mismatches = other.mismatches
        return denial
    }
}

extension AccountSnapshot {
    /// The sealed key of the credential, with the context that opens it.
    func key() throws(StoreFault) -> SealedItem {
        SealedItem(
            vault: credential.vault, sealed: credential.sealed, context: try context())
    }

    /// The context that opens the credential's key: the fingers and the reader contents that it
    /// covers.
    func context() throws(StoreFault) -> SealingContext {
        try kept.credential.context(of: credential, enrolment: enrolment, covering: storage)
    }
}

extension Touches {
    /// Waits for a turn at the readers for work that needs no touch.
    func upkeepTurn(
        _ command: String, account: Account, client: any Client
    ) async throws(Denial) -> HeldTurn {
        let asker = Asker(command, by: guards.accountable(client))
        return HeldTurn(
            try await gate.turn(
                for: applicant(.upkeep, account: account, asker: asker, client: client),
                within: settings.duration(Settings.touchTimeout) ?? .seconds(60)))
    }

    /// Checks the guards, carries out a touch with its receipt, and then runs `body` in the same
    /// request.
    ///
    /// `body` gets the account's current records and the touch, which lets it use further keys.
    /// Throws `suspending` if the machine was suspended meanwhile, and the denial of the first
    /// guard that does not pass.
    func afterTouch(
        _ plan: TouchPlan, matter: SignedMatter, client: any Client,
        _ body: (AccountSnapshot, Touch<ScannedFinger>) async throws(Denial) -> Answer
    ) async throws(Denial) -> Answer {
        let presence = try await guards.admit(plan, client: client)
        let proof = try await settledTouch(plan, presence: presence, matter: matter, client: client)
        settleCommand(proof, account: plan.account, by: presence.requester, client: client)
        if hasSlept(since: proof) { throw Denial(.suspending) }
        return try await body(
            try credentials.revokingSnapshot(of: plan.account, since: proof.snapshot), proof.touch)
    }

    /// Announces a touch to the clients that watch the account, if its prompt may be out of sight.
    ///
    /// A login of the account itself is not announced if a root client prompts for it on a
    /// terminal, because the user sees that prompt. It is unknown what other programs show.
    ///
    /// - Returns: the announcement, which the caller must end; nil if none is needed.
    func tell(
        _ plan: TouchPlan, presence: Presence, client: any Client
    ) -> Watchers.Announcement? {
        let isOnTerminal = plan.login.map { $0.presence != .noTerminal } ?? false
        let isPrompted = client.peer.uid == 0 && isOnTerminal
        if isPrompted, !presence.isForOther { return nil }
        return watchers.announce(plan, by: presence.requester)
    }
}
