// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import TestSupport
import Testing

@testable import Gate

extension PlayedMachine {
    /// A machine with alice's session c2 in front, and one of hers from another host, r1.
    fileprivate static func withScreen() -> PlayedMachine {
        PlayedMachine { state in
            state.sessions["c2"] = .alice()
            state.sessions["r1"] = LoginSession(id: "r1", owner: 1000, isRemote: true, seat: nil)
            state.sessions["c3"] = LoginSession(id: "c3", owner: 1001, isActive: false)
            state.displays[1000] = "c2"
        }
    }

    /// A program called `name` that holds the terminal `pts/number`, and the leader of its session.
    ///
    /// Their pids are ten times the number, and one more.
    @discardableResult
    fileprivate func terminal(
        _ number: UInt32, of name: String, in place: ProcessOrigin = .session("c2"),
        on outer: UInt32? = nil, uid: UInt32 = 1000
    ) -> PlayedProcess {
        var facts = PlayedProcess.Facts()
        facts.name = name
        facts.realUID = uid
        facts.terminal = outer.map(Self.pts)
        facts.terminalSession = outer.map { Int32($0) * 10 + 1 }
        let holder = process(Int32(number) * 10, in: place, facts)
        var leader = PlayedProcess.Facts()
        leader.terminal = Self.pts(number)
        leader.parents = [Int32(number) * 10]
        leader.realUID = 1000
        process(Int32(number) * 10 + 1, in: place, leader)
        return holder
    }

    /// A program of alice's, such as a client of a multiplexer, on a terminal.
    @discardableResult
    fileprivate func program(
        _ pid: Int32, _ name: String = "sudo", on number: UInt32?,
        in place: ProcessOrigin = .session("c2"), uid: UInt32 = 1000
    ) -> PlayedProcess {
        var facts = PlayedProcess.Facts()
        facts.name = name
        facts.realUID = uid
        facts.terminal = number.map(Self.pts)
        facts.terminalSession = number.map { Int32($0) * 10 + 1 }
        return process(pid, in: place, facts)
    }

    private static func pts(_ number: UInt32) -> DeviceNumber {
        DeviceNumber(major: 136, minor: number)
    }

    /// What is said of a sudo on a terminal.
    fileprivate func sudo(
        on number: UInt32? = 1, in place: ProcessOrigin = .session("c2"),
        settings: Configuration = Configuration()
    ) -> Judgement {
        program(1000, on: number, in: place)
        return judge(client(1000), PresenceClaims(service: "sudo"), settings: settings)
    }
}

/// What a terminal's other end says about who sees it.
@Suite("a program on a pseudo-terminal")
struct TerminalPresenceTests {
    private let evidence = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")
    private let manager = Judgement.evidence(
        .displaySession("c2"), seat: "seat0", requester: "alice")

    private static func of(_ name: String) -> Judgement {
        .missing(Detail.terminalOf(Bytes(name.utf8)))
    }

    @Test("of a terminal emulator in the session, or of the user's manager, gets a touch")
    func emulator() {
        for name in ["xterm", "gnome-terminal-", "konsole", "kitty", "ptyxis-agent"] {
            let machine = PlayedMachine.withScreen()
            machine.terminal(1, of: name)
            #expect(machine.sudo() == evidence)
            #expect(machine.sudo(in: .userManager(uid: 1000)) == manager)
            machine.terminal(1, of: name, in: .userManager(uid: 1000))
            #expect(machine.sudo() == evidence)
            #expect(machine.sudo(in: .userManager(uid: 1000)) == manager)
        }
    }

    @Test(
        "of any other program gets none",
        arguments: [
            "ttyd", "gotty", "jupyter-lab", "python3", "node", "sshd", "sshd-session", "dropbear",
            "mosh-server", "systemd", "socat", "java", "emacs", "wezterm-mux-ser", "sh", "bash",
            "XTERM", "xterm2", "", "tmux: client",
        ])
    func served(_ name: String) {
        let machine = PlayedMachine.withScreen()
        machine.terminal(1, of: name)
        #expect(machine.sudo() == Self.of(name))
        #expect(machine.sudo(in: .userManager(uid: 1000)) == Self.of(name))
        // Also if that runs on a terminal of hers.
        machine.terminal(2, of: "xterm")
        machine.terminal(1, of: name, on: 2)
        #expect(machine.sudo() == Self.of(name))
    }

