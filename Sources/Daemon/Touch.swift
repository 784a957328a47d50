import Loop
import Policy
import Posix
import Reader
import Statement
import Store
import Vault
import Wire

/// What a touch is to sign, beside what the daemon knows itself.
struct SignedMatter: Sendable {
    let namespace: SignatureNamespace
    let challenge: Bytes
    let service: Bytes
    let terminal: Bytes
    let purpose: Bytes
    /// The server that the login is at, too.
    var server: ServerLines?
}

/// A touch that proved itself, and what it leaves to do.
struct TouchProof {
    let assertion: Assertion
    let finger: MatchedFinger
    let kept: AccountState
    let place: ReceiptPlace
    /// What was to be released with it; what could not be opened leaves the proof as it is.
    let released: Result<SecretBytes, VaultError>?
    /// What was got ready to be released, before the match.
    let readied: SealedItem?
    let credential: FoundCredential
    /// What is to be recorded of the reader that matched, where nothing was.
    let unrecorded: [ReaderStorage]?
}

/// A reserved place in the chain of receipts.
struct ReceiptPlace {
    let log: ReceiptLog
    let reservation: Reservation
}

extension Service {
    /// A touch that signs, and may release something sealed: from how things stand to the proof.
    ///
    /// The caller has the turn at the reader. `item` finds what is to be released, nil for nothing;
    /// it is asked again after the match.
    func touch(
        _ wish: TouchWish, _ matter: SignedMatter, until end: Duration, _ client: any Client,
        releasing item: (Standing) throws(StoreFault) -> Ruling<SealedItem?> = { _ in .allow(nil) }
    ) async -> Ruling<TouchProof> {
        await openTemplatesForListing()
        await tidyReaders()
        // Once more: while this request waited, the fingers may have changed.
        let standing: Standing
        switch self.standing(of: wish.account) {
        case .deny(let denial): return .deny(denial)
        case .allow(let now): standing = now
        }
        // Before anything is written for a touch that cannot be.
        if let denial = denial(of: standing.kept.lockout.load()) { return .deny(denial) }
        let place: ReceiptPlace
        switch reserve(wish.account, standing) {
        case .deny(let denial): return .deny(denial)
        case .allow(let reserved): place = reserved
        }
        let interruption = Interruption()
        let readying: Readying
        switch ready(wish.account, standing, item, interruption) {
        case .deny(let denial): return .deny(denial)
        case .allow(let begun): readying = begun
        }
        defer { readying.end() }
        let check = StorageCheck()
        let matched = await interruptible(by: interruption) { [self] in
            await attempt(
                wish, standing.kept, standing.enrolment, until: end, client,
                examine: examination(wish.account, standing, check, interruption))
        }
        switch matched {
        case .deny(let denial):
            return .deny(check.reason(instead: readying.reason(instead: denial)))
        case .allow(let finger):
            let ruling = await proof(
                finger, standing, place, matter, wish.account, item, readying, check)
            if case .deny = ruling { takeBack(finger.counted, wish.account) }
            return ruling
        }
    }

    /// Signs for a finger that matched, if all stands as it did when the finger was asked for.
    private func proof(
        _ finger: MatchedFinger, _ before: Standing, _ place: ReceiptPlace,
        _ matter: SignedMatter, _ account: Account,
        _ item: (Standing) throws(StoreFault) -> Ruling<SealedItem?>, _ readying: Readying,
        _ check: StorageCheck
    ) async -> Ruling<TouchProof> {
        let items: Result<ReadyItems, VaultError>
        do throws(VaultError) {
            items = .success(try await readying.items())
        } catch { items = .failure(error) }
        var now: Standing
        switch standing(of: account, before.kept) {
        case .deny(let denial): return .deny(denial)
        case .allow(let found): now = found
        }
        // Fingers or credential were changed meanwhile: what matched may be gone from among them.
        guard now.credential == before.credential else { return .deny(Denial(.badRequest)) }
        let recorded = now.credential.storage
        now.storage = check.storage(recorded, matchedOn: finger.reader)
        let standing = now
        let opening: SealedItem?
        switch reading(account, { () throws(StoreFault) in try item(standing) }) {
        case .deny(let denial): return .deny(denial)
        case .allow(let found): opening = found
        }
        switch await sign(matter, account, standing, place, items, opening) {
        case .deny(let denial): return .deny(denial)
        case .allow(let (assertion, released)):
            return .allow(
                TouchProof(
                    assertion: assertion, finger: finger, kept: before.kept, place: place,
                    released: released, readied: readying.data, credential: standing.credential,
                    unrecorded: check.unrecorded(recorded, matchedOn: finger.reader)))
        }
    }

    /// Reserves the place of the receipt on disk, so that nothing has to be synced at the touch.
    private func reserve(_ account: Account, _ standing: Standing) -> Ruling<ReceiptPlace> {
        reading(account) { () throws(StoreFault) in
            let log = try standing.kept.receipts()
            let reservation = try log.prepare()
            if !reservation.isIntact {
                journal.fault("the receipts were cut or changed", account: account.name)
            }
            return .allow(ReceiptPlace(log: log, reservation: reservation))
        }
    }

