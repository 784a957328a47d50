// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Posix
import Store

/// A proof that has gone out and is good once its client has asked whether it still is.
///
/// It ends once: when it was confirmed or refused, when its second is over, or when its client asks
/// for something else or goes. Until then nobody else has the reader, where it is held.
@ServiceActor
final class PendingConfirmation: AwaitedConfirmation {
    let account: Account
    let challenge: Bytes
    let service: Bytes
    let terminal: Bytes
    let proof: TouchProof
    let presence: Presence
    /// The login password that goes with the confirmation, if one does.
    let password: SecretBytes?
    /// The server that said yes, too.
    let server: LoginAtServer?
    /// Since the start of the machine; later it is void.
    fileprivate var deadline: Duration = .zero
    fileprivate var ended: () -> Void = {}
    fileprivate var timer: Timer?
    /// What is left to do when it has ended, and nobody waits for.
    var afterwards: () -> Void = {}
    private var held: HeldTurn?
    private var isTaken = false

    init(
        of proof: TouchProof, _ account: Account, _ request: AuthenticateRequest,
        _ presence: Presence, _ password: SecretBytes?, server: LoginAtServer? = nil,
        held: HeldTurn? = nil
    ) {
        self.account = account
        challenge = request.challenge
        service = request.service
        terminal = request.terminal
        self.proof = proof
        self.presence = presence
        self.password = password
        self.server = server
        self.held = held
    }

    /// Whether nobody else can have touched the reader since.
    fileprivate var holdsReader: Bool { held != nil }

    /// Whether this is the first question about it.
    fileprivate func isFirstQuestion() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Has kept what the touch leaves to keep, and gives the reader back.
    func end() {
        timer = nil
        ended()
        ended = {}
        held = nil
        afterwards()
        afterwards = {}
    }
}

extension Logins {
    /// How long a proof may be confirmed: the module asks as soon as it has verified it. A process
    /// that was stopped meanwhile comes too late.
    static let confirmationTime = Duration.seconds(1)

    /// Remembers a proof that is about to go out.
    func awaitConfirmation(_ pending: PendingConfirmation, _ client: any Client) {
        pending.deadline = clock.sinceBoot() + Self.confirmationTime
        let (account, proof, holdsReader) = (pending.account, pending.proof, pending.holdsReader)
        pending.ended = { [self] in
            // Where the reader is free already, others may have failed since this success was written.
            if holdsReader { touches.keepSuccess(of: proof, account) }
            do throws(StoreFault) {
                try proof.place.end()
            } catch { _ = accounts.denial(for: error, account) }
        }
        // With it go the password and the place in the chain of receipts.
        pending.timer = Timer(after: Self.confirmationTime) { [weak client, weak pending] in
            if let pending, client?.confirmation === pending { client?.confirmation = nil }
        }
        client.confirmation = pending
    }

    /// Whether a proof is still good: within a second, once, and if nothing has changed since the
    /// touch. That it was used is on disk, in its receipt, before the answer.
    func confirm(
        _ challenge: Bytes, _ account: Account, _ client: any Client
    ) throws(Denial) -> Answer {
        guard let pending = client.confirmation as? PendingConfirmation, pending.isFirstQuestion(),
            pending.account == account, pending.challenge == challenge,
            clock.sinceBoot() <= pending.deadline
        else {
            client.confirmation = nil
            throw Denial(.answerTooLate)
        }
        // When the answer is out: nobody waits for what is left to write.
        afterAnswers.add(client) { client.confirmation = nil }
        try checkStillGood(pending)
        try accounts.reading(account) { () throws(StoreFault) in
            try pending.proof.place.grant()
        }
        if let password = pending.password {
            client.enclose(password)
            journal.released(to: pending.service, of: account)
        }
        touches.improveAfterwards(pending.proof, account, by: pending.presence.requester, client)
        return .confirmed(password: nil)
    }

    /// Throws where anything has changed since the touch.
    private func checkStillGood(_ pending: PendingConfirmation) throws(Denial) {
        if touches.hasSlept(since: pending.proof) { throw Denial(.changedMeanwhile) }
        let standing = try credentials.standing(of: pending.account, since: pending.proof.standing)
        guard standing.credential == pending.proof.credential else {
            throw Denial(.changedMeanwhile)
        }
        try pending.proof.touch.attempt.check()
        if let server = pending.server {
            try serverLogins.checkChanges(since: pending.proof, server, pending.account)
        }
        try examiner.confirm(pending.presence)
    }
}
