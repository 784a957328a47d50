// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import Testing

@testable import Gate

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

    @Test(
        "gets none if the screen shows another, or there is no console", arguments: ["tty2", nil])
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
            machine.client(100, uid: uid), PresenceClaims(requester: AccountName(claim)),
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

    @Test(
        "the requester is the user who logged in, else the program's starter, else the one it names"
    )
    func requester() throws {
        #expect(try judge(Self.shown, "", login: 1001, claim: "alice") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", real: 1001, claim: "alice") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", claim: "bob") == .other(1001, "bob"))
        #expect(try judge(Self.shown, "", uid: 1001, real: 1001) == .other(1001, "bob"))
        #expect(
            try judge(Self.shown, "", login: 1000, real: 1000, claim: "alice") == evidence("seat0"))
    }
}
