import Policy
import Posix
import Systemd
import Testing
import Texts
import Wire

@testable import Gate

/// What a request is answered: evidence, or a denial.
enum Judgement: Equatable, CustomStringConvertible {
    case evidence(Gate.Presence.Origin, seat: String?, requester: String)
    case denied(Denial)

    static func missing(_ detail: Text) -> Judgement { .denied(.notAtMachine(detail)) }
    static let remote = Judgement.denied(Denial(.remoteSession))
    static func other(_ uid: UInt32, _ name: String) -> Judgement {
        .denied(.other(Requester(uid: uid, name: Bytes(name.utf8))))
    }

    var description: String {
        switch self {
        case .evidence(let origin, let seat, let requester): "\(origin) \(seat ?? "-") \(requester)"
        case .denied(let denial):
            "\(denial.reason) " + String(decoding: denial.subject ?? [], as: UTF8.self)
        }
    }
}

extension PlayedMachine {
    /// Has a client's request judged.
    func judge(
        _ client: ClientProcess, for account: Account = alice, _ claims: PresenceClaims = .init(),
        others: OtherAccounts = .asConfigured, settings: Configuration = Configuration()
    ) -> Judgement {
        do throws(Denial) {
            let presence = try PresenceExaminer(settings, facts: self)
                .evidence(for: client, account: account, claims: claims, others: others)
            #expect(presence.account == account.uid)
            return .evidence(
                presence.origin, seat: presence.seat,
                requester: String(decoding: presence.requester.name, as: UTF8.self))
        } catch { return .denied(error) }
    }

    /// A machine with a session c2 of alice's, and a client 100 in it.
    static func inSession(
        _ session: LoginSession, uid: UInt32 = 0
    ) -> (PlayedMachine, ClientProcess) {
        let machine = PlayedMachine { $0.sessions[session.id] = session }
        machine.process(100, in: .session(session.id))
        return (machine, machine.client(100, uid: uid))
    }
}

extension LoginSession {
    /// alice's, in front of seat0, if not said otherwise.
    static func alice(
        isRemote: Bool = false, seat: String? = "seat0", isActive: Bool = true,
        class kind: Class = .user
    ) -> LoginSession {
        LoginSession(
            id: "c2", owner: 1000, isRemote: isRemote, seat: seat, isActive: isActive, class: kind)
    }

    /// A greeter's, in front of a seat.
    static func greeter(id: String = "c1", seat: String? = "seat0", isActive: Bool = true)
        -> LoginSession
    {
        LoginSession(id: id, owner: 110, seat: seat, isActive: isActive, class: .greeter)
    }
}

@Suite("a program in a session")
struct SessionPresenceTests {
    private let evidence = Judgement.evidence(.session("c2"), seat: "seat0", requester: "alice")

    @Test(
        "that is local, at a seat, in front and the account's gets a touch", arguments: [0, 1000])
    func accepted(_ uid: UInt32) {
        let (machine, client) = PlayedMachine.inSession(.alice(), uid: uid)
        #expect(machine.judge(client) == evidence)
    }

    @Test(
        "that lacks any of it gets none",
        arguments: [
            (.alice(isRemote: true), .remote),
            (.alice(isRemote: true, seat: nil), .remote),
            (.alice(isActive: false), .missing(Detail.sessionNotInFront)),
            (.alice(seat: nil), .missing(Detail.sessionWithoutSeat)),
            (.alice(class: .greeter), .missing(Detail.sessionOfAnotherKind)),
            (.alice(class: .other), .missing(Detail.sessionOfAnotherKind)),
        ] as [(LoginSession, Judgement)])
    func refused(_ session: LoginSession, _ judgement: Judgement) {
        let (machine, client) = PlayedMachine.inSession(session)
        #expect(machine.judge(client) == judgement)
        #expect(machine.judge(client, others: .allowed) == judgement)
    }

    @Test("without a record of logind's gets none")
    func noRecord() {
        let machine = PlayedMachine()
        machine.process(100, in: .session("c2"))
        #expect(machine.judge(machine.client(100)) == .missing(Detail.sessionNotKnown))
    }

    @Test("gets none for a login from another host")
    func remoteHost() {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let claims = PresenceClaims(service: Bytes("sshd".utf8), remoteHost: Bytes("h".utf8))
        #expect(machine.judge(client, claims) == .remote)
    }

