// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import Store

/// Answers requests: who may ask is judged here, what is asked is done by the part that it is about.
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
    /// Users who have been refused for asking too often, and not served since.
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
    func answer(_ request: Request, from client: any Client) async -> Answer {
        await recovery.recoverFaultedAccounts()
        do throws(Denial) {
            return try await serve(request, client)
        } catch {
            // At once: who logs in reads the public key before anything is asked of this process.
            await recovery.recoverFaultedAccounts()
            return .denial(error)
        }
    }

    private func serve(
        _ request: Request, _ client: any Client
    ) async throws(Denial) -> Answer {
        // What another request has proven is not confirmed any more.
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

    func answered(_ request: Request, with answer: Answer, to client: any Client) {
        let proven = client.confirmation
        afterAnswers.run(for: client)
        // Who asks too often must not fill the journal too, in which others' decisions stand.
        if case .denial(let denial) = answer, denial.reason == .tooManyRequests { return }
        let (journal, peer, requester) = (journal, client.peer, client.requester)
        let record = { journal.record(request, from: peer, by: requester, answer) }
        // The journal waits until the client has asked whether its proof is still good, which it does
        // at once, and which the person waits for.
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
        // Root has no such limit, since everybody's logins come through it.
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

    /// The account, if there is one and the peer may ask this about it.
    private func account(
        _ name: Bytes, for verb: Verb, _ client: any Client
    ) throws(Denial) -> Account {
        // Whom a proof is about was looked up before the touch.
        let proven = verb == .confirm ? client.confirmation?.account : nil
        let account =
            if let proven, Bytes(proven.name.utf8) == name { proven } else {
                String(validating: name, as: UTF8.self).flatMap { try? Account.named($0) }
            }
        // Who may not ask is not told either whether there is such an account.
        guard VerbTable.permits(verb, peerUID: client.peer.uid, accountUID: account?.uid) else {
            throw Denial(.notPermitted)
        }
        guard let account, Bytes(account.name.utf8) == name else {
            throw Denial(.unknownAccount)
        }
        return account
    }

    /// The password that a request has to prove itself with; nil where it has not.
    private func proof(
        _ rule: VerbRule, _ request: Request, _ account: Account, _ client: any Client
    ) async throws(Denial) -> VerifiedPassword? {
        switch rule.proof {
        case .none: return nil
        case .password:
            // Root proves nothing, but what is to be kept has to be given, and to be right.
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

    private func answerServer(
        _ request: Request, _ account: Account, _ client: any Client
    ) async throws(Denial) -> Answer {
        // Nobody waits for what other servers have yet to be told.
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
    /// Whether the password itself is wanted, not only the proof that it is known.
    fileprivate var keepsPassword: Bool {
        if case .enable(_, true) = self { true } else { false }
    }
}
