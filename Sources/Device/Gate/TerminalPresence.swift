// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Posix
import Systemd

// A terminal proves nothing by itself: any program can make one, and show what is written there to
// a user elsewhere. What counts is the program at its other end, which is the parent of the
// process that leads the terminal's session. `fdinfo` of a master would tell it too, but the kernel
// shows that only to CAP_SYS_PTRACE, which signetd does not have.

/// What is known about the terminal of a program that asks.
struct TerminalFinding: Sendable {
    /// The terminal that controls the program; nil if there is none.
    let device: DeviceNumber?
    /// Whether nothing but the program and its session can change the judgement.
    ///
    /// False where a multiplexer shows the terminal, because another client may attach to it.
    let isLasting: Bool

    /// A program without a terminal.
    static let none = TerminalFinding(device: nil, isLasting: true)
}

/// The programs that terminals belong to, as they call themselves (comm of proc(5)).
///
/// A program may call itself anything, so the names keep out what serves another user, and not
/// what is meant to deceive: that runs as the user, and could as well type into the user's own
/// terminals.
enum TerminalProgram: Sendable {
    /// Shows the terminal in a window of the session in which it runs.
    case emulator
    /// Passes everything on to the terminal that it runs on itself.
    case relay
    /// Shows the terminal at each of its clients, which call themselves `clients`.
    case multiplexer(clients: [UInt8])

    /// Programs that pass everything on to their own terminal: script(1), and what runs a command
    /// for another user on a terminal of its own.
    private static let relays = ["script", "sudo", "su", "runuser", "doas", "asciinema"]
    /// Multiplexers, and the name of their clients.
    private static let multiplexers = [
        ("tmux: server", "tmux: client"), ("screen", "screen"), ("zellij", "zellij"),
        ("dtach", "dtach"), ("abduco", "abduco"),
    ]

    /// Returns the kind of a program; nil for one that is not known to show terminals here.
    ///
    /// - Parameter emulators: The names in `login.terminals`.
    init?(named name: [UInt8], emulators: Set<String>) {
        guard let name = String(validating: name, as: UTF8.self) else { return nil }
        if emulators.contains(name) {
            self = .emulator
        } else if Self.relays.contains(name) {
            self = .relay
        } else if let found = Self.multiplexers.first(where: { $0.0 == name }) {
            self = .multiplexer(clients: Array(found.1.utf8))
        } else {
            return nil
        }
    }
}

extension PresenceExaminer {
    /// How many terminals inside one another are looked at.
    private static let depth = 8

    /// Verifies that what is written on the terminal of a process is seen by the user whose session
    /// `finding` describes.
    ///
    /// That holds for a process without a terminal, for a virtual console, and for a
    /// pseudo-terminal of a terminal emulator that belongs to the user's session. A program that
    /// passes everything on to its own terminal is judged by that, and a multiplexer by all its
    /// clients.
    ///
    /// - Throws: `notAtMachine`, with what is known about the program at the other end.
    func terminal(
        of process: any HeldProcess, in finding: PresenceFinding, depth: Int = depth
    ) throws(Denial) -> TerminalFinding {
        let device = try known { () throws(SystemFault) in try process.terminal() }
        guard let device else { return .none }
        // Where the setting allows sessions without a seat, there is no screen to look for.
        guard device.pseudoTerminal != nil, finding.seat != nil else {
            return TerminalFinding(device: device, isLasting: true)
        }
        guard depth > 0 else { throw .notAtMachine(Detail.terminalNotKnown) }
        let holder = try holder(of: device, leadingTo: process)
        guard let name = try? holder.name(),
            let kind = TerminalProgram(named: name, emulators: policy.terminals)
        else {
            if isConsole(holder) { return TerminalFinding(device: device, isLasting: true) }
            throw .notAtMachine(Detail.terminalOf((try? holder.name()) ?? []))
        }
        var isLasting = true
        switch kind {
        case .emulator: try checkPlace(of: holder, in: finding)
        case .relay:
            let outer = try terminal(of: holder, in: finding, depth: depth - 1)
            // What relays to no terminal relays to something else.
            guard outer.device != nil else { throw .notAtMachine(Detail.terminalOf(name)) }
            isLasting = outer.isLasting
        case .multiplexer(let clients):
            try checkPlace(of: holder, in: finding)
            try checkClients(named: clients, of: holder, in: finding, depth: depth - 1)
            isLasting = false
        }
        guard !holder.hasEnded else { throw .notAtMachine(Detail.terminalNotKnown) }
        return TerminalFinding(device: device, isLasting: isLasting)
    }