    @Test("without a seat gets one where the configuration allows it, for all but the seat")
    func withoutSeat() throws {
        let settings = try Configuration.login("without-seat = allow")
        let (machine, client) = PlayedMachine.inSession(.alice(seat: nil))
        #expect(
            machine.judge(client, settings: settings)
                == .evidence(.session("c2"), seat: nil, requester: "alice"))
        #expect(
            machine.judge(client, for: PlayedMachine.bob, settings: settings)
                == .other(1000, "alice"))
        let (other, second) = PlayedMachine.inSession(.alice(isRemote: true, seat: nil))
        #expect(other.judge(second, settings: settings) == .remote)
        let (third, last) = PlayedMachine.inSession(.alice(seat: nil, class: .other))
        #expect(
            third.judge(last, settings: settings) == .missing(Detail.sessionOfAnotherKind))
    }
}

@Suite("a program of a user's service manager")
struct UserManagerPresenceTests {
    private func machine(_ session: LoginSession?) -> (PlayedMachine, ClientProcess) {
        let machine = PlayedMachine { state in
            guard let session else { return }
            state.sessions[session.id] = session
            state.displays[1000] = session.id
        }
        machine.process(100, in: .userManager(uid: 1000))
        return (machine, machine.client(100))
    }

    @Test("gets a touch while its user's session is in front of a seat")
    func accepted() {
        let (machine, client) = machine(.alice())
        #expect(
            machine.judge(client)
                == .evidence(.displaySession("c2"), seat: "seat0", requester: "alice"))
        #expect(machine.judge(client, for: PlayedMachine.bob) == .other(1000, "alice"))
    }

    @Test(
        "gets none while it is not, or where the user lingers",
        arguments: [
            (nil, .missing(Detail.noActiveSession)),
            (.alice(isRemote: true, seat: nil), .remote),
            (.alice(isActive: false), .missing(Detail.sessionNotInFront)),
            (.alice(seat: nil), .missing(Detail.sessionWithoutSeat)),
            (.alice(class: .other), .missing(Detail.sessionOfAnotherKind)),
        ] as [(LoginSession?, Judgement)])
    func refused(_ session: LoginSession?, _ judgement: Judgement) {
        let (machine, client) = machine(session)
        #expect(machine.judge(client) == judgement)
    }

    @Test("gets none by another user's session")
    func anothers() {
        let (machine, client) = machine(LoginSession(id: "c2", owner: 1001))
        #expect(machine.judge(client) == .missing(Detail.noActiveSession))
    }
}

@Suite("a display manager's worker")
struct LoginScreenPresenceTests {
    private static let greeter = LoginSession.greeter()

    private func machine(
        _ sessions: [LoginSession], unit: String = "gdm.service"
    ) -> PlayedMachine {
        let machine = PlayedMachine { state in
            for session in sessions {
                state.sessions[session.id] = session
                state.inFront.append(session.id)
            }
        }
        machine.process(100, in: .systemUnit(unit))
        return machine
    }

    @Test(
        "gets a touch while a seat shows its greeter, or the account's session, to unlock it",
        arguments: [LoginSession.greeter(), .alice()])
    func accepted(_ session: LoginSession) {
        let machine = machine([session])
        #expect(
            machine.judge(machine.client(100))
                == .evidence(
                    .loginScreen(unit: "gdm.service", session: session.id), seat: "seat0",
                    requester: "alice"))
    }

    @Test(
        "gets none while the seat shows something else",
        arguments: [
            [], [LoginSession(id: "c3", owner: 1001)], [.greeter(isActive: false)],
            [.greeter(seat: nil)], [.alice(isRemote: true)], [.alice(class: .other)],
            [.alice(isActive: false)],
        ] as [[LoginSession]])
    func refused(_ sessions: [LoginSession]) {
        let machine = machine(sessions)
        #expect(machine.judge(machine.client(100)) == .missing(Detail.noLoginScreen))
    }

    @Test("gets one for the seat that shows the greeter, and none where two seats may be meant")
    func seats() {
        let bob = LoginSession(id: "c3", owner: 1001)
        let one = machine([bob, .greeter(seat: "seat1")])
        #expect(
            one.judge(one.client(100))
                == .evidence(
                    .loginScreen(unit: "gdm.service", session: "c1"), seat: "seat1",
                    requester: "alice"))
        let two = machine([.alice(), .greeter(seat: "seat1")])
        #expect(two.judge(two.client(100)) == .missing(Detail.severalLoginScreens))
    }

    @Test("gets none where it is not root's, is not listed, or is a user's own unit")
    func impostor() throws {
        let machine = machine([Self.greeter])
        #expect(
            machine.judge(machine.client(100, uid: 1000)) == .missing(Detail.outsideSessions))
        let settings = try Configuration.login("display-managers = sddm.service")
        #expect(
            machine.judge(machine.client(100), settings: settings)
                == .missing(Detail.outsideSessions))
        machine.process(101, in: .userManager(uid: 1000))
        #expect(machine.judge(machine.client(101)) == .missing(Detail.noActiveSession))
        for unit in ["gdm.service.d", "xgdm.service", "gdm", "gdm@.service", "GDM.service"] {
            machine.process(102, in: .systemUnit(unit))
            #expect(
                machine.judge(machine.client(102)) == .missing(Detail.outsideSessions), "\(unit)")
        }
    }

    @Test("gets none where logind's records cannot be read")
    func unknown() {
        let machine = PlayedMachine { $0.inFront = ["gone"] }
        machine.process(100, in: .systemUnit("gdm.service"))
        #expect(machine.judge(machine.client(100)) == .missing(Detail.sessionNotKnown))
    }

    @Test("for a user that the application names gets none if that is another")
    func claimed() {
        let machine = machine([Self.greeter])
        #expect(
            machine.judge(machine.client(100), PresenceClaims(requester: Bytes("bob".utf8)))
                == .other(1001, "bob"))
    }
}

