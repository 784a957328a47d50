// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix
import State

/// Decides who may make a request, and hands it to the handler of the part that serves it.
///
/// The order is fixed: rate limit, the caller check of the request's rule, the account, and the
/// password where the rule demands one. A peer that may not ask about an account gets
/// `notPermitted` whether or not that account exists. Guards that are specific to touches are in
/// `TouchGuards`.
@ServiceActor
final class Router: Answering {
    let admission: Admission
    let afterAnswers: AfterAnswers
    let clock: Clock
    let journal: DecisionJournal
    let passwords: PasswordProof
    let recovery: AccountRecovery
    let refusedAttempts: RefusedAttempts
    let templates: TemplateKeys
    /// The handlers, by the verbs of their requests.
    private let handlers: [Verb: RequestHandler]
    /// Users who have been refused by the rate limit and not served since; each is logged once.
    private var rateLimitedUsers: Set<UInt32> = []

    init(
        admission: Admission, afterAnswers: AfterAnswers, clock: Clock, journal: DecisionJournal,
        passwords: PasswordProof, recovery: AccountRecovery, refusedAttempts: RefusedAttempts,
        templates: TemplateKeys, handlers: [RequestHandler]
    ) {
        self.admission = admission
        self.afterAnswers = afterAnswers
        self.clock = clock
        self.journal = journal
        self.passwords = passwords
        self.recovery = recovery
        self.refusedAttempts = refusedAttempts
        self.templates = templates
        self.handlers = Dictionary(
            handlers.map { ($0.request.verb, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Router {
    /// Carries out a request and returns its final answer; every `Denial` becomes an answer too.
    ///
    /// Accounts whose records may be incomplete after a disk fault are recovered before, and again
    /// after a denial.
    func answer(_ request: Request, from client: any Client) async -> Answer {
        await recovery.recoverFaultedAccounts()
        do throws(Denial) {
            return try await serve(request, client: client)
        } catch {
            // Recover at once: the next login reads the public key from disk before it asks this
            // process anything.
            await recovery.recoverFaultedAccounts()
            return .denial(error)
        }
    }

    private func serve(
        _ request: Request, client: any Client
    ) async throws(Denial) -> Answer {
        // A confirmation has to be the very next request. Anything else forfeits the pending proof.
        if !(request.content is ConfirmRequest) {
            (client.confirmation, client.requester) = (nil, nil)
        }
        guard request.rule.beginsRequest else { throw Denial(.badRequest) }
        try checkRate(of: client.process)
        guard let about = request.content as? any AccountRequest else {
            guard request.rule.permits(peerUID: client.peer.uid, accountUID: nil) else {
                throw Denial(.notPermitted)
            }
            return try await handler(of: request).answer(request.content, for: client)
        }
        let account = try account(of: about, rule: request.rule, client: client)
        let handler = try handler(of: request)
        await handler.showFirst(of: account, to: client)
        let password = try await proof(
            request.rule, request: about, account: account, client: client)
        if Swift.type(of: about).readsPrints { await templates.openTemplates(of: account) }
        return try await handler.answer(about, about: account, with: password, for: client)
    }

    /// The handler of a request; throws `badRequest` if no part serves it.
    private func handler(of request: Request) throws(Denial) -> RequestHandler {
        guard let handler = handlers[request.verb] else { throw Denial(.badRequest) }
        return handler
    }

    /// Finishes a request after its answer was sent: runs postponed work, and logs the decision.
    ///
    /// The log entry for a proof that awaits confirmation is postponed until that has ended.
    func answered(_ request: Request, with answer: Answer, to client: any Client) {
        let proven = client.confirmation
        afterAnswers.run(for: client)
        // A client that is refused for asking too often must not flood the journal and drown out
        // other decisions.
        if case .denial(let denial) = answer, denial.reason == .tooManyRequests { return }
        let (journal, peer, requester) = (journal, client.peer, client.requester)
        let record = { journal.record(request, from: peer, by: requester, answer: answer) }
        // The client asks for confirmation right away and the user is waiting for it, so logging
        // comes after that.
        if case .assertion = answer, let pending = client.confirmation {
            pending.afterwards = record
        } else {
            record()
        }
        if case .denial(let denial) = answer {
            refusedAttempts.keepRefusal(denial, of: request, pending: proven, from: client)
        }
    }

    private func checkRate(of process: ClientProcess) throws(Denial) {
        // Root is exempt, because every user's logins arrive through it.
        if process.credentials.uid == 0 { return }
        let uid = process.accountable
        guard !admission.mayRequest(uid: uid, at: clock.sinceBoot()) else {
            rateLimitedUsers.remove(uid)
            return
        }
        if rateLimitedUsers.insert(uid).inserted {
            journal.service("uid \(uid) asks too often and is refused for now")
        }
        throw Denial(.tooManyRequests)
    }

    /// Looks up the account, and checks that the peer may make this request about it.
    ///
    /// Throws `notPermitted` or `unknownAccount`.
    private func account(
        of request: any AccountRequest, rule: VerbRule, client: any Client
    ) throws(Denial) -> Account {
        let name = request.account
        // The account of a pending proof was looked up before the touch.
        let proven = request is ConfirmRequest ? client.confirmation?.account : nil
        let account =
            if let proven, Bytes(proven.name.utf8) == name { proven } else {
                String(validating: name, as: UTF8.self).flatMap { try? Account.named($0) }
            }
        // A peer without permission must not learn whether the account exists.
        guard rule.permits(peerUID: client.peer.uid, accountUID: account?.uid) else {
            throw Denial(.notPermitted)
        }
        guard let account, Bytes(account.name.utf8) == name else {
            throw Denial(.unknownAccount)
        }
        return account
    }

    /// Asks for and checks the password that the request requires; nil if it requires none.
    private func proof(
        _ rule: VerbRule, request: any AccountRequest, account: Account, client: any Client
    ) async throws(Denial) -> VerifiedPassword? {
        switch rule.proof {
        case .none: return nil
        case .password:
            // Root needs no proof, but a password that is to be stored has to be given, and has to
            // be right.
            if client.peer.uid == 0, !request.keepsPassword { return nil }
            return try await passwords.proof(for: account, from: client)
        }
    }
}
