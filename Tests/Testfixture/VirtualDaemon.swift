// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Daemon
import DesktopProcess
import Glibc
import Posix
import State
import TestSupport

/// The Daemon library on libfprint's virtual readers, with all places to choose.
///
/// `--text`, `--storage`, `--storage-no-list` and `--image` name the sockets of virtual readers;
/// `--state`, `--socket`, `--configuration`, `--verify-password`, `--bus`, `--lids`, `--relay`,
/// `--usb`, `--tokens`, `--readers` and `--fprintd` the daemon's places;
/// `--failpoint` a file that tells at which durable step to fail or to die; `--passed` one that tells
/// by how many seconds the time since the machine's start is further on; `--reader-idle` after how
/// many milliseconds without a request the readers' process ends; `--absence` for how many
/// milliseconds a reader that was unplugged is waited for: next to none otherwise. `--one-life` lets
/// every account be the one that enrolled, whatever becomes of its password.
struct VirtualDaemon {
    private var paths: Paths
    private var failpoint: String?
    private var clock = Clock.system
    private var absence = Duration.milliseconds(100)
    private var witness = LifeWitness.system
    private var isUnderstood = true

    private static let readers: Set = ["--text", "--storage", "--storage-no-list", "--image"]
    private var readerArguments: [String] = []
    /// Whether a test plays the process of the readers.
    private var areReadersElsewhere = false

    /// Reads pairs of an option and its value, and switches the readers on that they name.
    init(_ arguments: [String]) {
        paths = .installed()
        for index in stride(from: 0, to: arguments.count, by: 2) {
            guard index + 1 < arguments.count else {
                isUnderstood = false
                return
            }
            take(arguments[index], arguments[index + 1])
        }
    }

    /// Serves until it is told to stop; gives the exit status.
    func run() -> Int32 {
        guard isUnderstood else { return 2 }
        guard areReadersElsewhere || startReaders() else { return 1 }
        guard let failpoint else {
            _exit(
                Program.run(
                    paths: paths, foreground: true, clock: clock, witness: witness, absence: absence
                ))
        }
        guard let point = try? Failpoint(path: failpoint) else { return 2 }
        let faults = DurableFaults { (_, name) throws(SystemFault) in try point.pass(name) }
        _exit(
            Program.run(
                paths: paths, foreground: true, clock: clock, faults: faults, witness: witness,
                absence: absence))
    }

    /// Has the process of the readers started as systemd does it, whenever the daemon asks.
    private func startReaders() -> Bool {
        let arguments = [programDirectory() + "/testreader"] + readerArguments
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        let fault = unsafe start_on_demand(paths.readers, &pointers)
        if fault != 0 { complain("testfixture: no readers at \(paths.readers): errno \(fault)") }
        return fault == 0
    }

    /// The machine's own clock, but for the seconds that a file says, if it is there.
    private static func clock(ahead path: String) -> Clock {
        var clock = Clock.system
        let own = clock.sinceBoot
        clock.sinceBoot = {
            let text = (try? Layout.read(path)).map { String(decoding: $0, as: UTF8.self) }
            return own() + .seconds(text.flatMap { Int($0) } ?? 0)
        }
        return clock
    }

    /// Runs signet-fprint at places of a test's; gives the exit status.
    static func runDesktop(_ places: [String]) -> Int32 {
        var paths = DesktopPaths()
        (paths.socket, paths.bus) = (places[0], places[1])
        paths.idle = Int(places[2]).map { .milliseconds($0) }
        paths.burst = .seconds(3)
        if places.count > 4 { paths.rest = .milliseconds(Int(places[4]) ?? 0) }
        return DesktopProgram.run(paths: paths, clock: clock(ahead: places[3]))
    }

    private mutating func take(_ option: String, _ value: String) {
        if Self.readers.contains(option) {
            readerArguments += [option, value]
            return
        }
        switch option {
        case "--reader-idle": readerArguments += ["--idle", value]
        case "--state": paths.state = value
        case "--socket": paths.socket = value
        case "--configuration": paths.configuration = value
        case "--verify-password": paths.verifyPassword = value
        case "--fprintd": paths.fprintd = value
        case "--bus": paths.systemBus = value
        case "--lids": paths.lids = value
        case "--relay": paths.relay = value
        case "--readers": paths.readers = value
        case "--played-readers": (paths.readers, areReadersElsewhere) = (value, true)
        case "--tokens": paths.tokens = value
        case "--desktop-user": paths.desktopUser = value
        case "--event-log": paths.eventLog = value
        case "--usb": paths.usbNodes = value
        case "--secure-boot": paths.secureBoot = value
        case "--failpoint": failpoint = value
        case "--absence": absence = .milliseconds(Int(value) ?? 0)
        case "--one-life": witness = LifeWitness { _, _ in .none }
        case "--passed": clock = Self.clock(ahead: value)
        default: isUnderstood = false
        }
    }
}
