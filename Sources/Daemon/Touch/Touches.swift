// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store
import Vault

/// What a touch is to sign, beside what the daemon knows itself.
struct SignedMatter: Sendable {
    let namespace: SignatureNamespace
    let challenge: Bytes
    let service: Bytes
    let terminal: Bytes
    let purpose: Bytes
    /// SHA-256 of the whole command line; empty where there is none.
    var command: Bytes = []
    /// The server that the login is at, too.
    var server: ServerLines?
}

/// A touch that proved itself, and what it leaves to do.
struct TouchProof {
    let assertion: Assertion
    let touch: Touch<ScannedFinger>
    /// How the account stood when its finger matched.
    let standing: AccountSnapshot
    let place: ReceiptTicket
    /// What was to be released with it; what could not be opened leaves the proof as it is.
    let released: Result<SecretBytes, VaultError>?
    /// What was got ready to be released, before the match.
    let readied: SealedItem?
    /// What is to be recorded of the reader that matched, where nothing was.
    let unrecorded: [ReaderStorage]?

    var kept: AccountState { standing.kept }
    var credential: FoundCredential { standing.credential }
}

/// The turn at the readers, for a touch that leaves a receipt.
struct SigningTurn: ~Copyable {
    let turn: Turn
    let slot: ReceiptSlot
}

/// What a touch has found out, and is kept when its answer is out.
private struct Improvement: Sendable {
    let unrecorded: [ReaderStorage]
    let credential: FoundCredential
    let kept: AccountState

    /// Nil where nothing is known that is not kept.
    init?(_ proof: TouchProof) {
        guard let unrecorded = proof.unrecorded else { return nil }
        self.unrecorded = unrecorded
        credential = proof.credential
        kept = proof.kept
    }
}

/// What is to be released with a touch, as things stand; nil for nothing.
typealias SealedItemSearch = (AccountSnapshot) throws -> SealedItem?

