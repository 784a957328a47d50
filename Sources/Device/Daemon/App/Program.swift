// SPDX-License-Identifier: Apache-2.0
import Configuration
import Gate
import MainContext
import Posix
import Sealing
import State
import Systemd

/// The daemon's life: start, idle exit and orderly stop.
///
/// Start-up takes the listening socket first, since that shows whether another daemon uses the
/// state. It then opens the state, assembles the parts, recovers what a crash left unfinished, and
/// accepts clients only after that. The daemon exits when idle if systemd holds its socket and will
/// start it again.
///
/// A configuration that cannot be read does not prevent the start; `SettingsInForce` says what
/// applies then.
@ServiceActor
package final class Program {
    /// How long requests in progress may take to finish when the daemon stops, unless they wait for
    /// the TPM or a server.
    private static let farewell = Duration.seconds(3)
    /// How long the TPM and servers may take then, so that nothing is lost that a slow one was about to
    /// finish; less than systemd's stop timeout.
    private static let longFarewell = Duration.seconds(60)

    private let paths: Paths
    private let clock: Clock
    private let faults: DurableFaults
    private let witness: LifeWitness
    /// How long to wait for an unplugged reader.
    private let absence: Duration
    private let journal: DecisionJournal
    /// Whether systemd passed the listening socket.
    private var isActivated = false
    private var parts: Assembly?
    private var vaults: Vaults?
    private var listener: Listener?
    private var signals: Signals?
    private var idle: Timer?
    private var idleExit: Duration?
    /// Whether the administrator has not set `daemon.idle-exit`.
    private var isIdleExitDefault = true
    /// Whether the idle time is over, so that the daemon stops as soon as no server request is
    /// pending.
    private var isLeaving = false
    /// Whether the daemon was told a second time to stop.
    private var isHurried = false
    /// Whether the daemon created the socket and therefore has to remove it.
    private var hasOwnSocket = false

    private init(
        paths: Paths, foreground: Bool, clock: Clock, faults: DurableFaults, witness: LifeWitness,
        absence: Duration
    ) {
        self.paths = paths
        self.clock = clock
        self.faults = faults
        self.witness = witness
        self.absence = absence
        journal = DecisionJournal(foreground: foreground)
    }

    /// Runs the daemon on the calling thread, which must be the process's first, until it stops.
    ///
    /// It stops on SIGTERM or SIGINT, or when idle if systemd holds the socket for it.
    ///
    /// - Parameters:
    ///   - foreground: whether to log to standard error if there is no journal.
    ///   - clock: for tests.
    ///   - faults: injected disk faults, for tests.
    ///   - witness: what shows whether an account is the one that enrolled, for tests.
    ///   - absence: how long to wait for an unplugged reader; shorter in tests.
    /// - Returns: the exit status: 0, or 1 if the daemon could not start.
    package nonisolated static func run(
        paths: Paths, foreground: Bool, clock: Clock = .system, faults: DurableFaults = .none,
        witness: LifeWitness = .system, absence: Duration = .seconds(10)
    ) -> Int32 {
        outliveClosedPipes()
        let status = ExitStatus()
        onService {
            let program = Program(
                paths: paths, foreground: foreground, clock: clock, faults: faults,
                witness: witness, absence: absence)
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

    /// The result, written on the service's thread and read after that thread has ended.
    // SAFETY: MainLoop.run joins the service's thread before it returns.
    private final class ExitStatus: @unchecked Sendable {
        var value: Int32 = 0
        var program: Program?
    }

    /// Starts all parts; returns false, after logging why, if a fault prevents it.
    private func start() async -> Bool {
        do {
            // The socket comes first: it shows whether another daemon is using the state.
            let socket = try listeningSocket()
            let state = try StateDirectory.open(
                paths.state, credentials: paths.credentials, faults: faults, witness: witness)
            let inForce = SettingsInForce.load(paths.configuration, state: state, journal: journal)
            let settings = inForce.settings
            idleExit = settings.duration(Settings.idleExit)
            isIdleExitDefault = settings.isDefault(Settings.idleExit)
            let logind = Logind(socket: paths.systemBus, journal: journal)
            // Finding the readers takes the longest, so their process starts with that now.
            let line = ReaderClient(
                path: paths.readers, unit: ReaderUnit(bus: logind, journal: journal)
            ) { [journal] in journal.fault($0) }
            let readers = ReaderPool(
                line, ignoring: settings.words(Settings.ignoredReaders), absence: absence)
            readers.wake()
            // Connect to the bus early too, so that the first touch does not wait for it.
            logind.connect()
            let vaults = vaults(of: state, settings: settings)
            let admission = Admission(
                total: settings.count(Settings.connections),
                perUser: settings.count(Settings.connectionsPerUser))
            let examiner = PresenceExaminer(settings)
            let parts = try Assembly(
                state: state, vaults: vaults, readers: readers, inForce: inForce, clock: clock,
                journal: journal, logind: logind,
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

    /// Creates the vaults; a TPM setting that cannot be used makes the TPM vault unusable, not the
    /// daemon.
    private func vaults(of state: StateDirectory, settings: Configuration) -> Vaults {
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

    /// Returns the listening socket that systemd passed, or creates one.
    ///
    /// Throws if another daemon listens on the path.
    private func listeningSocket() throws -> PacketListener {
        if let inherited = try Activation.sockets().first {
            isActivated = true
            return try PacketListener(adopting: Descriptor(adopting: inherited))
        }
        let listener = try PacketListener.replacing(paths.socket)
        hasOwnSocket = true
        return listener
    }

    /// Starts or cancels the idle timer.
    ///
    /// The daemon exits only if systemd will start it again. By default it stays where a slow TPM would
    /// have to open the stored prints again before the next prompt. What the vaults hold in the TPM is released in any
    /// case.
    private func idleChanged(_ isIdle: Bool) {
        idle?.cancel()
        isLeaving = false
        guard isIdle else { return }
        vaults?.rest()
        guard isActivated, let idleExit else { return }
        if isIdleExitDefault, parts?.templates.isWorthKeeping == true { return }
        idle = Timer(after: idleExit) { [weak self] in
            self?.isLeaving = true
            self?.leaveIfQuiet()
        }
    }

    /// Stops if the idle time is over and no server request is in progress.
    ///
    /// The client may have gone, but the server's answer still takes effect and has to be
    /// processed.
    private func leaveIfQuiet() {
        if isLeaving, parts?.relay.isQuiet != false { stop() }
    }

    /// Shuts the daemon down step by step: clients, requests to servers, refusals that are not on
    /// disk yet, and vaults.
    ///
    /// A request that waits for the TPM or a server is given up only if that is dead, which has limits
    /// of its own, or at the second signal.
    private func stop() {
        Readiness.stopping.notify()
        // Who asks twice does not want to wait.
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in
            self?.isHurried = true
            self?.listener?.endStop()
            self?.parts?.relay.hearNoMore()
        }
        idle?.cancel()
        (idleExit, isLeaving) = (nil, false)
        parts?.relay.close()
        onService { [self] in
            let end = ContinuousClock.now + Self.longFarewell
            await listener?.stop(within: Self.farewell) { [self] in
                !isHurried && end > .now
                    && (vaults?.isAwaited == true || parts?.relay.isHeardOut == false)
            }
            await parts?.relay.hearOut(within: isHurried ? .zero : end - .now)
            parts?.refusedAttempts.saveRefusals()
            await vaults?.close(within: .seconds(isHurried ? 2 : 15))
            if hasOwnSocket { PacketListener.remove(paths.socket) }
            MainLoop.quit()
        }
    }
}