    @Test("of an emulator that the administrator names gets a touch, and then of no others")
    func configured() throws {
        let settings = try Configuration.login("terminals = new-terminal, a-very-long-name-of-one")
        for name in ["new-terminal", "a-very-long-nam"] {
            let machine = PlayedMachine.withScreen()
            machine.terminal(1, of: name)
            #expect(machine.sudo(settings: settings) == evidence)
        }
        let machine = PlayedMachine.withScreen()
        machine.terminal(1, of: "xterm")
        #expect(machine.sudo(settings: settings) == Self.of("xterm"))
        let both = try Configuration.login("terminals = default, new-terminal")
        #expect(machine.sudo(settings: both) == evidence)
        machine.terminal(1, of: "new-terminal")
        #expect(machine.sudo(settings: both) == evidence)
    }

    @Test("of an emulator in another place, or of another user, gets none")
    func elsewhere() {
        let machine = PlayedMachine.withScreen()
        for place in [ProcessOrigin.systemUnit("vnc.service"), .outside] {
            machine.terminal(1, of: "xterm", in: place)
            #expect(machine.sudo() == .missing(Detail.terminalElsewhere))
        }
        machine.terminal(1, of: "xterm", in: .session("r1"))
        #expect(machine.sudo() == .remote)
        machine.terminal(1, of: "xterm", in: .session("c3"), uid: 1001)
        #expect(machine.sudo() == .missing(Detail.sessionNotInFront))
        machine.terminal(1, of: "xterm", uid: 1001)
        #expect(machine.sudo() == .missing(Detail.terminalElsewhere))
        machine.terminal(1, of: "xterm", in: .userManager(uid: 1001))
        #expect(machine.sudo() == .missing(Detail.noActiveSession))
    }

    @Test("whose other end is not known gets none")
    func unknown() {
        let unknown = Judgement.missing(Detail.terminalNotKnown)
        for parents: [Int32] in [[0], [1], [77], [10, 1], [10, 11]] {
            let machine = PlayedMachine.withScreen()
            machine.terminal(1, of: "xterm")
            var leader = PlayedProcess.Facts()
            leader.terminal = DeviceNumber(major: 136, minor: 1)
            leader.parents = parents
            machine.process(11, in: .session("c2"), leader)
            #expect(machine.sudo() == unknown, "\(parents)")
        }
        // A leader that has ended, or has another terminal now.
        let machine = PlayedMachine.withScreen()
        machine.terminal(1, of: "xterm")
        machine.process(11, in: .session("c2")).change { $0.hasEnded = true }
        #expect(machine.sudo() == unknown)
        machine.process(11, in: .session("c2"))
        #expect(machine.sudo() == unknown)
        let ended = PlayedMachine.withScreen()
        ended.terminal(1, of: "xterm").change { $0.hasEnded = true }
        #expect(ended.sudo() == unknown)
    }

    @Test(
        "of a program that passes everything on is judged by that program's own",
        arguments: ["script", "sudo", "su", "runuser"])
    func relay(_ name: String) {
        let machine = PlayedMachine.withScreen()
        machine.terminal(2, of: "xterm")
        machine.terminal(1, of: name, on: 2)
        #expect(machine.sudo() == evidence)
        machine.terminal(2, of: "ttyd")
        #expect(machine.sudo() == Self.of("ttyd"))
        machine.terminal(1, of: name)
        #expect(machine.sudo() == Self.of(name))
        // Without end.
        machine.terminal(1, of: name, on: 2)
        machine.terminal(2, of: name, on: 1)
        #expect(machine.sudo() == .missing(Detail.terminalNotKnown))
    }

