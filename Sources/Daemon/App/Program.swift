// SPDX-License-Identifier: Apache-2.0
import ConfigurationFiles
import Gate
import Loop
import Policy
import Posix
import Store
import Systemd
import Vault

/// The daemon from start to end.
@ServiceActor
package final class Program {
    /// How long requests under way have to be answered when the daemon stops, by servers too: less
    /// than systemd waits for it.
    private static let farewell = Duration.seconds(3)

    private let paths: Paths
    private let clock: Clock
    private let faults: DurableFaults
    private let absence: Duration
    private let journal: DecisionJournal
    private var isActivated = false
    private var parts: Assembly?
    private var vaults: Vaults?
    private var listener: Listener?
    private var signals: Signals?
    private var idle: Timer?
    private var idleExit: Duration?
    /// Whether nobody has asked for so long that only a server's answer is waited for.
    private var isLeaving = false
    private var hasOwnSocket = false

    private init(
        paths: Paths, foreground: Bool, clock: Clock, faults: DurableFaults, absence: Duration
    ) {
        self.paths = paths
        self.clock = clock
        self.faults = faults
        self.absence = absence
        journal = DecisionJournal(foreground: foreground)
    }

    /// Runs the daemon on the calling thread, which must be the process's first, until it stops:
    /// on SIGTERM or SIGINT, or when idle if systemd holds the socket for it. Gives the exit status.
    ///
    /// `clock`, `faults` and `absence`, how long an unplugged reader is waited for, are for tests.
    package nonisolated static func run(
        paths: Paths, foreground: Bool, clock: Clock = .system, faults: DurableFaults = .none,
        absence: Duration = .seconds(10)
    ) -> Int32 {
        outliveClosedPipes()
        let status = ExitStatus()
        onService {
            let program = Program(
                paths: paths, foreground: foreground, clock: clock, faults: faults,
                absence: absence)
            guard await program.start() else {
                status.value = 1
                MainLoop.quit()
                return
            }
            status.program = program
        }
        MainLoop.run()
        return status.value
    }

    /// Written on the service's thread, read when that thread is gone.
    // SAFETY: MainLoop.run joins the service's thread before it returns.
    private final class ExitStatus: @unchecked Sendable {
        var value: Int32 = 0
        var program: Program?
    }

    /// Takes the steps in which a fault ends the program; false if one did.
    private func start() async -> Bool {
        let (settings, fault) = loadSettings()
        idleExit = settings.duration(Settings.idleExit)
        do {
            // First the socket: it tells whether another daemon has the state in use.
            let socket = try listeningSocket()
            let logind = Logind(socket: paths.systemBus, journal: journal)
            // The readers are looked for meanwhile, in their own process: that takes the longest.
            let line = ReaderLine(
                path: paths.readers, unit: ReaderUnit(bus: logind, journal: journal)
            ) { [journal] in journal.fault($0) }
            let readers = ReaderPool(
                line, ignoring: settings.words(Settings.ignoredReaders), absence: absence)
            readers.wake()
            // So is the bus: nobody shall wait for it when a finger is wanted.
            logind.connect()
            let state = try StateDirectory.open(
                paths.state, credentials: paths.credentials, faults: faults)
            let vaults = vaults(of: state, settings)
            let admission = Admission(
                total: settings.count(Settings.connections),
                perUser: settings.count(Settings.connectionsPerUser))
            let examiner = PresenceExaminer(settings)
            let parts = try Assembly(
                state: state, vaults: vaults, readers: readers, settings: settings,
                configurationFault: fault, clock: clock, journal: journal, logind: logind,
                admission: admission, examiner: examiner, paths: paths)
            let listener = Listener(
                socket, admission: admission, examiner: examiner, clock: clock,
                service: parts.router
            ) { [weak self] in self?.idleChanged($0) }
            parts.relay.becameQuiet = { [weak self] in self?.leaveIfQuiet() }
            await parts.recovery.recover()
            parts.sessionTokens.tidyTokens()
            self.parts = parts
            self.vaults = vaults
            self.listener = listener
        } catch {
            journal.fault("cannot start: \(error)")
            if hasOwnSocket { PacketListener.remove(paths.socket) }
            return false
        }
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop() }
        listener?.open()
        idleChanged(true)
        Readiness.ready.notify()
        parts?.removals.want()
        return true
    }

    private func loadSettings() -> (Configuration, ConfigurationFault?) {
        do throws(ConfigurationFault) {
            let settings = try ConfigurationFiles.load(paths.configuration)
            for line in settings.obsoleteLines { journal.warning(line.text) }
            return (settings, nil)
        } catch {
            journal.fault("\(error.text): the defaults are in force instead")
            return (Configuration(), error)
        }
    }

    private func vaults(of state: StateDirectory, _ settings: Configuration) -> Vaults {
        let tpm: any RootedVault
        do throws(TPMSettingFault) {
            tpm = try TPMVault(
                host: state.host, tcti: settings.word(Settings.vaultTPM),
                pcrs: settings.numbers(Settings.vaultRegisters), pin: state.rootPin)
        } catch {
            journal.fault(error.description)
            tpm = UnusableVault(.absent(error.description))
        }
        return Vaults(
            file: FileVault(host: state.host), tpm: tpm,
            preference: Vaults.Preference(rawValue: settings.word(Settings.vaultKind)) ?? .auto,
            limit: settings.duration(Settings.vaultTimeout) ?? .seconds(10), journal: journal)
    }

    private func listeningSocket() throws -> PacketListener {
        if let inherited = try Activation.sockets().first {
            isActivated = true
            return try PacketListener(adopting: Descriptor(adopting: inherited))
        }
        let listener = try PacketListener.replacing(paths.socket)
        hasOwnSocket = true
        return listener
    }

    /// Ends when nobody has asked for anything for a while, if systemd would start it again.
    private func idleChanged(_ isIdle: Bool) {
        idle?.cancel()
        isLeaving = false
        guard isIdle else { return }
        vaults?.rest()
        guard isActivated, let idleExit else { return }
        idle = Timer(after: idleExit) { [weak self] in
            self?.isLeaving = true
            self?.leaveIfQuiet()
        }
    }

    /// Who has asked a server may be gone: what it says counts all the same, and somebody has to hear it.
    private func leaveIfQuiet() {
        if isLeaving, parts?.relay.isQuiet != false { stop() }
    }

    private func stop() {
        Readiness.stopping.notify()
        signals = nil
        idle?.cancel()
        (idleExit, isLeaving) = (nil, false)
        parts?.relay.close()
        onService { [self] in
            let end = ContinuousClock.now + Self.farewell
            await listener?.stop(within: Self.farewell)
            await parts?.relay.hearOut(within: end - .now)
            parts?.refusedAttempts.saveRefusals()
            await vaults?.close()
            if hasOwnSocket { PacketListener.remove(paths.socket) }
            MainLoop.quit()
        }
    }
}
