// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store
import Systemd
import Vault

/// Answers requests: who may ask is judged here, what is asked is done in the files beside.
@ServiceActor
final class Service: Answering {
    let state: StateDirectory
    let readers: ReaderPool
    let settings: Configuration
    let configurationFault: ConfigurationFault?
    let clock: Clock
    let journal: DecisionJournal
    let logind: Logind
    /// The directory in which the kernel tells of lids.
    let lids: String
    /// Judges whether the person who asks is there.
    let examiner: PresenceExaminer
    /// The one way to a finger that matched.
    let gate: TouchGate<ReaderPool>
    let queue: TouchQueue
    let passwords: PasswordProof
    let vaults: Vaults
    /// Where fprintd keeps prints.
    let fprintd: FprintdStore
    /// The way to servers.
    let relay: RelayClient
    /// Whose turn it is to sign for a server.
    let turns = PerKeyQueue()
    let receiptSlots = ReceiptSlots()
    /// Tokens for the sessions that PAM opens.
    let tokenFiles: TokenFiles
    /// The file in which the kernel tells of secure boot.
    let secureBootVariable: String
    /// The kernel's id of this boot.
    let boot: Bytes
    /// Who hears of touches that are asked for without a terminal.
    let watchers = Watchers()
    /// Accounts that are sending a secret just now.
    var sendingSecrets: Set<UInt32> = []
    /// Keys that servers are being shown just now.
    var provingKeys: Set<Bytes> = []
    /// Refused attempts that were counted and have yet to be written, by uid, and when that is.
    var countedRefusals: [UInt32: CountedRefusals] = [:]
    var refusalTimer: Timer?
    /// When servers are told that they were given up.
    let removals = RemovalRounds()
    /// Accounts at which the disk failed: what it left half-made is completed as soon as it can be.
    var faultedAccounts: Set<UInt32> = []
    /// Users who have been refused for asking too often, and not served since.
    private var rateLimitedUsers: Set<UInt32> = []
    private var later: [ObjectIdentifier: [() -> Void]] = [:]
    private let admission: Admission

    init(
        state: StateDirectory, vaults: Vaults, readers: ReaderPool, settings: Configuration,
        configurationFault: ConfigurationFault?, clock: Clock, journal: DecisionJournal,
        logind: Logind, admission: Admission, examiner: PresenceExaminer, paths: Paths
    ) throws(SystemFault) {
        boot = Bytes(try clock.boot().utf8)
        self.vaults = vaults
        fprintd = FprintdStore(paths.fprintd)
        // The relay may repeat a request once; its own limits end it, this one is for a relay that hangs.
        relay = RelayClient(
            path: paths.relay,
            limit: (settings.duration(Settings.relayTimeout) ?? .seconds(15)) * 2 + .seconds(5))
        tokenFiles = TokenFiles(paths.tokens)
        secureBootVariable = paths.secureBoot
        self.state = state
        self.readers = readers
        self.settings = settings
        self.configurationFault = configurationFault
        self.clock = clock
        self.journal = journal
        self.logind = logind
        self.admission = admission
        self.examiner = examiner
        lids = paths.lids
        // Whatever a turn is for, and however it ends.
        queue = TouchQueue(limit: settings.count(Settings.touchWaiting)) { [logind] in
            logind.readersAreInUse($0)
        }
        gate = TouchGate(
            readers, queue: queue, examiner: examiner, machine: logind, clock: clock)
        passwords = PasswordProof(
            program: paths.verifyPassword,
            timeout: settings.duration(Settings.passwordTimeout) ?? .seconds(30))
        logind.closeReaders = { [queue] in
            queue.interrupt()
            await readers.suspend()
        }
        logind.openReaders = { await readers.resume() }
    }

