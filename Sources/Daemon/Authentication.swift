import Crypto
import Loop
import Policy
import Posix
import Reader
import Statement
import Store
import Systemd
import Texts
import Vault
import Wire

extension Service {
    /// A touch that signs the caller's challenge.
    func authenticate(
        _ request: AuthenticateRequest, _ account: Account, _ client: any Client
    ) async -> Answer {
        let end = clock.sinceBoot() + timeout(request)
        if let denial = remoteDenial(request, client) { return .denial(denial) }
        if case .deny(let denial) = standing(of: account) { return .denial(denial) }
        let wish = wish(request, account)
        if let denial = await turnDenial(wish, client) { return .denial(denial) }
        switch await proof(wish, request, until: end, client) {
        case .deny(let denial):
            queue.leave()
            return .denial(denial)
        case .allow(let proof):
            // The turn ends when all is written that this touch leaves to write: the next one
            // counts from there.
            afterwards(client) { [self] in
                settle(proof, account)
                queue.leave()
            }
            return .assertion(proof.assertion)
        }
    }

    private func proof(
        _ wish: TouchWish, _ request: AuthenticateRequest, until end: Duration,
        _ client: any Client
    ) async -> Ruling<TouchProof> {
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
        switch await attempt(wish, standing.kept, standing.enrolment, until: end, client) {
        case .deny(let denial): return .deny(denial)
        case .allow(let finger): return proof(finger, standing, place, request, wish.account)
        }
    }

    /// Signs for a finger that matched, if all stands as it did when the finger was asked for.
    private func proof(
        _ finger: MatchedFinger, _ before: Standing, _ place: ReceiptPlace,
        _ request: AuthenticateRequest, _ account: Account
    ) -> Ruling<TouchProof> {
        let ruling: Ruling<Assertion>
        switch standing(of: account, before.kept) {
        case .deny(let denial): ruling = .deny(denial)
        // Fingers or credential were changed meanwhile: what matched may be gone from among them.
        case .allow(let now) where now.credential != before.credential:
            ruling = .deny(Denial(.badRequest))
        case .allow(let now):
            ruling = reading(account) { () throws(StoreFault) in
                try sign(request, account, now, place)
            }
        }
        switch ruling {
        case .deny(let denial):
            takeBack(finger.counted, account)
            return .deny(denial)
        case .allow(let assertion):
            return .allow(
                TouchProof(assertion: assertion, finger: finger, kept: before.kept, place: place))
        }
    }

    /// Why a touch would not speak for the person who asks: they are not at this machine.
    private func remoteDenial(_ request: AuthenticateRequest, _ client: any Client) -> Denial? {
        guard request.remoteHost.isEmpty else { return Denial(.remoteSession) }
        switch Session(ofPeer: client.descriptor).place {
        case .none, .local: return nil
        case .remote, .unknown: return Denial(.remoteSession)
        }
    }

    private func timeout(_ request: AuthenticateRequest) -> Duration {
        let longest = settings.duration(Settings.touchTimeout) ?? .seconds(60)
        return min(.milliseconds(Int64(request.timeoutMilliseconds)), longest)
    }

    private func wish(_ request: AuthenticateRequest, _ account: Account) -> TouchWish {
        let who = Prompt.who(account: Bytes(account.name.utf8), terminal: request.terminal)
        let name: Text = "\(request.service) (\(who))"
        return TouchWish(
            account: account, who: Bytes(name.bytes.prefix(Limit.text)),
            tries: min(Int(request.maximumTries), settings.count(Settings.touchTries)),
            timeout: timeout(request))
    }
}

/// A reserved place in the chain of receipts.
private struct ReceiptPlace {
    let log: ReceiptLog
    let reservation: Reservation
}

/// A touch that proved itself, and what it leaves to do.
private struct TouchProof {
    let assertion: Assertion
    let finger: MatchedFinger
    let kept: AccountState
    let place: ReceiptPlace
}

