// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import SignedFormats
import State

/// Serves the clients of the system bus, for which `signet-fprint` asks.
///
/// Each request is judged as one of the client that it names (`BusClients`), and everything that it
/// needs is asked for anew: nothing that `signet-fprint` says about an earlier request is believed.
/// No key is opened but the account's own, for the receipt of a touch; no one is logged in.
@ServiceActor
final class DesktopService: RequestService {
    let accounts: Accounts
    let clients: BusClients
    let clock: Clock
    let enrolments: Enrolments
    let fingers: Fingers
    let guards: TouchGuards
    let journal: DecisionJournal
    let pendingChanges: PendingFingerChanges
    let polkit: Polkit
    let queue: TouchQueue
    let readers: ReaderPool
    let touches: Touches

    init(_ parts: Collaborators) {
        accounts = parts.accounts
        clients = BusClients(
            bus: parts.logind, examiner: parts.examiner, journal: parts.journal)
        clock = parts.clock
        enrolments = parts.enrolments
        fingers = parts.fingers
        guards = parts.guards
        journal = parts.journal
        pendingChanges = parts.pendingChanges
        polkit = Polkit(bus: parts.logind, journal: parts.journal)
        queue = parts.queue
        readers = parts.readers
        touches = parts.touches
    }
}

extension DesktopService {
    /// The handlers of the desktop interface.
    var handlers: [RequestHandler] {
        [
            RequestHandler(claim), RequestHandler(list), RequestHandler(verify),
            RequestHandler(enroll), RequestHandler(delete),
        ]
    }

    /// Answers whether a client may use the readers for an account, and for which.
    ///
    /// The account need not exist, as the interface has it. Throws `notPermitted` if polkit refuses.
    func claim(
        _ request: DesktopClaimRequest, client: any Client
    ) async throws(Denial) -> Answer {
        let found = try await clients.find(request.client)
        // Asked now, because polkit answers while the client is looked at.
        let use = await ahead(.verify, for: found.name, mayAsk: request.account == nil)
        defer { use.cancel() }
        let client = try await clients.confirm(found, asking: client)
        let own = (try? Account.with(uid: client.peer.uid)).map { AccountName($0.name) }
        guard let account = request.account ?? own else { throw Denial(.unknownAccount) }
        if account != own { try await authorize(.setUserName, client: client) }
        try await authorizeUse(client, asked: use)
        return .of(
            DesktopAccountAnswer(account: account, program: client.process.programName))
    }

    /// Sends the fingers of an account, without those whose prints are damaged.
    ///
    /// Throws `notEnrolled` if there are none, and `notPermitted` if polkit refuses.
    func list(
        _ request: DesktopListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let client = try await clients.client(request.client, asking: client)
        if client.peer.uid != account.uid { try await authorize(.setUserName, client: client) }
        try await authorizeUse(client)
        let (_, enrolment) = try accounts.fingers(of: account)
        for print in enrolment.answers { await client.send(.print(print)) }
        return .done(DoneAnswer(prints: enrolment.count))
    }