    @Test("that is a virtual console, in a session at the seat, gets one")
    func console() {
        let machine = PlayedMachine.withScreen()
        machine.process(1000, in: .session("c2")).change {
            $0.terminal = DeviceNumber(major: 4, minor: 2)
        }
        #expect(
            machine.judge(machine.client(1000), PresenceClaims(service: "sudo")) == evidence)
    }

    @Test("of kmscon gets one at the console that the screen shows")
    func kmscon() {
        let machine = PlayedMachine.withScreen()
        let unit = ProcessOrigin.systemUnit("kmsconvt@tty1.service")
        machine.terminal(1, of: "kmscon", in: unit, uid: 0)
        #expect(machine.sudo() == evidence)
        machine.change { $0.activeConsole = "tty2" }
        #expect(machine.sudo() == Self.of("kmscon"))
        machine.change { $0.activeConsole = "tty1" }
        machine.terminal(1, of: "kmscon", in: unit, uid: 1000)
        #expect(machine.sudo() == Self.of("kmscon"))
        machine.terminal(1, of: "kmscon", in: .systemUnit("ttyd@tty1.service"), uid: 0)
        #expect(machine.sudo() == Self.of("kmscon"))
    }

    @Test("is not looked for where the setting allows sessions without a seat")
    func withoutSeat() throws {
        let machine = PlayedMachine { $0.sessions["c2"] = .alice(seat: nil) }
        let settings = try Configuration.login("without-seat = allow")
        machine.terminal(1, of: "systemd-nspawn")
        #expect(
            machine.sudo(settings: settings)
                == .evidence(.session("c2"), seat: nil, requester: "alice"))
    }

    @Test("is named in the evidence as the kernel names it")
    func named() throws {
        let machine = PlayedMachine.withScreen()
        machine.terminal(7, of: "xterm")
        machine.program(1000, on: 7)
        let presence = try PresenceExaminer(Configuration(), facts: machine).evidence(
            for: machine.client(1000), account: PlayedMachine.alice,
            claims: PresenceClaims(service: "sudo"))
        #expect(presence.terminal == Bytes("pts/7".utf8))
        machine.program(1000, on: nil)
        let locker = try PresenceExaminer(Configuration(), facts: machine).evidence(
            for: machine.client(1000, uid: 1000), account: PlayedMachine.alice,
            claims: PresenceClaims(service: "i3lock"))
        #expect(locker.terminal.isEmpty)
    }
}

@Suite("a program in a multiplexer")
struct MultiplexerPresenceTests {
    private let evidence = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")
    private let shared = Judgement.missing(Detail.terminalShared)

    /// The terminal 1 belongs to a server, which has no client yet; 2 to an emulator.
    private func machine(
        server: String = "tmux: server", in place: ProcessOrigin = .userManager(uid: 1000)
    ) -> PlayedMachine {
        let machine = PlayedMachine.withScreen()
        machine.terminal(1, of: server, in: place)
        machine.terminal(2, of: "xterm")
        machine.terminal(3, of: "sshd", in: .session("r1"))
        machine.terminal(4, of: "ttyd")
        return machine
    }

    private static let kinds = [
        ("tmux: server", "tmux: client"), ("screen", "screen"), ("zellij", "zellij"),
        ("dtach", "dtach"), ("abduco", "abduco"),
    ]

    @Test("gets a touch while all clients are at the machine", arguments: kinds)
    func local(_ server: String, _ client: String) {
        let machine = machine(server: server)
        #expect(machine.sudo() == .missing(Detail.terminalNotShown))
        machine.program(500, client, on: 2)
        #expect(machine.sudo() == evidence)
        machine.program(501, client, on: 2, in: .userManager(uid: 1000))
        #expect(machine.sudo() == evidence)
    }

    @Test("gets none while one of them is not, or may not be", arguments: kinds)
    func remote(_ server: String, _ client: String) {
        for (number, place, uid) in [
            (3, .session("r1"), 1000), (4, .session("c2"), 1000), (3, .session("c2"), 1000),
            (2, .session("c3"), 1001), (2, .session("c2"), 1001),
            (2, .systemUnit("run-u1.service"), 0), (9, .session("c2"), 1000),
        ] as [(UInt32, ProcessOrigin, UInt32)] {
            let machine = machine(server: server)
            machine.program(500, client, on: 2)
            machine.program(501, client, on: number, in: place, uid: uid)
            #expect(machine.sudo() == shared, "\(number) \(place)")
            machine.process(501, in: place).change { $0.hasEnded = true }
            #expect(machine.sudo() == evidence)
        }
    }

