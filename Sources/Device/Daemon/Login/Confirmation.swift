// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix
import State

/// A proof that was sent to its client and takes effect once the client has confirmed it.
///
/// It ends exactly once: when it is confirmed or refused, when `confirmationTime` is over, or when
/// the client asks for something else or disconnects. If it holds the reader, no other request gets
/// a turn until then. Ending writes the success and the receipt, and releases the reader.
@ServiceActor
final class PendingConfirmation: AwaitedConfirmation {
    let account: Account
    let challenge: Bytes
    let service: Bytes
    let terminal: Bytes
    let proof: TouchProof
    let presence: Presence
    /// The login password to send with the confirmation, if any.
    let password: SecretBytes?
    /// The server that approved the login, if one had to.
    let server: LoginAtServer?
    /// When the proof becomes void, as time since boot.
    fileprivate var deadline: Duration = .zero
    fileprivate var ended: () -> Void = {}
    fileprivate var timer: Timer?
    /// Work to do after it has ended, when the client no longer waits.
    var afterwards: () -> Void = {}
    private var held: HeldTurn?
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

    /// Whether the reader was held all along, so that no other request can have used it since.
    fileprivate var holdsReader: Bool { held != nil }

    /// Whether this is the first confirmation request. A second one is always refused.
    fileprivate func isFirstQuestion() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Ends the confirmation: writes what the touch has left to write, and releases the reader.
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
    /// How long a proof may be confirmed. The module asks as soon as it has verified the proof; a
    /// process that was stopped in between is too late.
    static let confirmationTime = Duration.seconds(1)

    /// Registers a proof that is about to be sent, and starts the time limit for its confirmation.
    func awaitConfirmation(_ pending: PendingConfirmation, client: any Client) {
        pending.deadline = clock.sinceBoot() + Self.confirmationTime
        let (account, proof, holdsReader) = (pending.account, pending.proof, pending.holdsReader)
        pending.ended = { [self] in
            // If the reader was free in the meantime, the success is written already, and others
            // may have failed since.
            if holdsReader { touches.keepSuccess(of: proof, account: account) }
            do throws(StoreFault) {
                try proof.place.end()
            } catch { _ = accounts.denial(for: error, account: account) }
        }
        // The proof takes the password and the place in the receipt chain with it.
        pending.timer = Timer(after: Self.confirmationTime) { [weak client, weak pending] in
            if let pending, client?.confirmation === pending { client?.confirmation = nil }
        }
        client.confirmation = pending
    }

    /// Grants a proof: once, within `confirmationTime`, and only if nothing has changed since the
    /// touch.
    ///
    /// The receipt says on disk that the proof was granted before the answer goes out. Throws
    /// `answerTooLate` if there is no such proof or its time is over, and `changedMeanwhile` or the
    /// reason if the account, the lockout, the server key or the user's presence has changed.
    func confirm(
        _ request: ConfirmRequest, account: Account, client: any Client
    ) throws(Denial) -> Answer {
        guard let pending = client.confirmation as? PendingConfirmation, pending.isFirstQuestion(),
            pending.account == account, pending.challenge == request.challenge,
            clock.sinceBoot() <= pending.deadline
        else {
            client.confirmation = nil
            throw Denial(.answerTooLate)
        }
        // The rest is written after the answer, so that the client does not wait for it.
        afterAnswers.add(client) { client.confirmation = nil }
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

    /// Throws if anything that the proof relied on has changed since the touch.
    private func checkStillGood(_ pending: PendingConfirmation) throws(Denial) {
        if touches.hasSlept(since: pending.proof) { throw Denial(.changedMeanwhile) }
        let standing = try credentials.standing(of: pending.account, since: pending.proof.standing)
        guard standing.credential == pending.proof.credential else {
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