    /// Waits for a finger of the account, one that matches or one that does not.
    ///
    /// If none is named, any of the account's may match; on a reader that cannot tell fingers apart,
    /// only the first of the list, which the client is told to ask for.
    ///
    /// The client must be at the machine, and the account be its own unless it runs as root. The
    /// attempt counts like any other, and so does its success. A login that asks for a touch
    /// meanwhile gets the reader at once, and this request ends with `enrolmentYielded`; it does not
    /// go on by itself, so that a touch for the login is never taken for this request.
    func verify(
        _ request: DesktopVerifyRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let found = try await clients.find(request.client)
        // polkit, the readers' process and logind answer while this process does its own part.
        let inquiry = await guards.inquire(for: DesktopVerifyRequest.rule.touch?.guards ?? [])
        defer { inquiry.cancel() }
        let consent = await ahead(.verify, for: found.name, mayAsk: true)
        defer { consent.cancel() }
        let client = try await clients.confirm(found, asking: client)
        guards.judge(plan(for: request, account: account), client: client, in: inquiry)
        // Without polkit's consent, no guard is checked that could change anything, and nothing else
        // is told.
        guard try await consent.result().get().verdict != .refused, !client.hasLeft else {
            throw Denial(.notPermitted)
        }
        // The time for the finger begins only now: polkit may have had a password given.
        var plan = plan(for: request, account: account)
        let presence = try await guards.admit(plan, client: client, inquiry: inquiry)
        let matter = try matter(for: account)
        let (_, enrolment) = try accounts.fingers(of: account)
        let awaited = enrolment.prints.filter {
            request.finger == nil || $0.finger == request.finger
        }
        guard let first = awaited.first else {
            throw Denial(.unknownFinger, finger: request.finger)
        }
        let isOnlyOne: Bool
        if awaited.count == 1 {
            isOnlyOne = true
        } else {
            isOnlyOne = await !canTellApart(first, asked: inquiry)
        }
        if isOnlyOne { plan.finger = first.finger }
        await client.send(.of(DesktopAdmittedAnswer(finger: plan.finger)))
        let proof = try await touch(plan, presence: presence, matter: matter, client: client)
        touches.settleAfterwards(
            proof, account: account, by: presence.requester, client: client.connection)
        if touches.hasSlept(since: proof) { throw Denial(.suspending) }
        return .done(DoneAnswer(finger: proof.touch.finger.print.finger))
    }

    /// Adds a finger, as `signet enroll` does, after polkit has had the password given.
    ///
    /// It is only for the client's own account, unless the client runs as root. The password that
    /// polkit has seen is not known here, so a login password that is stored for the keyring is
    /// dropped if it was sealed to the former fingers. Ssh keys stay usable. The finger is compared
    /// before on each reader that can do so, because clients of the bus have been told how many
    /// scans there will be.
    func enroll(
        _ request: DesktopEnrollRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let client = try await clients.client(request.client, asking: client)
        let approval = try await authorizeChange(of: account, client: client)
        let plan = guards.plan(
            for: DesktopEnrollRequest.self, account: account, milliseconds: .max)
        _ = try await guards.admit(plan, client: client)
        await client.send(.of(DesktopAdmittedAnswer(finger: request.finger)))
        return try await enrolments.enroll(
            EnrollRequest(
                account: request.account, finger: request.finger, readerID: request.readerID),
            account: account, approval: approval, client: client, comparing: .always,
            compared: { client.post(.of(DesktopComparedAnswer())) })
    }

    /// Deletes one finger or all of them, as `signet delete` does, after polkit has had the password
    /// given. It may be for the same accounts as `enroll`.
    func delete(
        _ request: DesktopDeleteRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let client = try await clients.client(request.client, asking: client)
        let approval = try await authorizeChange(of: account, client: client)
        return try await fingers.delete(
            DeleteRequest(account: request.account, finger: request.finger), account: account,
            approval: approval, client: client)
    }
}

extension DesktopService {
    /// Throws `notPermitted` unless polkit authorises the action.
    private func authorize(
        _ action: Polkit.Action, client: DesktopClient
    ) async throws(Denial) {
        guard try await polkit.verdict(on: action, for: client.name) != .refused,
            !client.hasLeft
        else { throw Denial(.notPermitted) }
    }

    /// Throws `notPermitted` unless polkit authorises the client to verify or to enrol; either
    /// suffices to claim a device and to list fingers.
    ///
    /// - Parameter asked: polkit's answer about verifying, if it was asked for ahead. If polkit was not
    ///   allowed to ask the user, and would have to, it is asked once more.
    private func authorizeUse(
        _ client: DesktopClient, asked: Ahead<Result<Polkit.Answered, Denial>>? = nil
    ) async throws(Denial) {
        if let answered = try await asked?.result().get() {
            if answered.verdict != .refused, !client.hasLeft { return }
            if !answered.wouldAsk { return try await authorize(.enroll, client: client) }
        }
        if try await polkit.verdict(on: .verify, for: client.name) != .refused, !client.hasLeft {
            return
        }
        try await authorize(.enroll, client: client)
    }