@Suite("a login at a console")
struct ConsolePresenceTests {
    private static let console = DeviceNumber(major: 4, minor: 1)
    private static let serial = DeviceNumber(major: 4, minor: 64)

    private func judge(
        _ unit: String, uid: UInt32 = 0, terminal: DeviceNumber? = nil, active: String? = "tty1",
        _ settings: Configuration = Configuration()
    ) -> Judgement {
        let machine = PlayedMachine { $0.activeConsole = active }
        var facts = PlayedProcess.Facts()
        facts.terminal = terminal
        machine.process(100, in: .systemUnit(unit), facts)
        return machine.judge(machine.client(100, uid: uid), settings: settings)
    }

    private func evidence(_ unit: String, seat: String? = "seat0") -> Judgement {
        .evidence(.console(unit: unit), seat: seat, requester: "alice")
    }

    @Test(
        "gets a touch where the screen shows that console",
        arguments: ["getty@tty1.service", "autovt@tty1.service", "kmsconvt@tty1.service"])
    func accepted(_ unit: String) {
        #expect(judge(unit) == evidence(unit))
    }

    @Test("gets none where the screen shows another, or there is none", arguments: ["tty2", nil])
    func notShown(_ active: String?) {
        #expect(
            judge("getty@tty1.service", active: active) == .missing(Detail.consoleNotShown))
        // The unit says which console it is for; another terminal changes nothing.
        #expect(
            judge("getty@tty2.service", terminal: Self.console) == .missing(Detail.consoleNotShown))
    }

    @Test("gets none where it is not root's, or its unit is not listed")
    func impostor() throws {
        let outside = Judgement.missing(Detail.outsideSessions)
        #expect(judge("getty@tty1.service", uid: 1000) == outside)
        for unit in ["getty.service", "agetty@tty1.service", "getty@tty1.socket", "cron.service"] {
            #expect(judge(unit, terminal: Self.console) == outside, "\(unit)")
        }
        #expect(
            judge("getty@tty1.service", try .login("console-units = getty@tty2.service")) == outside
        )
    }

    @Test(
        "may be listed by its whole name, and is then judged by its own terminal, as the kernel says"
    )
    func custom() throws {
        let settings = try Configuration.login("console-units = my-login.service")
        #expect(
            judge("my-login.service", terminal: Self.console, settings)
                == evidence("my-login.service"))
        #expect(
            judge("my-login.service", terminal: Self.console, active: "tty2", settings)
                == .missing(Detail.consoleNotShown))
        #expect(
            judge("my-login.service", settings) == .missing(Detail.sessionWithoutSeat))
    }

    @Test("at a serial line gets one only where the configuration allows sessions without a seat")
    func serial() throws {
        for unit in ["serial-getty@ttyS0.service", "console-getty.service", "getty@ttyS1.service"] {
            #expect(
                judge(unit, terminal: Self.serial) == .missing(Detail.sessionWithoutSeat))
            let settings = try Configuration.login("without-seat = allow")
            #expect(
                judge(unit, terminal: Self.serial, settings) == evidence(unit, seat: nil))
        }
        for instance in ["tty0", "tty64", "tty1x", "tty+1", "tty", "tty 1"] {
            #expect(
                judge("getty@\(instance).service") == .missing(Detail.sessionWithoutSeat))
        }
    }
}

