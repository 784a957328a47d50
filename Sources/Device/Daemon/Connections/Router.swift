// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import State

/// Decides who may make a request, and passes it to the handler that serves it.
///
/// The order is fixed: the rate limit, the caller check of the request's rule (`VerbRule`), the
/// account, what no password could change, the password where the rule demands one, and then the
/// handler. A peer that may not ask
/// about an account gets `notPermitted` whether or not that account exists. The guards of touches
/// follow in the handler; see `TouchGuards`.
///
/// The caller is identified by the peer credentials of the socket, so by what the kernel recorded
/// at connect(2) and not by anything in the request.
@ServiceActor
final class Router: Answering {
    let accounts: Accounts
    let admission: Admission
    let afterAnswers: AfterAnswers
    let clock: Clock
    /// The name of the user that `signet-fprint` runs as.
    let desktopUser: String
    let journal: DecisionJournal
    let passwords: PasswordChecker
    let recovery: AccountRecovery
    let refusedAttempts: RefusedAttempts
    let templates: TemplateKeyOpener
    /// The handlers, by the verbs of their requests.
    private let handlers: [Verb: RequestHandler]
    /// The users that the rate limit has refused and that have not been served since.
    ///
    /// Each is logged once.
    private var rateLimitedUsers: Set<UInt32> = []