    /// Begins to ask polkit about a client that the bus knows.
    private func ahead(
        _ action: Polkit.Action, for client: BusClientName, mayAsk: Bool
    ) async -> Ahead<Result<Polkit.Answered, Denial>> {
        await Ahead.begin { [polkit] in
            do throws(Denial) {
                return .success(try await polkit.answer(on: action, for: client, mayAsk: mayAsk))
            } catch { return .failure(error) }
        }
    }

    /// What a verification asks of the readers, from now on.
    private func plan(for request: DesktopVerifyRequest, account: Account) -> TouchPlan {
        var plan = guards.plan(
            for: DesktopVerifyRequest.self, account: account, milliseconds: .max)
        (plan.tries, plan.purpose, plan.finger) = (1, .desktop, request.finger)
        return plan
    }

    /// Throws unless polkit authorises a change of fingers, just now.
    ///
    /// While it is asked, its helper cannot get a touch (`PendingFingerChanges`). The approval has
    /// evidence only if polkit had a password given, which it does not for root.
    private func authorizeChange(
        of account: Account, client: DesktopClient
    ) async throws(Denial) -> ChangeApproval {
        guard client.peer.uid == account.uid || client.peer.uid == 0 else {
            throw Denial(.notPermitted)
        }
        let authorized = try await pendingChanges.during(
            account: account.uid, requester: client.peer.uid
        ) { () throws(Denial) in
            try await ChangeGate.authorized(
                of: account.uid, query: client.name, by: polkit, clock: clock)
        }
        // The name that polkit was asked about must have been the client's until now.
        guard !client.hasLeft else { throw Denial(.notPermitted) }
        return ChangeApproval(authorized?.change)
    }

    /// Takes a turn at the readers, which a login can end, and waits for the finger during it.
    private func touch(
        _ plan: TouchPlan, presence: Presence, matter: SignedMatter, client: DesktopClient
    ) async throws(Denial) -> TouchProof {
        let signing = try await touches.signingTurn(plan, presence: presence, client: client)
        let interruption = Interruption()
        queue.mayInterrupt(signing.turn, by: interruption)
        do throws(Denial) {
            return try await touches.touch(
                plan, presence: presence, matter: matter, during: signing.turn, in: signing.slot,
                client: client, interruptedBy: interruption)
        } catch {
            guard error.reason == .cancelled, queue.hasYielded(signing.turn) else { throw error }
            throw Denial(.enrolmentYielded, mismatches: error.mismatches)
        }
    }

    /// Whether a reader compares a finger with several at once; clients are told to ask for the
    /// first one where it does not.
    private func canTellApart(
        _ print: StoredPrint, asked inquiry: GuardInquiry
    ) async -> Bool {
        guard let template = try? Template(bytes: print.template) else { return true }
        let known = (try? await inquiry.readers()?.get()) ?? []
        var fitting = ReaderPool.fitting(template, among: known)
        if fitting.isEmpty { fitting = await readers.found(for: template) }
        return fitting.isEmpty || fitting.contains { $0.features.contains(.identify) }
    }

    /// The statement for the receipt.
    ///
    /// No caller verifies it, so the daemon chooses the challenge itself, at random.
    private func matter(for account: Account) throws(Denial) -> SignedMatter {
        do throws(SystemFault) {
            return SignedMatter(
                namespace: .desktop,
                challenge: Challenge(random: try randomBytes(Challenge.count)),
                service: .signet, terminal: [],
                purpose: Bytes(DesktopVerifyRequest.command.utf8))
        } catch { throw accounts.denial(for: error, account: account) }
    }
}
