// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import Store

/// Decides who may make a request, and hands it to the part that carries it out.
///
/// The order is fixed: rate limit, the caller check of the verb's row in `VerbTable`, the account,
/// and the password where the row demands one. A peer that may not ask about an account gets
/// `notPermitted` whether or not that account exists. Guards that are specific to touches are in
/// `TouchGuards`.
@ServiceActor
final class Router: Answering {
    let admission: Admission
    let afterAnswers: AfterAnswers
    let clock: Clock
    let journal: DecisionJournal
    let passwords: PasswordProof
    let removals: RemovalRounds
    let recovery: AccountRecovery
    let enabling: Enabling
    let enrolments: Enrolments
    let fileSigning: FileSigning
    let fingers: Fingers
    let keyring: Keyring
    let policy: LoginPolicy
    let logins: Logins
    let macTokens: MACTokens
    let operations: Operations
    let printImport: PrintImport
    let readerPrints: ReaderPrints
    let refusedAttempts: RefusedAttempts
    let reports: Reports
    let secrets: Secrets
    let servers: Servers
    let templates: TemplateKeys
    /// Users who have been refused by the rate limit and not served since; each is logged once.
    private var rateLimitedUsers: Set<UInt32> = []

    init(
        admission: Admission, afterAnswers: AfterAnswers, clock: Clock, journal: DecisionJournal,
        passwords: PasswordProof, removals: RemovalRounds, recovery: AccountRecovery,
        enabling: Enabling, enrolments: Enrolments, fileSigning: FileSigning, fingers: Fingers,
        keyring: Keyring, policy: LoginPolicy, logins: Logins, macTokens: MACTokens,
        operations: Operations, printImport: PrintImport, readerPrints: ReaderPrints,
        refusedAttempts: RefusedAttempts, reports: Reports, secrets: Secrets, servers: Servers,
        templates: TemplateKeys
    ) {
        self.admission = admission
        self.afterAnswers = afterAnswers
        self.clock = clock
        self.journal = journal
        self.passwords = passwords
        self.removals = removals
        self.recovery = recovery
        self.enabling = enabling
        self.enrolments = enrolments
        self.fileSigning = fileSigning
        self.fingers = fingers
        self.keyring = keyring
        self.policy = policy
        self.logins = logins
        self.macTokens = macTokens
        self.operations = operations
        self.printImport = printImport
        self.readerPrints = readerPrints
        self.refusedAttempts = refusedAttempts
        self.reports = reports
        self.secrets = secrets
        self.servers = servers
        self.templates = templates
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
            return try await serve(request, client)
        } catch {
            // Recover at once: the next login reads the public key from disk before it asks this
            // process anything.
            await recovery.recoverFaultedAccounts()
            return .denial(error)
        }
    }

    private func serve(
        _ request: Request, _ client: any Client
    ) async throws(Denial) -> Answer {
        // A confirmation has to be the very next request. Anything else forfeits the pending proof.
        if request.verb != .confirm { (client.confirmation, client.requester) = (nil, nil) }
        let rule = VerbTable.rule(for: request.verb)
        guard rule.beginsRequest else { throw Denial(.badRequest) }
        try checkRate(of: client.process)
        guard let name = request.account else {
            guard VerbTable.permits(request.verb, peerUID: client.peer.uid, accountUID: nil) else {
                throw Denial(.notPermitted)
            }
            return try await answerGeneral(request, client)
        }
        let account = try account(name, for: request.verb, client)
        if case .importPrint = request { await printImport.showImport(of: account, client) }
        let password = try await proof(rule, request, account, client)
        if request.readsPrints { await templates.openTemplates(of: account) }
        return try await answer(request, about: account, password, client)
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
        let record = { journal.record(request, from: peer, by: requester, answer) }
        // The client asks for confirmation right away and the user is waiting for it, so logging
        // comes after that.
        if case .assertion = answer, let pending = client.confirmation {
            pending.afterwards = record
        } else {
            record()
        }
        if case .denial(let denial) = answer {
            refusedAttempts.keepRefusal(denial, of: request, proven, from: client)
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
        _ name: Bytes, for verb: Verb, _ client: any Client
    ) throws(Denial) -> Account {
        // The account of a pending proof was looked up before the touch.
        let proven = verb == .confirm ? client.confirmation?.account : nil
        let account =
            if let proven, Bytes(proven.name.utf8) == name { proven } else {
                String(validating: name, as: UTF8.self).flatMap { try? Account.named($0) }
            }
        // A peer without permission must not learn whether the account exists.
        guard VerbTable.permits(verb, peerUID: client.peer.uid, accountUID: account?.uid) else {
            throw Denial(.notPermitted)
        }
        guard let account, Bytes(account.name.utf8) == name else {
            throw Denial(.unknownAccount)
        }
        return account
    }

    /// Asks for and checks the password that the request requires; nil if it requires none.
    private func proof(
        _ rule: VerbRule, _ request: Request, _ account: Account, _ client: any Client
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

    private func answer(
        _ request: Request, about account: Account, _ password: VerifiedPassword?,
        _ client: any Client
    ) async throws(Denial) -> Answer {
        switch request {
        case .authenticate(let request): try await logins.authenticate(request, account, client)
        case .confirm(_, let challenge): try logins.confirm(challenge, account, client)
        case .verify(_, let timeout, let reason):
            try await logins.verify(account, milliseconds: timeout, because: reason, client)
        case .enroll(_, let finger, let readerID):
            policy.keptOut(
                try await enrolments.enroll(account, finger, readerID, password, client), account)
        case .delete(_, let finger): try await fingers.delete(account, finger, password, client)
        case .enable(_, let keyring):
            policy.keptOut(
                try await enabling.enable(account, keyring: keyring, password, client), account)
        case .passwordChanged: try await self.keyring.passwordChanged(account, client)
        case .disable: try enabling.disable(account)
        case .unlock: try enrolments.unlock(account, for: client)
        case .status: try await reports.status(account)
        case .list: try await reports.list(account, client)
        case .log(let request): try await reports.log(request, account, client)
        case .passwordAccepted(_, let service):
            try enabling.unlock(
                account, because: "password accepted by \(String(decoding: service, as: UTF8.self))"
            )
        case .offer(let request): try await logins.offer(request, account, client)
        case .migrate(_, let vault): try await enabling.migrate(account, to: vault, client)
        case .secretSet(let request): try await secrets.keepSecret(request, account, client)
        case .secretGet(_, let name, let timeout):
            try await secrets.releaseSecret(name, milliseconds: timeout, account, client)
        case .secretList: try await secrets.listSecrets(account, client)
        case .secretDelete(_, let name): try secrets.deleteSecret(name, account)
        case .watch: await reports.watch(account, client)
        case .importPrint:
            policy.keptOut(
                try await printImport.importPrints(of: account, password, client), account)
        case .serverEnable, .serverDisable, .serverLogin, .serverList:
            try await answerServer(request, account, client)
        case .sign(let request): try await fileSigning.sign(request, account, client)
        case .signingEnable: try await fileSigning.enableSigning(account, client)
        case .signingDisable: try await fileSigning.disableSigning(account)
        case .signingKey: try await fileSigning.showSigningKey(account)
        case .macTokenAdd(let request): try await macTokens.addMACToken(request, account, client)
        case .macTokenList: try await macTokens.listMACTokens(account, client)
        case .macTokenRemove(_, let server, let name):
            try await macTokens.removeMACToken(name, at: server, account, client)
        case .macTokenHeader(let request): try await macTokens.macHeader(request, account)
        case .operationList(let request):
            try await operations.listOperations(request, account, client)
        case .operationShow(let request):
            try await operations.showOperation(request, account, client)
        case .operationDecide(let request):
            try await operations.decideOperation(request, account, client)
        case .readers, .configuration, .password, .cancel, .shown, .secretPart, .vault,
            .trustVault, .readerPrints:
            throw Denial(.badRequest)
        }
    }

    private func answerGeneral(
        _ request: Request, _ client: any Client
    ) async throws(Denial) -> Answer {
        switch request {
        case .readers: try await reports.listReaders(client)
        case .configuration: await reports.listSettings(client)
        case .vault: await reports.listVaults(client)
        case .trustVault: try await reports.trustVault(client)
        case .readerPrints(let request): try await readerPrints.answerReaderPrints(request, client)
        case .authenticate, .verify, .enroll, .delete, .enable, .disable, .unlock, .status,
            .list, .log, .passwordAccepted, .offer, .password, .cancel, .confirm, .shown,
            .secretSet,
            .secretPart, .secretGet, .secretList, .secretDelete, .migrate, .passwordChanged, .watch,
            .importPrint, .serverEnable, .serverDisable, .serverLogin, .serverList, .sign,
            .signingEnable, .signingDisable, .signingKey, .macTokenAdd, .macTokenList,
            .macTokenRemove, .macTokenHeader, .operationList, .operationShow, .operationDecide:
            throw Denial(.badRequest)
        }
    }

    /// Answers requests about registrations at servers, and then retries removals that servers have
    /// not heard of yet.
    private func answerServer(
        _ request: Request, _ account: Account, _ client: any Client
    ) async throws(Denial) -> Answer {
        // These removals run in the background; the client does not wait for them.
        defer { removals.want() }
        return switch request {
        case .serverEnable(let request): try await servers.enableServer(request, account, client)
        case .serverDisable(_, let server): try await servers.disableServer(server, account, client)
        case .serverLogin(_, let server, let timeout):
            try await servers.loginServer(server, milliseconds: timeout, account, client)
        case .serverList: try await servers.listServers(account, client)
        default: throw Denial(.badRequest)
        }
    }
}

extension Request {
    /// Whether the password itself is needed, and not only the proof that the user knows it.
    fileprivate var keepsPassword: Bool {
        if case .enable(_, true) = self { true } else { false }
    }
}
