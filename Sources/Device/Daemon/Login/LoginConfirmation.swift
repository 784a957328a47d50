// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import State

/// A login proof that was sent to its client and grants nothing until the client confirms it.
///
/// The client has one chance, for `ConfirmationTime`. The proof becomes void when the client
/// confirms it (whatever the answer is), when the time is up, when the client makes any other
/// request, and when it disconnects. Until then it may hold the reader, so that no other request
/// gets a turn, and the end of the account's receipt chain, so that no other touch can append a
/// receipt.
///
/// Ending it writes the receipt to disk, records the matched finger as a success if the reader was
/// held, and releases the reader and the chain. The receipt of a proof that ends unconfirmed is not
/// marked as granted, unless another touch has taken over the chain
/// (`ReceiptTicket.mayBeFollowed`).
@ServiceActor
final class PendingConfirmation: AwaitedConfirmation {
    let account: Account
    let challenge: Challenge
    let service: ServiceName
    let terminal: Bytes
    let proof: TouchProof
    let presence: Presence
    /// The login password to send with the confirmation; nil if none may be released.
    let password: SecretBytes?
    /// The server that approved the login; nil if no approval was needed.
    let server: LoginAtServer?
    /// How long the client has taken since the proof was sent; nil until then.
    fileprivate var time: ConfirmationTime?
    /// Writes what the touch has not written yet; set by `awaitConfirmation`, run once.
    fileprivate var ended: () -> Void = {}
    fileprivate var timer: Timer?
    /// Work that is postponed until the confirmation has ended, such as the journal entry.
    var afterwards: () -> Void = {}
    private var held: HeldTurn?
    /// Whether a confirmation request was made, right or wrong.
    private var isTaken = false

    init(
        of proof: TouchProof, account: Account, request: AuthenticateRequest,
        presence: Presence, password: SecretBytes?, server: LoginAtServer? = nil,
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

    /// Whether this proof has held the reader since the touch, so that no other request can have
    /// used it.
    fileprivate var holdsReader: Bool { held != nil }

    /// Returns true on the first call and false on every later one.
    ///
    /// A proof can be confirmed only by the first confirmation request, even if that one named the
    /// wrong account or challenge.
    fileprivate func isFirstQuestion() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Voids the proof, writes what the touch has not written yet, and releases the reader.
    ///
    /// Later calls do nothing.
    func settle() {
        timer = nil
        ended()
        ended = {}
        held = nil
        afterwards()
        afterwards = {}
    }
}

/// The time that a client takes to confirm a proof.
///
/// The PAM module asks as soon as it has verified the proof. The short time keeps a process that was
/// stopped in between from using the proof later. What counts is how long the daemon has waited for
/// it: while the daemon writes to a slow disk, or on a machine that does other things, the question
/// may be there long before it is read.
struct ConfirmationTime {
    private let (limit, longest): (Duration, Duration)
    private let clock: Clock
    private let begin: Duration
    private let thread = ThreadNumber()
    private let use: Duration
    private let idle: () -> Duration
    private let idleBefore: Duration

    /// Starts the time; call it on the service's thread, which has no other.
    ///
    /// - Parameters:
    ///   - limit: how long the daemon waits.
    ///   - longest: how long after the proof it reads a confirmation at all.
    ///   - idle: for how long the thread has waited for something to do, so far.
    init(
        _ clock: Clock, limit: Duration = .seconds(1), longest: Duration = .seconds(10),
        idle: @escaping () -> Duration = { MainLoop.idle }
    ) {
        self.clock = clock
        (self.limit, self.longest) = (limit, longest)
        (begin, use) = (clock.sinceBoot(), thread.use)
        self.idle = idle
        idleBefore = idle()
    }