@Suite("a program outside a session")
struct OutsidePresenceTests {
    @Test(
        "gets no touch, whatever terminal it has and whomever it names",
        arguments: [
            .systemUnit("cron.service"), .systemUnit("atd.service"), .systemUnit("init.scope"),
            .systemUnit("openvpn-server@home.service"), .systemUnit("saslauthd.service"),
            .systemUnit("run-u5.service"), .systemUnit("ssh.service"), .outside,
        ] as [ProcessPlace])
    func refused(_ place: ProcessPlace) throws {
        let machine = PlayedMachine { state in
            state.sessions["c2"] = .alice()
            state.displays[1000] = "c2"
            state.inFront = ["c2"]
        }
        var facts = PlayedProcess.Facts()
        facts.terminal = DeviceNumber(major: 4, minor: 1)
        facts.loginUID = 1000
        machine.process(100, in: place, facts)
        for uid: UInt32 in [0, 1000] {
            let client = machine.client(100, uid: uid)
            for claims in [
                PresenceClaims(), PresenceClaims(requester: Bytes("alice".utf8)),
                PresenceClaims(service: Bytes("gdm-password".utf8)), PresenceClaims(agent: 100),
            ] {
                #expect(machine.judge(client, claims) == .missing(Detail.outsideSessions))
            }
        }
        let settings = try Configuration.login("others = warn\nwithout-logind = any")
        #expect(
            machine.judge(machine.client(100), settings: settings)
                == .missing(Detail.outsideSessions))
    }
}

@Suite("where logind does not run")
struct WithoutLogindPresenceTests {
    private static let shown = DeviceNumber(major: 4, minor: 1)
    private static let hidden = DeviceNumber(major: 4, minor: 2)
    private static let pseudo = DeviceNumber(major: 136, minor: 0)

    private func judge(
        _ terminal: DeviceNumber?, _ setting: String, uid: UInt32 = 0, login: UInt32? = nil,
        real: UInt32 = 0, claim: String = "", active: String? = "tty1"
    ) throws -> Judgement {
        let machine = PlayedMachine { state in
            state.hasLogind = false
            state.activeConsole = active
            // What is left of logind's records means nothing.
            state.sessions["c2"] = .alice()
            state.displays[1000] = "c2"
        }
        var facts = PlayedProcess.Facts()
        facts.terminal = terminal
        facts.loginUID = login
        facts.realUID = real
        machine.process(100, in: .session("c2"), facts)
        return machine.judge(
            machine.client(100, uid: uid), PresenceClaims(requester: Bytes(claim.utf8)),
            settings: try .login(setting))
    }

    private func evidence(_ seat: String?) -> Judgement {
        .evidence(.withoutLogind, seat: seat, requester: "alice")
    }

    @Test("only programs on the virtual console that the screen shows get a touch")
    func consoles() throws {
        #expect(try judge(Self.shown, "") == evidence("seat0"))
        #expect(try judge(Self.shown, "", uid: 1000, real: 1000) == evidence("seat0"))
        for terminal in [Self.hidden, Self.pseudo, nil] {
            #expect(try judge(terminal, "") == .missing(Detail.notOnConsole))
        }
        #expect(try judge(Self.shown, "", active: nil) == .missing(Detail.notOnConsole))
    }

    @Test("the configuration may allow terminals, or all")
    func allowed() throws {
        let terminals = "without-logind = terminals"
        #expect(try judge(Self.pseudo, terminals) == evidence(nil))
        #expect(try judge(nil, terminals) == .missing(Detail.notOnTerminal))
        #expect(try judge(nil, "without-logind = any") == evidence(nil))
    }

    @Test("the requester is who logged in, else who started the program, else whom it names")
    func requester() throws {
        #expect(try judge(Self.shown, "", login: 1001, claim: "alice") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", real: 1001, claim: "alice") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", claim: "bob") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", uid: 1001, real: 1001) == .other(1001, "bob"))
        #expect(
            try judge(Self.shown, "", login: 1000, real: 1000, claim: "alice") == evidence("seat0"))
    }
}