    /// Holds the program at the other end of a terminal: the parent of the session's leader.
    ///
    /// Throws `notAtMachine` if the leader is not known, or was left by its parent.
    private func holder(
        of device: DeviceNumber, leadingTo process: any HeldProcess
    ) throws(Denial) -> any HeldProcess {
        guard let number = try? process.terminalSession(), number > 0,
            let leader = number == process.pid ? process : try? facts.hold(number),
            (try? leader.terminal()) == device, (try? process.terminalSession()) == number,
            let parent = try? leader.parent(), parent > 1, let holder = try? facts.hold(parent),
            // What is held now is the parent only if it has not ended in between.
            (try? leader.parent()) == parent, !leader.hasEnded, !process.hasEnded
        else { throw .notAtMachine(Detail.terminalNotKnown) }
        return holder
    }

    /// Verifies that a program belongs to the same user's session at the same seat, and would get a
    /// touch itself.
    private func checkPlace(
        of process: any HeldProcess, in finding: PresenceFinding
    ) throws(Denial) {
        let placement = facts.placement(of: process)
        let place: PresenceFinding
        switch placement {
        case .place(.session(let id)):
            place = try self.finding(in: try session(id), origin: .session(id))
        case .place(.userManager(let uid)): place = try displaySession(of: uid)
        case .place(.systemUnit), .place(.outside), .withoutLogind, .unknown:
            throw .notAtMachine(Detail.terminalElsewhere)
        }
        let user = try known { () throws(SystemFault) in try process.realUID() }
        guard place.owner == finding.owner, place.seat == finding.seat,
            user == 0 || user == finding.owner
        else { throw .notAtMachine(Detail.terminalElsewhere) }
    }

    /// Verifies that a multiplexer shows its terminals, and nowhere but at the machine.
    ///
    /// Which client belongs to which multiplexer is not known, so all clients count: a client
    /// elsewhere may be attached to this one.
    private func checkClients(
        named name: [UInt8], of server: any HeldProcess, in finding: PresenceFinding, depth: Int
    ) throws(Denial) {
        let numbers = try known { () throws(SystemFault) in try facts.processes() }
        let isServer = (try? server.name()) == name
        var count = 0
        for number in numbers where number != server.pid {
            guard let client = try? facts.hold(number), (try? client.name()) == name else {
                continue
            }
            do throws(Denial) {
                let shown = try terminal(of: client, in: finding, depth: depth)
                // A server has no terminal, and may be called like its clients.
                if shown.device == nil, isServer { continue }
                try checkPlace(of: client, in: finding)
            } catch {
                if client.hasEnded { continue }
                throw .notAtMachine(Detail.terminalShared)
            }
            count += 1
        }
        guard count > 0 else { throw .notAtMachine(Detail.terminalNotShown) }
    }

    /// Whether a program shows a terminal on the virtual console that is on the screen, as kmscon
    /// does: a unit of `login.console-units`, which runs as root.
    private func isConsole(_ holder: any HeldProcess) -> Bool {
        guard case .place(.systemUnit(let unit)) = facts.placement(of: holder),
            policy.isConsoleUnit(unit), (try? holder.realUID()) == 0,
            let place = try? console(of: unit, process: holder)
        else { return false }
        return place.seat != nil && !holder.hasEnded
    }
}
