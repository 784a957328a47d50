// SPDX-License-Identifier: Apache-2.0
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import State

/// Builds every part of the daemon once and connects them.
///
/// Parts are created in the order of their dependencies, and each receives exactly the parts that
/// it uses through its initialiser; there is no global state and no other way from one part to
/// another. Parts that only serve requests are found by the build, see `RequestService`. Only the parts that `Program` needs after start-up are stored here; the others are kept
/// alive by the parts that use them.
///
/// Throws `SystemFault` if the kernel's boot identifier cannot be read.
@ServiceActor
struct Assembly {
    /// Decides who may ask, and passes each request to its handler.
    let router: Router
    /// Sends requests to servers through `signet-relay`.
    let relay: RelayClient
    let recovery: AccountRecovery
    let sessionTokens: SessionTokens
    let templates: TemplateKeyOpener
    let refusedAttempts: RefusedAttempts
    let removals = RemovalRounds()
    /// The handlers of all parts, one for each type of request.
    let handlers: [RequestHandler]
    private let pendingRemovals: PendingRemovals

    init(
        state: StateDirectory, vaults: Vaults, readers: ReaderPool, inForce: SettingsInForce,
        clock: Clock, journal: DecisionJournal, logind: Logind, admission: Admission,
        examiner: PresenceExaminer, paths: Paths
    ) throws(SystemFault) {
        let settings = inForce.settings
        let boot = Bytes(try clock.boot().utf8)
        // The relay enforces its own time limit and may repeat a request once. This limit catches a
        // relay that hangs.
        relay = RelayClient(
            path: paths.relay,
            limit: (settings.duration(Settings.relayTimeout) ?? .seconds(15)) * 2 + .seconds(5))
        let passwords = PasswordChecker(
            program: paths.verifyPassword,
            timeout: settings.duration(Settings.passwordTimeout) ?? .seconds(30), clock: clock)
        // Tells logind whether the readers are in use, for every kind of turn and however it ends.
        let queue = TouchQueue(limit: settings.count(Settings.touchWaiting)) { [logind] in
            logind.readersAreInUse($0)
        }
        let gate = TouchGate(
            readers, queue: queue, examiner: examiner, machine: logind, clock: clock)
        logind.closeReaders = { [queue] in
            queue.interrupt()
            await readers.suspend()
        }
        logind.openReaders = { await readers.resume() }
        let (watchers, afterAnswers) = (Watchers(), AfterAnswers())
        let accounts = Accounts(boot: boot, clock: clock, journal: journal, state: state)
        templates = TemplateKeyOpener(
            journal: journal, readers: readers, state: state, vaults: vaults, accounts: accounts)
        recovery = AccountRecovery(state: state, accounts: accounts, templates: templates)
        sessionTokens = SessionTokens(
            journal: journal, tokenFiles: TokenFiles(paths.tokens), accounts: accounts)
        let underWay = ChangesUnderWay()
        let holdings = Holdings(
            HoldingParts(
                journal: journal, vaults: vaults, accounts: accounts, sessionTokens: sessionTokens,
                underWay: underWay))
        let keyringRecords = holdings.only(KeyringRecords.self)
        let coverage = StorageCoverage(state: state)
        let upkeep = ReaderUpkeep(
            journal: journal, readers: readers, state: state, coverage: coverage,
            templates: templates)
        let credentials = Credentials(
            journal: journal, vaults: vaults, accounts: accounts, upkeep: upkeep,
            holdings: holdings, coverage: coverage, templates: templates)
        let keyring = Keyring(
            journal: journal, passwords: passwords, settings: settings, vaults: vaults,
            accounts: accounts, credentials: credentials, keyringRecords: keyringRecords)
        let changes = FingerChanges(
            journal: journal, accounts: accounts, credentials: credentials, keyring: keyring,
            upkeep: upkeep, holdings: holdings, coverage: coverage)
        let policy = LoginPolicy(journal: journal, settings: settings)
        let guards = TouchGuards(
            clock: clock, examiner: examiner, lids: paths.lids, logind: logind, readers: readers,
            inForce: inForce, vaults: vaults, accounts: accounts, credentials: credentials,
            policy: policy)
        let touches = Touches(
            afterAnswers: afterAnswers, clock: clock, gate: gate, journal: journal, logind: logind,
            receiptSlots: ReceiptSlots(), settings: settings, state: state, vaults: vaults,
            watchers: watchers, accounts: accounts, credentials: credentials, upkeep: upkeep,
            templates: templates, guards: guards)
        let confirmations = Confirmations(
            logind: logind,
            passwords: PasswordGate(passwords, examiner: examiner, machine: logind, clock: clock),
            accounts: accounts, credentials: credentials, guards: guards, touches: touches)
        let enabling = Enabling(
            journal: journal, readers: readers, accounts: accounts, credentials: credentials,
            keyring: keyring, keyringRecords: keyringRecords, holdings: holdings, policy: policy,
            upkeep: upkeep, sessionTokens: sessionTokens, coverage: coverage, templates: templates,
            touches: touches)
        let fingers = Fingers(
            journal: journal, readers: readers, state: state, accounts: accounts, changes: changes,
            upkeep: upkeep, coverage: coverage, sessionTokens: sessionTokens, templates: templates,
            touches: touches)
        let enrolments = Enrolments(
            boot: boot, clock: clock, gate: gate, journal: journal, queue: queue, readers: readers,
            settings: settings, state: state, accounts: accounts, credentials: credentials,
            enabling: enabling, changes: changes, fingers: fingers, upkeep: upkeep,
            coverage: coverage, templates: templates, guards: guards, policy: policy,
            touches: touches)
        let printImport = PrintImport(
            fprintd: FprintdStore(paths.fprintd), journal: journal, readers: readers,
            settings: settings, state: state, accounts: accounts, credentials: credentials,
            changes: changes, fingers: fingers, policy: policy, upkeep: upkeep, coverage: coverage,
            templates: templates, touches: touches)
        let secrets = Secrets(
            vaults: vaults, accounts: accounts, credentials: credentials, guards: guards,
            touches: touches)
        let keys = ServerKeys(
            relay: relay, secureBootVariable: paths.secureBoot, state: state,
            turns: PerKeyQueue<CredentialID>(),
            vaults: vaults, accounts: accounts, credentials: credentials,
            holding: holdings.only(ServerKeyHolding.self), templates: templates)
        let attestations = KeyAttestations(
            eventLog: paths.eventLog, journal: journal, relay: relay, state: state, vaults: vaults,
            credentials: credentials, keys: keys)
        let servers = Servers(
            journal: journal, relay: relay, removals: removals, state: state, accounts: accounts,
            credentials: credentials, underWay: underWay, keys: keys, attestations: attestations,
            sessionTokens: sessionTokens, guards: guards, confirmations: confirmations)
        let serverLogins = ServerLogins(
            boot: boot, clock: clock, journal: journal, relay: relay, state: state,
            accounts: accounts, credentials: credentials, keys: keys, sessionTokens: sessionTokens,
            touches: touches)
        let macTokens = DeviceMACTokens(
            clock: clock, journal: journal, relay: relay, removals: removals, accounts: accounts,
            keys: keys, guards: guards, touches: touches)
        let operations = OperationApprovals(
            clock: clock, relay: relay, accounts: accounts, macTokens: macTokens, keys: keys,
            guards: guards, confirmations: confirmations)
        let sessions = ServerSessions(relay: relay, keys: keys, reading: operations)
        let fileSigning = FileSigning(
            journal: journal, accounts: accounts, keys: keys, guards: guards, touches: touches)
        pendingRemovals = PendingRemovals(
            removals: removals, state: state, macTokens: macTokens, servers: servers)
        let pendingChanges = PendingFingerChanges()
        let logins = PAMLogins(
            afterAnswers: afterAnswers, clock: clock, examiner: examiner, gate: gate,
            journal: journal, settings: settings, state: state, accounts: accounts,
            credentials: credentials, keyring: keyring, serverLogins: serverLogins,
            sessionTokens: sessionTokens, guards: guards, touches: touches,
            pendingChanges: pendingChanges)
        refusedAttempts = RefusedAttempts(
            journal: journal, state: state, accounts: accounts, guards: guards)
        let reports = Reports(
            configurationFault: inForce.fault, journal: journal, readers: readers,
            removals: removals, settings: settings, state: state, vaults: vaults,
            watchers: watchers,
            accounts: accounts, holdings: holdings, policy: policy,
            refusedAttempts: refusedAttempts, guards: guards)
        let parts = Collaborators(
            clock: clock, gate: gate, journal: journal, queue: queue, readers: readers,
            settings: settings, state: state, vaults: vaults, accounts: accounts,
            coverage: coverage, credentials: credentials, enrolments: enrolments,
            examiner: examiner, fingers: fingers, guards: guards, holdings: holdings,
            logind: logind, pendingChanges: pendingChanges, policy: policy, templates: templates,
            touches: touches, upkeep: upkeep, usbNodes: paths.usbNodes)
        handlers =
            [
                logins.handlers, enrolments.handlers, fingers.handlers, printImport.handlers,
                enabling.handlers, keyring.handlers, secrets.handlers, servers.handlers,
                fileSigning.handlers, macTokens.handlers, operations.handlers, sessions.handlers,
                reports.handlers,
            ].flatMap { $0 } + Listed.services.flatMap { $0.init(parts).handlers }
        router = Router(
            accounts: accounts, admission: admission, afterAnswers: afterAnswers, clock: clock,
            desktopUser: paths.desktopUser, journal: journal,
            passwords: passwords, recovery: recovery, refusedAttempts: refusedAttempts,
            templates: templates, handlers: handlers)
    }
}