    func answer(_ request: Request, from client: any Client) async -> Answer {
        await recoverFaultedAccounts()
        do throws(Denial) {
            return try await serve(request, client)
        } catch {
            // At once: who logs in reads the public key before anything is asked of this process.
            await recoverFaultedAccounts()
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
        if case .importPrint = request { await showImport(of: account, client) }
        let password = try await proof(rule, request, account, client)
        if request.readsPrints { await openTemplates(of: account) }
        return try await answer(request, about: account, password, client)
    }

    func answered(_ request: Request, with answer: Answer, to client: any Client) {
        let proven = client.confirmation
        for action in later.removeValue(forKey: ObjectIdentifier(client)) ?? [] { action() }
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
            keepRefusal(denial, of: request, proven, from: client)
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

    /// Has something done when the client's answer is out.
    func afterwards(_ client: any Client, _ action: @escaping () -> Void) {
        later[ObjectIdentifier(client), default: []].append(action)
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
        case .authenticate(let request): try await authenticate(request, account, client)
        case .confirm(_, let challenge): try confirm(challenge, account, client)
        case .verify(_, let timeout, let reason):
            try await verify(account, milliseconds: timeout, because: reason, client)
        case .enroll(_, let finger, let readerID):
            keptOut(try await enroll(account, finger, readerID, password, client), account)
        case .delete(_, let finger): try await delete(account, finger, password, client)
        case .enable(_, let keyring):
            keptOut(try await enable(account, keyring: keyring, password, client), account)
        case .passwordChanged: try await passwordChanged(account, client)
        case .disable: try disable(account)
        case .unlock: try unlock(account, for: client)
        case .status: try await status(account)
        case .list: try await list(account, client)
        case .log(let request): try await log(request, account, client)
        case .passwordAccepted(_, let service):
            try unlock(
                account, because: "password accepted by \(String(decoding: service, as: UTF8.self))"
            )
        case .offer(let request): try await offer(request, account, client)
        case .migrate(_, let vault): try await migrate(account, to: vault, client)
        case .secretSet(let request): try await keepSecret(request, account, client)
        case .secretGet(_, let name, let timeout):
            try await releaseSecret(name, milliseconds: timeout, account, client)
        case .secretList: try await listSecrets(account, client)
        case .secretDelete(_, let name): try deleteSecret(name, account)
        case .watch: await watch(account, client)
        case .importPrint:
            keptOut(try await importPrints(of: account, password, client), account)
        case .serverEnable, .serverDisable, .serverLogin, .serverList:
            try await answerServer(request, account, client)
        case .sign(let request): try await sign(request, account, client)
        case .signingEnable: try await enableSigning(account, client)
        case .signingDisable: try await disableSigning(account)
        case .signingKey: try await showSigningKey(account)
        case .macTokenAdd(let request): try await addMACToken(request, account, client)
        case .macTokenList: try await listMACTokens(account, client)
        case .macTokenRemove(_, let server, let name):
            try await removeMACToken(name, at: server, account, client)
        case .macTokenHeader(let request): try await macHeader(request, account)
        case .operationList(let request): try await listOperations(request, account, client)
        case .operationShow(let request): try await showOperation(request, account, client)
        case .operationDecide(let request): try await decideOperation(request, account, client)
        case .readers, .configuration, .password, .cancel, .shown, .secretPart, .vault,
            .trustVault, .readerPrints:
            throw Denial(.badRequest)
        }
    }

    private func answerGeneral(
        _ request: Request, _ client: any Client
    ) async throws(Denial) -> Answer {
        switch request {
        case .readers: try await listReaders(client)
        case .configuration: await listSettings(client)
        case .vault: await listVaults(client)
        case .trustVault: try await trustVault(client)
        case .readerPrints(let request): try await answerReaderPrints(request, client)
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
        defer { tellRemovals() }
        return switch request {
        case .serverEnable(let request): try await enableServer(request, account, client)
        case .serverDisable(_, let server): try await disableServer(server, account, client)
        case .serverLogin(_, let server, let timeout):
            try await loginServer(server, milliseconds: timeout, account, client)
        case .serverList: try await listServers(account, client)
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
