// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import TestSupport
import Testing

@testable import Gate

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
        "that lacks any part of it gets none",
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
        let claims = PresenceClaims(service: "sshd", remoteHost: Bytes("h".utf8))
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
            machine.judge(machine.client(100), PresenceClaims(requester: "bob"))
                == .other(1001, "bob"))
    }
}

@Suite("a program outside a session")
struct OutsidePresenceTests {
    @Test(
        "gets no touch, whatever terminal it has and whichever user it names",
        arguments: [
            .systemUnit("cron.service"), .systemUnit("atd.service"), .systemUnit("init.scope"),
            .systemUnit("openvpn-server@home.service"), .systemUnit("saslauthd.service"),
            .systemUnit("run-u5.service"), .systemUnit("ssh.service"), .outside,
        ] as [ProcessOrigin])
    func refused(_ place: ProcessOrigin) throws {
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
                PresenceClaims(), PresenceClaims(requester: "alice"),
                PresenceClaims(service: "i3lock"),
                PresenceClaims(service: "gdm-password"), PresenceClaims(agent: 100),
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