extension Service {
    /// Reserves the place of the receipt on disk, so that nothing has to be synced at the touch.
    private func reserve(_ account: Account, _ standing: Standing) -> Ruling<ReceiptPlace> {
        reading(account) { () throws(StoreFault) in
            let log = try standing.kept.receipts()
            let reservation = try log.prepare()
            if !reservation.isIntact {
                journal.fault("the receipts were cut or changed", account: account.name)
            }
            do throws(VaultError) { try vault.prepare() } catch { throw .vault(error) }
            return .allow(ReceiptPlace(log: log, reservation: reservation))
        }
    }

    /// Opens the key with the fingers that were matched, signs, and writes the receipt.
    private func sign(
        _ request: AuthenticateRequest, _ account: Account, _ standing: Standing,
        _ place: ReceiptPlace
    ) throws(StoreFault) -> Ruling<Assertion> {
        let key: any SigningKey
        do throws(StoreFault) {
            key = try standing.kept.credential.open(
                standing.credential, standing.enrolment, vault: vault)
        } catch {
            guard error == .vault(.doesNotOpen) || error == .vault(.malformed) else { throw error }
            let cause = try standing.kept.credential.explain(
                standing.credential, standing.enrolment)
            _ = try destroy(account, standing.kept, because: cause)
            return .deny(Denial(.invalidated, cause: cause, since: instant.seconds))
        }
        let text = statement(request, account, standing, place.reservation).encoded()
        do {
            let data = SSHSignature.signedData(
                namespace: SignatureNamespace.login.bytes,
                messageDigest: try SHA256.digest(text))
            let numbers = try key.sign(data)
            let blob = SSHSignature(
                publicKey: standing.credential.publicKey, namespace: .login,
                r: numbers.r, s: numbers.s
            ).blob
            try place.log.append(Receipt.text(statement: text, signature: blob))
            return .allow(Assertion(statement: text, signature: blob))
        } catch let fault as StoreFault {
            throw fault
        } catch let error as VaultError {
            throw .vault(error)
        } catch let fault as CryptoFault {
            throw .vault(.crypto(fault))
        } catch {
            throw .vault(.malformed)
        }
    }

    private func statement(
        _ request: AuthenticateRequest, _ account: Account, _ standing: Standing,
        _ reservation: Reservation
    ) -> Statement {
        Statement(
            audience: Audience.local, account: Bytes(account.name.utf8), uid: account.uid,
            device: state.device, credential: standing.credential.identifier,
            challenge: request.challenge, service: request.service, terminal: request.terminal,
            purpose: request.purpose, factor: Factor.fingerprint,
            enrolment: standing.enrolment.state.generation, counter: reservation.counter,
            previous: reservation.previous, issued: instant)
    }

    /// What a success leaves to do when the answer is out: nobody waits for this.
    private func settle(_ proof: TouchProof, _ account: Account) {
        do throws(StoreFault) {
            try proof.finger.counted.succeeded()
            try proof.place.log.flush()
            try keepUpdate(proof.finger, account, proof.kept)
        } catch {
            journal.fault(error.description, account: account.name)
        }
    }

    /// Keeps the template that the reader improved, in the place of the one that matched.
    ///
    /// A credential that opens for the old template is sealed to the new one: the same finger has
    /// just matched, and the key stays the same for whoever registered it.
    func keepUpdate(
        _ finger: MatchedFinger, _ account: Account, _ kept: AccountState
    ) throws(StoreFault) {
        guard var bytes = finger.updated?.bytes else { return }
        let enrolment = try kept.prints.enrolment()
        switch try credentialState(account, kept, enrolment) {
        case .issued(let credential):
            try kept.credential.improve(
                finger.print.identifier, template: &bytes, credential, vault: vault)
        case .none, .disabled, .destroyed, .damaged:
            try kept.prints.update(finger.print.identifier, template: &bytes)
        }
    }
}
