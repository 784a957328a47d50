import Gate
import Loop
import Posix
import Store
import Wire

/// A proof that has gone out and is good once its client has asked whether it still is.
struct PendingConfirmation {
    let account: Account
    let challenge: Bytes
    let service: Bytes
    let proof: TouchProof
    let presence: Presence
    /// The login password that goes with the confirmation, if one does.
    let password: SecretBytes?
    /// The server that said yes, too.
    let server: LoginAtServer?
    /// Since the start of the machine; later it is void.
    let end: Duration
}

extension Service {
    /// How long a proof may be confirmed: the module asks as soon as it has verified it. A process
    /// that was stopped meanwhile comes too late.
    static let confirmationTime = Duration.seconds(1)

    /// Remembers a proof that is about to go out, until its client asks for it, once, asks for
    /// something else, or goes.
    func awaitConfirmation(
        of proof: TouchProof, _ request: AuthenticateRequest, _ presence: Presence,
        _ account: Account, _ password: SecretBytes?, _ server: LoginAtServer?,
        _ client: any Client
    ) {
        client.confirmation = PendingConfirmation(
            account: account, challenge: request.challenge, service: request.service,
            proof: proof, presence: presence, password: password, server: server,
            end: clock.sinceBoot() + Self.confirmationTime)
    }

    /// Whether a proof is still good: within a second, once, and if nothing has changed since the
    /// touch. The receipt that says so is on disk before the answer.
    func confirm(
        _ challenge: Bytes, _ account: Account, _ client: any Client
    ) throws(Denial) -> Answer {
        guard let pending = client.confirmation.take(), pending.account == account,
            pending.challenge == challenge, clock.sinceBoot() <= pending.end
        else { throw Denial(.answerTooLate) }
        try checkStillGood(pending)
        try grant(pending)
        improveAfterwards(pending.proof, account, by: pending.presence.requester, client)
        if let password = pending.password {
            client.enclose(password)
            journal.released(to: pending.service, of: account)
        }
        return .confirmed(password: nil)
    }

    private func checkStillGood(_ pending: PendingConfirmation) throws(Denial) {
        if hasSlept(since: pending.proof) { throw Denial(.suspending) }
        let kept = pending.proof.kept
        let standing = try standing(of: pending.account, kept)
        guard standing.credential == pending.proof.credential else {
            throw Denial(.changedMeanwhile)
        }
        try lockoutLedger(of: pending.account, kept).check()
        if let server = pending.server {
            try checkChanges(since: pending.proof, server, pending.account)
        }
        try examiner.confirm(pending.presence)
    }

    /// Notes in the receipts that the proof was used.
    private func grant(_ pending: PendingConfirmation) throws(Denial) {
        try reading(pending.account) { () throws(StoreFault) in
            try pending.proof.place.log.flush()
        }
    }
}
