import Loop
import Policy
import Posix
import Reader
import Store
import Systemd
import Vault
import Wire

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
    let queue: TouchQueue
    let passwords: PasswordProof
    let vaults: Vaults
    /// Where fprintd keeps prints.
    let fprintd: FprintdStore
    /// The way to servers.
    let relay: RelayLine
    /// Whose turn it is to sign for a server.
    let turns = KeyTurns()
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
    /// When servers are told that they were given up.
    let removals = RemovalRounds()
    /// Users who have been refused for asking too often, and not served since.
    private var hasty: Set<UInt32> = []
    private var later: [ObjectIdentifier: () -> Void] = [:]
    /// Whether a user may make one more request now.
    var mayRequest: (UInt32) -> Bool = { _ in true }

    init(
        state: StateDirectory, vaults: Vaults, readers: ReaderPool, settings: Configuration,
        configurationFault: ConfigurationFault?, clock: Clock, journal: DecisionJournal,
        logind: Logind, places: Places
    ) throws(SystemFault) {
        boot = Bytes(try clock.boot().utf8)
        self.vaults = vaults
        fprintd = FprintdStore(places.fprintd)
        // The relay may repeat a request once; its own limits end it, this one is for a relay that hangs.
        relay = RelayLine(
            path: places.relay,
            limit: (settings.duration(Settings.relayTimeout) ?? .seconds(15)) * 2 + .seconds(5))
        tokenFiles = TokenFiles(places.tokens)
        secureBootVariable = places.secureBoot
        self.state = state
        self.readers = readers
        self.settings = settings
        self.configurationFault = configurationFault
        self.clock = clock
        self.journal = journal
        self.logind = logind
        lids = places.lids
        queue = TouchQueue(limit: settings.count(Settings.touchWaiting))
        passwords = PasswordProof(
            program: places.verifyPassword,
            timeout: settings.duration(Settings.passwordTimeout) ?? .seconds(30))
        // Whatever a turn is for, and however it ends.
        queue.taken = { [logind] in logind.readersAreInUse($0) }
        logind.closeReaders = { await readers.suspend() }
        logind.openReaders = { await readers.resume() }
    }

    func answer(_ request: Request, from client: any Client) async -> Answer {
        let rule = VerbTable.rule(for: request.verb)
        guard rule.beginsRequest else { return .denial(Denial(.badRequest)) }
        guard mayRequest(client.peer.uid) else { return refuseForNow(client.peer) }
        hasty.remove(client.peer.uid)
        guard let name = request.account else {
            guard VerbTable.permits(request.verb, peerUID: client.peer.uid, accountUID: nil) else {
                return .denial(Denial(.notPermitted))
            }
            return await answerGeneral(request, client)
        }
        switch account(name, for: request.verb, client.peer) {
        case .deny(let denial): return .denial(denial)
        case .allow(let account):
            if case .importPrint = request { await showImport(of: account, client) }
            switch await proof(rule, request, account, client) {
            case .deny(let denial): return .denial(denial)
            case .allow(let password):
                if request.readsPrints { await openTemplates(of: account) }
                return await answer(request, about: account, password, client)
            }
        }
    }

    func answered(_ request: Request, with answer: Answer, to client: any Client) {
        later.removeValue(forKey: ObjectIdentifier(client))?()
        // Who asks too often must not fill the journal too, in which others' decisions stand.
        if case .denial(let denial) = answer, denial.reason == .tooManyRequests { return }
        journal.record(request, from: client.peer, answer)
    }

    private func refuseForNow(_ peer: PeerCredentials) -> Answer {
        if hasty.insert(peer.uid).inserted {
            journal.service("uid \(peer.uid) asks too often and is refused for now")
        }
        return .denial(Denial(.tooManyRequests))
    }

    /// Has something done when the client's answer is out.
    func afterwards(_ client: any Client, _ action: @escaping () -> Void) {
        later[ObjectIdentifier(client)] = action
    }

    /// The account, if there is one and the peer may ask this about it.
    private func account(
        _ name: Bytes, for verb: Verb, _ peer: PeerCredentials
    ) -> Ruling<Account> {
        let account = String(validating: name, as: UTF8.self).flatMap { try? Account.named($0) }
        // Who may not ask is not told either whether there is such an account.
        guard VerbTable.permits(verb, peerUID: peer.uid, accountUID: account?.uid) else {
            return .deny(Denial(.notPermitted))
        }
        guard let account, Bytes(account.name.utf8) == name else {
            return .deny(Denial(.unknownAccount))
        }
        return .allow(account)
    }

    /// The password that a request has to prove itself with; nil where it has not.
    private func proof(
        _ rule: VerbRule, _ request: Request, _ account: Account, _ client: any Client
    ) async -> Ruling<VerifiedPassword?> {
        switch rule.proof {
        case .none: return .allow(nil)
        case .password:
            // Root proves nothing, but what is to be kept has to be given, and to be right.
            if client.peer.uid == 0, !request.keepsPassword { return .allow(nil) }
            switch await passwords.proof(for: account, from: client) {
            case .deny(let denial): return .deny(denial)
            case .allow(let password): return .allow(password)
            }
        }
    }

    private func answer(
        _ request: Request, about account: Account, _ password: VerifiedPassword?,
        _ client: any Client
    ) async -> Answer {
        switch request {
        case .authenticate(let request): await authenticate(request, account, client)
        case .confirm: .denial(Denial(.answerTooLate))
        case .verify(_, let timeout): await verify(account, milliseconds: timeout, client)
        case .enroll(_, let finger, let readerID):
            keptOut(await enroll(account, finger, readerID, password, client), account)
        case .delete(_, let finger): await delete(account, finger, password, client)
        case .enable(_, let keyring):
            keptOut(await enable(account, keyring: keyring, password, client), account)
        case .passwordChanged: await passwordChanged(account, client)
        case .disable: disable(account)
        case .unlock: unlock(account, because: "unlocked with the password")
        case .status: await status(account)
        case .list: await list(account, client)
        case .log(let request): await log(request, account, client)
        case .passwordAccepted(_, let service):
            unlock(
                account, because: "password accepted by \(String(decoding: service, as: UTF8.self))"
            )
        case .migrate(_, let vault): await migrate(account, to: vault, client)
        case .secretSet(let request): await keepSecret(request, account, client)
        case .secretGet(_, let name, let timeout):
            await releaseSecret(name, milliseconds: timeout, account, client)
        case .secretList: await listSecrets(account, client)
        case .secretDelete(_, let name): deleteSecret(name, account)
        case .watch: await watch(account, client)
        case .importPrint:
            keptOut(await importPrints(of: account, password, client), account)
        case .serverEnable, .serverDisable, .serverLogin, .serverList:
            await answerServer(request, account, client)
        case .sign(let request): await sign(request, account, client)
        case .signingEnable: await enableSigning(account, client)
        case .signingDisable: await disableSigning(account)
        case .signingKey: await showSigningKey(account)
        case .macTokenAdd(let request): await addMACToken(request, account, client)
        case .macTokenList: await listMACTokens(account, client)
        case .macTokenRemove(_, let server, let name):
            await removeMACToken(name, at: server, account, client)
        case .macTokenHeader(let request): await macHeader(request, account)
        case .operationList(let request): await listOperations(request, account, client)
        case .operationShow(let request): await showOperation(request, account, client)
        case .operationDecide(let request): await decideOperation(request, account, client)
        case .readers, .configuration, .password, .cancel, .shown, .secretPart, .vault,
            .trustVault:
            .denial(Denial(.badRequest))
        }
    }

    private func answerGeneral(_ request: Request, _ client: any Client) async -> Answer {
        switch request {
        case .readers: await listReaders(client)
        case .configuration: await listSettings(client)
        case .vault: await listVaults(client)
        case .trustVault: await trustVault(client)
        case .authenticate, .verify, .enroll, .delete, .enable, .disable, .unlock, .status,
            .list, .log, .passwordAccepted, .password, .cancel, .confirm, .shown, .secretSet,
            .secretPart, .secretGet, .secretList, .secretDelete, .migrate, .passwordChanged, .watch,
            .importPrint, .serverEnable, .serverDisable, .serverLogin, .serverList, .sign,
            .signingEnable, .signingDisable, .signingKey, .macTokenAdd, .macTokenList,
            .macTokenRemove, .macTokenHeader, .operationList, .operationShow, .operationDecide:
            .denial(Denial(.badRequest))
        }
    }

    private func answerServer(
        _ request: Request, _ account: Account, _ client: any Client
    ) async -> Answer {
        // Nobody waits for what other servers have yet to be told.
        defer { tellRemovals() }
        return switch request {
        case .serverEnable(let request): await enableServer(request, account, client)
        case .serverDisable(_, let server): await disableServer(server, account, client)
        case .serverLogin(_, let server, let timeout):
            await loginServer(server, milliseconds: timeout, account, client)
        case .serverList: await listServers(account, client)
        default: .denial(Denial(.badRequest))
        }
    }
}

extension Request {
    /// Whether the password itself is wanted, not only the proof that it is known.
    fileprivate var keepsPassword: Bool {
        if case .enable(_, true) = self { true } else { false }
    }
}