/// A touch that signs, from the turn at the readers to the receipt: nothing opens and nothing signs
/// except here, for a finger that has just matched.
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
    let templates: TemplateKeys
    let guards: TouchGuards

    init(
        afterAnswers: AfterAnswers, clock: Clock, gate: TouchGate<ReaderPool>,
        journal: DecisionJournal, logind: Logind, receiptSlots: ReceiptSlots,
        settings: Configuration, state: StateDirectory, vaults: Vaults, watchers: Watchers,
        accounts: Accounts, credentials: Credentials, upkeep: ReaderUpkeep, templates: TemplateKeys,
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
    /// The line of a request in the queue.
    func applicant(
        _ purpose: Applicant.Purpose, _ account: Account, _ asker: Asker, _ client: any Client
    ) -> Applicant {
        Applicant(purpose, account: account.uid, asker: asker) { await client.show($0) }
    }

    /// Who asks, for those who wait.
    func asker(_ plan: TouchPlan, _ presence: Presence) -> Asker {
        guard let login = plan.login else {
            return Asker(plan.command, by: presence.requester)
        }
        return Asker(
            service: login.service, terminal: login.terminal, purpose: login.purpose,
            by: presence.requester)
    }

    /// Waits for the turn at the readers.
    func turn(
        _ plan: TouchPlan, _ presence: Presence, _ client: any Client
    ) async throws(Denial) -> Turn {
        try await gate.turn(
            for: applicant(.touch, plan.account, asker(plan, presence), client),
            within: plan.timeout)
    }

    /// Waits for the turn at the readers and for the end of the account's receipts, and for neither
    /// with the other in hand: where an earlier touch of the account's is not settled yet, as while its
    /// server is asked, others have the readers meanwhile.
    func signingTurn(
        _ plan: TouchPlan, _ presence: Presence, _ client: any Client
    ) async throws(Denial) -> SigningTurn {
        var slot: ReceiptSlot?
        while true {
            do {
                let turn = try await gate.turn(
                    for: applicant(.touch, plan.account, asker(plan, presence), client),
                    within: plan.end - clock.sinceBoot())
                if let slot = slot ?? receiptSlots.free(for: plan.account.uid) {
                    return SigningTurn(turn: turn, slot: slot)
                }
            }
            let left = plan.end - clock.sinceBoot()
            slot = await receiptSlots.next(for: plan.account.uid, within: left)
            guard slot != nil else { throw Denial(Task.isCancelled ? .cancelled : .timedOut) }
        }
    }

    /// A touch that signs, and may release something sealed: from how things stand to the proof.
    ///
    /// `item` finds what is to be released; it is asked again after the match.
    func touch(
        _ plan: TouchPlan, _ presence: Presence, _ matter: SignedMatter,
        during turn: borrowing Turn, in slot: ReceiptSlot, _ client: any Client,
        releasing item: SealedItemSearch = { _ in nil }
    ) async throws(Denial) -> TouchProof {
        let account = plan.account
        await templates.openTemplatesForListing()
        await upkeep.tidyReaders()
        // Once more: while this request waited, the fingers may have changed.
        let standing = try credentials.standing(of: account)
        let ledger = accounts.lockoutLedger(of: account, standing.kept)
        // Before anything is written for a touch that cannot be.
        try ledger.check()
        let place = try reserve(account, standing, in: slot)
        let interruption = Interruption()
        let readying = try ready(account, standing, item, interruption)
        defer { readying.end() }
        let check = StorageCheck()
        let query = FingerQuery(
            gallery: Gallery(standing.enrolment.prints), seat: guards.seat(of: presence),
            examine: credentials.examination(account, standing, check, interruption))
        let touch: Touch<ScannedFinger>
        do throws(Denial) {
            let told = tell(plan, presence, client)
            defer { told?.end() }
            touch = try await gate.touch(
                TouchRequest(
                    account: account.uid, query: query, tries: plan.tries, end: plan.end),
                presence: presence, during: turn, counting: ledger, interruptedBy: interruption
            ) { client.post(.notice($0, requestedBy: presence)) }
        } catch { throw check.reason(instead: readying.reason(instead: error)) }
        do throws(Denial) {
            return try await proof(
                touch, standing, place, matter, account, item, readying, check)
        } catch {
            touch.attempt.takeBack()
            throw error
        }
    }

    /// A turn of its own, a touch, and what the next touch counts from. The turn is over when this
    /// returns, so that the reader is free for others, however long what follows takes.
    func settledTouch(
        _ plan: TouchPlan, _ presence: Presence, _ matter: SignedMatter, _ client: any Client,
        releasing item: SealedItemSearch = { _ in nil }
    ) async throws(Denial) -> TouchProof {
        let signing = try await signingTurn(plan, presence, client)
        let proof = try await touch(
            plan, presence, matter, during: signing.turn, in: signing.slot, client,
            releasing: item)
        keepSuccess(of: proof, plan.account)
        return proof
    }

    /// Notes that a command has used its proof, and has kept what the touch found out.
    func settleCommand(
        _ proof: TouchProof, _ account: Account, by requester: Requester, _ client: any Client
    ) {
        settleReceipt(of: proof, account)
        improveAfterwards(proof, account, by: requester, client)
    }

    /// Has kept what a touch found out when the answer is out, in a turn of its own: nobody shall
    /// touch for keys that are being sealed anew.
    func improveAfterwards(
        _ proof: TouchProof, _ account: Account, by requester: Requester, _ client: any Client
    ) {
        // Not the proof itself: nobody else can have a receipt as long as that is there.
        guard let improvement = Improvement(proof) else { return }
        let asker = Asker("signet", by: requester)
        let applicant = Applicant(.upkeep, account: account.uid, asker: asker) { _ in true }
        afterAnswers.add(client) { [self] in
            onService { [self] in
                // Where too many wait, the next touch will do.
                guard let turn = try? await gate.turn(for: applicant, within: .seconds(60)) else {
                    return
                }
                await keep(improvement, account, during: turn)
            }
        }
    }

    /// Signs for a finger that matched, if all stands as it did when the finger was asked for.
    private func proof(
        _ touch: Touch<ScannedFinger>, _ before: AccountSnapshot, _ place: ReceiptTicket,
        _ matter: SignedMatter, _ account: Account, _ item: SealedItemSearch,
        _ readying: KeyPreparation, _ check: StorageCheck
    ) async throws(Denial) -> TouchProof {
        let items: Result<ReadyItems, VaultError>
        do throws(VaultError) {
            items = .success(try await readying.items())
        } catch { items = .failure(error) }
        var standing = try credentials.standing(of: account, since: before)
        // Fingers or credential were changed meanwhile: what matched may be gone from among them.
        guard standing.credential == before.credential else { throw Denial(.badRequest) }
        let recorded = standing.credential.storage
        standing.storage = check.storage(recorded, matchedOn: touch.finger.reader)
        let now = standing
        let opening = try accounts.reading(account) { try item(now) }
        let (assertion, released) = try await sign(
            matter, account, now, place, items, opening, for: touch)
        return TouchProof(
            assertion: assertion, touch: touch, standing: now, place: place,
            released: released, readied: readying.data,
            unrecorded: check.unrecorded(recorded, matchedOn: touch.finger.reader))
    }

    /// Reserves the place of the receipt on disk, so that nothing has to be synced at the touch.
    private func reserve(
        _ account: Account, _ standing: AccountSnapshot, in slot: ReceiptSlot
    ) throws(Denial) -> ReceiptTicket {
        try accounts.reading(account) { () throws(StoreFault) in
            let log = try standing.kept.receipts()
            let reservation = try log.prepare()
            if !reservation.isIntact {
                journal.fault("the receipts were cut or changed", account: account.name)
            }
            return ReceiptTicket(log, reservation, in: slot)
        }
    }

    func ready(
        _ account: Account, _ standing: AccountSnapshot, _ item: SealedItemSearch,
        _ interruption: Interruption
    ) throws(Denial) -> KeyPreparation {
        try accounts.reading(account) {
            let data = try item(standing)
            let key = try standing.key()
            // Only trouble ends the wait: what does not open is told, and destroyed, after a match.
            return KeyPreparation(key, data, in: vaults) { interruption.raise() }
        }
    }

    /// Writes that the finger matched: the next touch counts from there.
    func keepSuccess(of proof: TouchProof, _ account: Account) {
        do throws(Denial) {
            try proof.touch.attempt.succeeded()
        } catch { _ = error }
    }

    /// Writes that a command has used its proof.
    private func settleReceipt(of proof: TouchProof, _ account: Account) {
        do throws(StoreFault) {
            try proof.place.grant()
            try proof.place.end()
        } catch { _ = accounts.denial(for: error, account) }
    }

    /// Whether the machine sleeps, or has slept since a touch: then nobody is let in by it any more.
    func hasSlept(since proof: TouchProof) -> Bool {
        logind.isSuspending || logind.suspensions != proof.touch.suspensions
    }

    /// Keeps what a touch has found out.
    private func keep(
        _ improvement: Improvement, _ account: Account, during turn: borrowing Turn
    ) async {
        await credentials.record(
            improvement.unrecorded, improvement.credential, account, improvement.kept)
    }
}