    /// What is left; zero or less if the time is up.
    var left: Duration {
        let gone = clock.sinceBoot() - begin
        guard gone >= limit else { return limit - gone }
        // What it did besides waiting, or for how long it ran or wanted to, which also goes on while a
        // wait has ended without the thread's knowing.
        let busy = max(gone - (idle() - idleBefore), thread.use - use)
        return min(limit - gone + busy, longest - gone)
    }
}

extension PAMLogins {
    /// Registers a proof that is about to be sent as the client's pending confirmation, and starts
    /// its time limit.
    ///
    /// It replaces, and thereby ends, an earlier pending confirmation of the same client. Call this
    /// before the assertion is sent, because the client may confirm immediately.
    func awaitConfirmation(_ pending: PendingConfirmation, client: any Client) {
        let time = ConfirmationTime(clock)
        pending.time = time
        let (account, proof, holdsReader) = (pending.account, pending.proof, pending.holdsReader)
        pending.ended = { [self] in
            // If the reader was not held, the success has been written already, and attempts of
            // other requests may have failed since.
            if holdsReader { touches.keepSuccess(of: proof, account: account) }
            do throws(StoreFault) {
                try proof.place.end()
            } catch { _ = accounts.denial(for: error, account: account) }
        }
        // Ending the confirmation also releases the password and the place in the receipt chain.
        expire(pending, after: time, client: client)
        client.proof.hold(pending)
    }

    /// Voids the proof when its time is up.
    private func expire(
        _ pending: PendingConfirmation, after time: ConfirmationTime, client: any Client
    ) {
        pending.timer = Timer(after: time.left) { [self, weak client, weak pending] in
            guard let pending, let client, client.proof.awaited === pending else { return }
            guard time.left > .zero else { return client.proof.settle() }
            expire(pending, after: time, client: client)
        }
    }

    /// Turns a proof into a login, if nothing that it relied on has changed since the touch.
    ///
    /// The request must come from the client that received the proof, name the same account and
    /// challenge (32 bytes), be that client's next request, and come within `ConfirmationTime`.
    /// The following must still hold: the machine has not slept, the account has the same
    /// credential, no lockout has begun, the account's key for the server is valid if a server took
    /// part, and the requester is still at the machine.
    ///
    /// Before this returns, the receipt is on disk and marked as granted, so a login never takes
    /// effect without one. The login password, if it may be released, is sent with the answer and
    /// logged.
    ///
    /// Throws `answerTooLate` if there is no such proof or its time is up. If a check fails, throws
    /// `changedMeanwhile` or the reason, and the proof is void. Throws `storage` if the receipt
    /// cannot be written.
    func confirm(
        _ request: ConfirmRequest, account: Account, client: any Client
    ) throws(Denial) -> Answer {
        guard let pending = client.proof.awaited as? PendingConfirmation, pending.isFirstQuestion(),
            pending.account == account, pending.challenge == request.challenge,
            let time = pending.time, time.left >= .zero
        else {
            client.proof.settle()
            throw Denial(.answerTooLate)
        }
        // Everything else is written after the answer, so that the client does not wait for it.
        afterAnswers.add(client) { client.proof.settle() }
        try checkStillGood(pending)
        try accounts.reading(account) { () throws(StoreFault) in
            try pending.proof.place.grant()
        }
        if let password = pending.password {
            client.enclose(password)
            journal.released(to: pending.service, of: account)
        }
        touches.improveAfterwards(
            pending.proof, account: account, by: pending.presence.requester, client: client)
        return .confirmed(password: nil)
    }

    /// Throws unless everything that the proof relied on is as it was at the touch.
    ///
    /// Reads the account's records again only if their files have changed. Throws
    /// `changedMeanwhile` after a sleep, if the credential was replaced, or if the requester's
    /// presence would be judged differently; otherwise the denial of the check that failed.
    private func checkStillGood(_ pending: PendingConfirmation) throws(Denial) {
        if touches.hasSlept(since: pending.proof) { throw Denial(.changedMeanwhile) }
        let snapshot = try credentials.revokingSnapshot(
            of: pending.account, since: pending.proof.snapshot)
        guard snapshot.credential == pending.proof.credential else {
            throw Denial(.changedMeanwhile)
        }
        try pending.proof.touch.attempt.check()
        if let server = pending.server {
            try serverLogins.checkChanges(
                since: pending.proof, login: server, account: pending.account)
        }
        try examiner.confirm(pending.presence)
    }
}