    init(
        accounts: Accounts, admission: Admission, afterAnswers: AfterAnswers, clock: Clock,
        desktopUser: String,
        journal: DecisionJournal,
        passwords: PasswordChecker, recovery: AccountRecovery, refusedAttempts: RefusedAttempts,
        templates: TemplateKeyOpener, handlers: [RequestHandler]
    ) {
        self.accounts = accounts
        self.admission = admission
        self.afterAnswers = afterAnswers
        self.clock = clock
        self.desktopUser = desktopUser
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
    /// Accounts whose records may be incomplete after a disk fault are recovered first, and again
    /// after a denial.
    func answer(_ request: Request, from client: any Client) async -> Answer {
        await recovery.recoverFaultedAccounts()
        do throws(Denial) {
            return try await serve(request, client: client)
        } catch {
            // Recover now, not with the next request: the next login reads the public key from disk
            // before it asks this process anything.
            await recovery.recoverFaultedAccounts()
            return .denial(error)
        }
    }

    /// Performs the checks in their order, and calls the handler.
    ///
    /// Throws `badRequest` for a frame that cannot begin a request or that has no handler, and the
    /// denial of the first check that fails.
    private func serve(
        _ request: Request, client: any Client
    ) async throws(Denial) -> Answer {
        // A confirmation has to be the very next request. Any other request forfeits the pending
        // proof.
        if !(request.content is ConfirmRequest) {
            client.proof.settle()
            (client.requester, client.purpose) = (nil, nil)
        }
        guard request.rule.beginsRequest else { throw Denial(.badRequest) }
        try checkRate(of: client.process)
        guard let about = request.content as? any AccountRequest else {
            guard permits(request.rule, client: client, account: nil) else {
                throw Denial(.notPermitted)
            }
            return try await handler(of: request).answer(request.content, for: client)
        }
        let account = try account(of: about, rule: request.rule, client: client)
        let handler = try handler(of: request)
        let foretold = try await handler.check(about, about: account, for: client)
        let password = try await proof(
            request.rule, request: about, account: account, client: client)
        if Swift.type(of: about).readsPrints { await templates.openTemplates(of: account) }
        return try await handler.answer(
            about, about: account, with: ChangeApproval(password, foretold: foretold), for: client)
    }

    /// Whether the rule permits the peer; the user of `signet-fprint` is looked up where it matters.
    private func permits(_ rule: VerbRule, client: any Client, account: Account?) -> Bool {
        var interface: UInt32?
        if case .desktopInterface = rule.callers {
            interface = (try? Account.named(desktopUser))?.uid
        }
        return rule.permits(
            peerUID: client.peer.uid, accountUID: account?.uid, interfaceUID: interface)
    }

    /// Returns the handler of a request; throws `badRequest` if there is none.
    private func handler(of request: Request) throws(Denial) -> RequestHandler {
        guard let handler = handlers[request.verb] else { throw Denial(.badRequest) }
        return handler
    }

    /// Finishes a request after its answer was sent: runs postponed work, and logs the decision.
    ///
    /// If a proof awaits confirmation, the log entry is postponed until that has ended, since the
    /// user is waiting for it. A refusal is also recorded for the owner of the account
    /// (`RefusedAttempts`). Requests that the rate limit refused are not logged here, nor denials that
    /// their requests do not have recorded.
    func answered(_ request: Request, with answer: Answer, to client: any Client) {
        let proven = client.proof.awaited
        afterAnswers.run(for: client)
        // A client that is refused for asking too often must not flood the journal and drown other
        // decisions.
        if case .denial(let denial) = answer,
            denial.reason == .tooManyRequests || !request.type.records(denial)
        {
            return
        }
        let (journal, peer, requester) = (journal, client.peer, client.requester)
        let purpose = client.purpose
        let record = {
            journal.record(request, from: peer, by: requester, for: purpose, answer: answer)
        }
        // The client asks for confirmation at once and the user is waiting for it, so log after
        // that.
        if case .assertion = answer, let pending = client.proof.awaited {
            pending.afterwards = record
        } else {
            record()
        }
        if case .denial(let denial) = answer {
            refusedAttempts.keepRefusal(denial, of: request, pending: proven, from: client)
        }
    }

    /// Throws `tooManyRequests` if the user behind the process has used up the allowance of
    /// requests.
    ///
    /// A program that runs as root is exempt, because the logins of all users arrive through it.
    private func checkRate(of process: ClientProcess) throws(Denial) {
        // Logins of all users arrive through root.
        if process.credentials.uid == 0 { return }
        let uid = process.accountable
        guard !admission.mayRequest(uid: uid, at: clock.sinceBoot()) else {
            rateLimitedUsers.remove(uid)
            return
        }
        if rateLimitedUsers.insert(uid).inserted {
            journal.service("uid \(uid) sends too many requests and is refused for now")
        }
        throw Denial(.tooManyRequests)
    }

    /// Looks up the account, and checks that the peer may make this request about it.
    ///
    /// The name must be valid UTF-8 and exactly the one in the account database; an alias for it,
    /// such as another spelling that the name service accepts, is refused. Throws `notPermitted` or
    /// `unknownAccount`.
    private func account(
        of request: any AccountRequest, rule: VerbRule, client: any Client
    ) throws(Denial) -> Account {
        let name = request.account
        // The account of a pending proof was looked up before the touch.
        let proven = request is ConfirmRequest ? client.proof.awaited?.account : nil
        let account =
            if let proven, AccountName(proven.name) == name { proven } else {
                String(validating: name.bytes, as: UTF8.self).flatMap { try? Account.named($0) }
            }
        // A peer without permission must not learn whether the account exists.
        guard permits(rule, client: client, account: account) else {
            throw Denial(.notPermitted)
        }
        guard let account, AccountName(account.name) == name else {
            // What an account has left can be deleted when the account is gone.
            if request.servesDeparted, client.peer.uid == 0, let departed = accounts.departed(name)
            {
                return departed
            }
            throw Denial(.unknownAccount)
        }
        return account
    }

    /// Asks the client for the password that the request's rule demands, and checks it.
    ///
    /// Returns nil if the rule demands none, and for root unless the request stores the password.
    /// Throws as `PasswordChecker.proof`.
    private func proof(
        _ rule: VerbRule, request: any AccountRequest, account: Account, client: any Client
    ) async throws(Denial) -> VerifiedPassword? {
        switch rule.proof {
        case .none: return nil
        case .password:
            // The gate for passwords asks for it, and counts it like a finger.
            if request.factor == .password { return nil }
            // Root needs no proof, but a password that is to be stored must be given and must be
            // right.
            if client.peer.uid == 0, !request.keepsPassword { return nil }
            return try await passwords.proof(for: account, from: client)
        }
    }
}