    private func ready(
        _ account: Account, _ standing: Standing,
        _ item: (Standing) throws(StoreFault) -> Ruling<SealedItem?>, _ interruption: Interruption
    ) -> Ruling<Readying> {
        reading(account) { () throws(StoreFault) in
            let data: SealedItem?
            switch try item(standing) {
            case .deny(let denial): return .deny(denial)
            case .allow(let found): data = found
            }
            let key = SealedItem(
                vault: standing.credential.vault, sealed: standing.credential.sealed,
                context: try standing.context())
            // Only trouble ends the wait: what does not open is told, and destroyed, after a match.
            return .allow(Readying(key, data, in: vaults) { interruption.raise() })
        }
    }

    /// Has done when the answer is out what a success leaves to do: nobody waits for this. The turn
    /// ends when all of it is written, since the next touch counts from there.
    func settleAfterwards(_ proof: TouchProof, _ account: Account, _ client: any Client) {
        afterwards(client) { [self] in
            do throws(StoreFault) {
                try proof.finger.counted.succeeded()
                try proof.place.log.flush()
            } catch {
                journal.fault(error.description, account: account.name)
            }
            guard proof.improves else { return queue.leave() }
            onService { [self] in await improve(proof, account) }
        }
    }

    /// The same where something goes on after the touch: at once what the next touch counts from, so
    /// that the reader is free for others. What takes its time has that when the answer is out, in a
    /// turn of its own: nobody shall touch for keys that are being sealed anew.
    func settleNow(
        _ proof: TouchProof, _ account: Account, _ asker: Asker, _ client: any Client
    ) {
        do throws(StoreFault) {
            try proof.finger.counted.succeeded()
            try proof.place.log.flush()
        } catch {
            journal.fault(error.description, account: account.name)
        }
        queue.leave()
        guard proof.improves else { return }
        afterwards(client) { [self] in
            onService { [self] in
                let turn = await queue.turn(for: asker, of: account.uid) { _ in }
                // Where too many wait, the next touch will do.
                guard case .granted = turn else { return }
                await improve(proof, account)
            }
        }
    }

    /// Whether the machine sleeps, or has slept since a touch: then nobody is let in by it any more.
    func hasSlept(since proof: TouchProof) -> Bool {
        logind.isSuspending || logind.sleeps != proof.finger.sleeps
    }

    /// Keeps what a touch has found out, and ends the turn.
    private func improve(_ proof: TouchProof, _ account: Account) async {
        if let storage = proof.unrecorded {
            await record(storage, proof.credential, account, proof.kept)
        }
        await keepUpdate(proof.finger, account, proof.kept)
        queue.leave()
    }

    /// Keeps the template that the reader improved, in the place of the one that matched.
    ///
    /// A credential that opens for the old template is sealed to the new one: the same finger has
    /// just matched, and the key stays the same for whoever registered it. Secrets are, too.
    func keepUpdate(
        _ finger: MatchedFinger, _ account: Account, _ kept: AccountState
    ) async {
        guard var bytes = finger.updated?.bytes else { return }
        do throws(StoreFault) {
            let enrolment = try kept.prints.enrolment()
            let change = try kept.prints.draft(
                updating: finger.print.identifier, template: &bytes)
            // Before the change: whichever prints a crash leaves, secrets open for them.
            let lost = await reseal(kept, from: enrolment.state, to: change.enrolment.state)
            try await resealServerKeys(
                kept, from: enrolment.state, to: change.enrolment.state)
            switch try credentialState(account, kept, enrolment) {
            case .issued(let credential):
                let keyring = try keyringState(account, kept, enrolment)
                try await keep(change, credential, kept, from: enrolment, lost)
                if case .kept(let password) = keyring {
                    try await reseal(password, kept, from: enrolment)
                }
            case .none, .disabled, .destroyed, .damaged:
                try checkSecrets(kept, enrolment, change, lost)
                try kept.prints.commit(change)
            }
        } catch { journal.fault(error.description, account: account.name) }
    }

    private func keep(
        _ change: PrintChange, _ credential: FoundCredential, _ kept: AccountState,
        from enrolment: Enrolment, _ lost: Set<Bytes>
    ) async throws(StoreFault) {
        let old = try kept.credential.context(of: credential, enrolment)
        let new = try kept.credential.context(of: credential, change.enrolment)
        let resealed: [UInt8]
        do throws(VaultError) {
            resealed = try await vaults.call(credential.vault) { vault throws(VaultError) in
                try vault.reseal(key: credential.sealed, from: old, to: new)
            }
        } catch { throw .vault(error) }
        // While the vault was at work, login by finger may have been switched off.
        guard try kept.credential.state() == .issued(credential) else {
            throw .changedMeanwhile
        }
        try checkSecrets(kept, enrolment, change, lost)
        try kept.credential.keep(credential, resealed: resealed, with: change)
    }

    /// Throws where a better template would end a secret: one that could not be sealed anew, or was
    /// kept while others were. The old template is good enough.
    private func checkSecrets(
        _ kept: AccountState, _ before: Enrolment, _ change: PrintChange, _ lost: Set<Bytes>
    ) throws(StoreFault) {
        let isSafe = try kept.secrets.fitAlso(
            change.enrolment.state, wherever: before.state, but: lost)
        guard isSafe else { throw .changedMeanwhile }
    }
}

extension TouchProof {
    /// Whether more is known after it than is kept.
    fileprivate var improves: Bool { unrecorded != nil || finger.updated != nil }
}

extension Readying {
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

extension Standing {
    /// What the credential must be opened with.
    func context() throws(StoreFault) -> SealingContext {
        try kept.credential.context(of: credential, enrolment, covering: storage)
    }
}