extension KeyPreparation {
    /// A vault's trouble in the place of the cancellation that it caused.
    fileprivate func reason(instead denial: Denial) -> Denial {
        guard denial.reason == .cancelled, let failure else { return denial }
        return Denial(of: failure, mismatches: denial.mismatches)
    }
}

extension StorageCheck {
    /// What was found wrong on a reader, in the place of the cancellation that it caused.
    fileprivate func reason(instead other: Denial) -> Denial {
        guard other.reason == .cancelled, var denial else { return other }
        denial.mismatches = other.mismatches
        return denial
    }
}

extension AccountSnapshot {
    /// The key, and what opens it.
    func key() throws(StoreFault) -> SealedItem {
        SealedItem(
            vault: credential.vault, sealed: credential.sealed, context: try context())
    }

    /// What the credential must be opened with.
    func context() throws(StoreFault) -> SealingContext {
        try kept.credential.context(of: credential, enrolment, covering: storage)
    }
}

extension Touches {
    /// The turn at the readers for what nobody touches anything for.
    func upkeepTurn(
        _ command: String, _ account: Account, _ client: any Client
    ) async throws(Denial) -> HeldTurn {
        let asker = Asker(command, by: guards.accountable(client))
        return HeldTurn(
            try await gate.turn(
                for: applicant(.upkeep, account, asker, client),
                within: settings.duration(Settings.touchTimeout) ?? .seconds(60)))
    }

    /// A touch, its receipt in the account's chain, and then what it is for, in the same request.
    func afterTouch(
        _ plan: TouchPlan, _ matter: SignedMatter, _ client: any Client,
        _ body: (AccountSnapshot, Touch<ScannedFinger>) async throws(Denial) -> Answer
    ) async throws(Denial) -> Answer {
        let presence = try await guards.admit(plan, client)
        let proof = try await settledTouch(plan, presence, matter, client)
        settleCommand(proof, plan.account, by: presence.requester, client)
        if hasSlept(since: proof) { throw Denial(.suspending) }
        return try await body(
            try credentials.standing(of: plan.account, since: proof.standing), proof.touch)
    }

    /// Tells those who watch of a touch. Not of one that the account itself asks for at a prompt on
    /// its terminal, if a program with root's rights says so: of others nobody knows what they show.
    func tell(
        _ plan: TouchPlan, _ presence: Presence, _ client: any Client
    ) -> Watchers.Announcement? {
        let isOnTerminal = plan.login.map { $0.presence != .noTerminal } ?? false
        let isPrompted = client.peer.uid == 0 && isOnTerminal
        if isPrompted, !presence.isForOther { return nil }
        return watchers.announce(plan, by: presence.requester)
    }
}