    @Test("gets none by a client without a terminal in another session")
    func control() {
        let machine = machine()
        machine.program(500, "tmux: client", on: nil, in: .session("r1"))
        #expect(machine.sudo() == shared)
    }

    @Test("gets none where the server runs elsewhere")
    func server() {
        let machine = machine(in: .session("r1"))
        machine.program(500, "tmux: client", on: 2)
        #expect(machine.sudo() == .remote)
    }

    @Test("loses its touch if a client elsewhere attaches while a finger is awaited")
    func attached() throws {
        let machine = machine()
        machine.program(500, "tmux: client", on: 2)
        machine.program(1000, on: 1)
        let examiner = PresenceExaminer(Configuration(), facts: machine)
        let presence = try examiner.evidence(
            for: machine.client(1000), account: PlayedMachine.alice,
            claims: PresenceClaims(service: "sudo"))
        try examiner.confirm(presence)
        machine.program(501, "tmux: client", on: 3, in: .session("r1"))
        #expect(throws: Denial(.changedMeanwhile)) { try examiner.confirm(presence) }
    }
}

@Suite("what asks")
struct RequestingServicePresenceTests {
    private let evidence = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")

    private func judge(
        _ service: String, uid: UInt32, program: String = "program",
        settings: Configuration = Configuration()
    ) -> Judgement {
        let (machine, _) = PlayedMachine.inSession(.alice(), uid: uid)
        var facts = PlayedProcess.Facts()
        facts.name = program
        facts.realUID = 1000
        machine.process(100, in: .session("c2"), facts)
        return machine.judge(
            machine.client(100, uid: uid), PresenceClaims(service: ServiceName(service)),
            settings: settings)
    }

    private static func network(_ name: String) -> Judgement {
        .missing(Detail.serviceOfNetwork(Bytes(name.utf8)))
    }

    @Test(
        "a screen locker may be without root's rights, and without a terminal",
        arguments: ["i3lock", "swaylock", "kde", "kde-fingerprint", "common-auth", "xscreensaver"])
    func locker(_ service: String) {
        for uid: UInt32 in [0, 1000] { #expect(judge(service, uid: uid) == evidence) }
    }

    @Test(
        "any other service without root's rights gets no touch",
        arguments: [
            "sudo", "su", "login", "polkit-1", "gdm-password", "unknown", "other", "", "I3LOCK",
        ])
    func unprivileged(_ service: String) {
        #expect(
            judge(service, uid: 1000)
                == .missing(Detail.serviceNotLocker(Bytes(service.utf8))))
    }

    @Test("a root program without a terminal that is no screen locker gets none")
    func withoutTerminal() {
        for service in ["sudo", "su", "unknown"] {
            #expect(
                judge(service, uid: 0)
                    == .missing(Detail.serviceWithoutTerminal(Bytes(service.utf8))))
        }
    }

    @Test("a locker that the administrator adds gets a touch")
    func added() throws {
        let settings = try Configuration.login("lockers = i3lock, my-locker")
        #expect(judge("my-locker", uid: 1000, settings: settings) == evidence)
        #expect(
            judge("swaylock", uid: 1000, settings: settings)
                == .missing(Detail.serviceNotLocker(Bytes("swaylock".utf8))))
    }

    @Test(
        "a service for users of other machines gets none, whoever runs it and whatever is set",
        arguments: [
            "tigervnc", "vnc", "vncserver", "x11vnc", "wayvnc", "xrdp-sesman", "krdpserver",
            "gnome-remote-desktop", "cockpit", "sshd", "ttyd", "jupyterhub", "TigerVNC",
        ])
    func network(_ service: String) throws {
        for uid: UInt32 in [0, 1000] { #expect(judge(service, uid: uid) == Self.network(service)) }
        let settings = try Configuration.login("lockers = \(service)")
        #expect(judge(service, uid: 1000, settings: settings) == Self.network(service))
    }

    @Test(
        "such a program gets none by a locker's name",
        arguments: ["X0tigervnc", "Xvnc", "x11vnc", "wayvnc", "krfb", "ttyd", "gnome-remote-de"])
    func program(_ program: String) {
        for uid: UInt32 in [0, 1000] {
            #expect(judge("i3lock", uid: uid, program: program) == Self.network(program))
        }
    }
}
