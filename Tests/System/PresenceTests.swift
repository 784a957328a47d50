// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Attacks on a touch by programs whose user is not in front of the machine, or is another.
@Suite("a touch is for users who are present", .timeLimit(.minutes(5)))
struct PresenceTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    private func configure(_ lines: String) throws {
        try host.write("/etc/signet/signet.conf", "[login]\n\(lines)\n")
        try signet.stop()
        try signet.start()
    }

    /// Expects that the password is asked for and nothing was said of a reader, and leaves it.
    private func expectPassword(_ terminal: Terminal, _ reason: String) throws {
        try terminal.expect("assword")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try signet.expectDenial(reason)
        try terminal.control(.c)
    }

    private func sudo(in place: FixturePlace? = nil) throws -> Terminal {
        try host.terminal(["sudo", "-k", "id", "-un"], as: HostFixture.alice, in: place)
    }

    private func expectServed(_ terminal: Terminal) throws {
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    // MARK: Whose request it is

    @Test("bob's su for alice gets no touch of hers, while her own sudo is served")
    func others() throws {
        try host.show(.session(of: HostFixture.bob))
        let su = try host.terminal(["su", "alice"], as: HostFixture.bob)
        try su.expect("Password: ")
        try signet.expectDenial("otherRequester")
        // She comes back to her session, and touches for herself.
        try host.show(.session(of: HostFixture.alice))
        try expectServed(sudo())
        #expect(!su.transcript.contains("alice@linux$"))
        #expect(su.transcript.contains(SignetFixture.invitation) == false)
        try su.sendLine(HostFixture.alice.password)
        try su.expect("alice@linux$ ")
        try su.sendLine("exit")
        try su.expectEnd()
    }

    @Test("bob's su from a session behind hers gets none")
    func behind() throws {
        let su = try host.terminal(["su", "alice"], as: HostFixture.bob)
        try expectPassword(su, "notAtMachine")
    }

    @Test("a program of bob's in alice's session gets none of hers")
    func inHerSession() throws {
        let su = try host.terminal(
            ["su", "alice"], as: HostFixture.bob, in: .session(of: HostFixture.alice))
        try expectPassword(su, "otherRequester")
    }

    @Test("the administrator may allow it, and then the prompt names the requester")
    func warned() throws {
        try configure("others = warn")
        try host.show(.session(of: HostFixture.bob))
        let su = try host.terminal(["su", "alice"], as: HostFixture.bob)
        try su.expect(SignetFixture.invitation)
        try su.expect("bob")
        try signet.touch(Touch.alice)
        try su.expect("alice@linux$ ")
        try su.sendLine("exit")
        try su.expectEnd()
    }

    // MARK: Where it comes from

    @Test("a session that was left for another user's is asked for the password")
    func switchedAway() throws {
        try host.show(.session(of: HostFixture.bob))
        try expectPassword(sudo(), "notAtMachine")
        try host.show(.greeter)
        try expectPassword(sudo(), "notAtMachine")
        try host.show(.session(of: HostFixture.alice))
        try expectServed(sudo())
    }

    @Test("a touch that comes after the user was switched gives no access")
    func switchedMeanwhile() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try host.show(.session(of: HostFixture.bob))
        try signet.touch(Touch.alice)
        try terminal.expect("assword")
        #expect(!terminal.transcript.contains("root\r\n"))
        try terminal.control(.c)
    }

    @Test(
        "a session that is closing, of another kind, or at no seat is asked for the password",
        arguments: [["STATE": "closing"], ["CLASS": "background"], ["SEAT": ""]])
    func otherSessions(_ change: [String: String]) throws {
        try host.changeSession(of: HostFixture.alice, change)
        try expectPassword(sudo(), "notAtMachine")
    }

    @Test("a program of the user's manager is served while the user is there, not when it lingers")
    func lingering() throws {
        let manager = FixturePlace.manager(of: HostFixture.alice)
        try expectServed(sudo(in: manager))
        try host.show(.session(of: HostFixture.bob))
        try expectPassword(sudo(in: manager), "notAtMachine")
        try host.logOut(HostFixture.alice)
        try expectPassword(sudo(in: manager), "notAtMachine")
    }

    @Test(
        "cron, at, a service of the system, or a program of none get no touch by script's terminal",
        arguments: [
            FixturePlace.unit("cron.service"), .unit("atd.service"), .unit("run-u7.service"),
            .nothing,
        ])
    func script(_ place: FixturePlace) throws {
        let program = try host.start(
            ["script", "-qec", "sudo -k id -un", "/dev/null"], as: HostFixture.alice, in: place)
        try signet.expectDenial("notAtMachine")
        #expect(!program.output.contains(SignetFixture.invitation))
        program.signal(SIGKILL)
    }

    @Test("script's terminal in a remote session gives it none either")
    func remoteScript() throws {
        let program = try host.start(
            ["script", "-qec", "sudo -k id -un", "/dev/null"], as: HostFixture.alice,
            in: .remoteSession(of: HostFixture.alice))
        try signet.expectDenial("remoteSession")
        program.signal(SIGKILL)
    }

    @Test(
        "a network service that names no host gets none, whatever terminal and user it names",
        arguments: [[], ["-I", "tty=/dev/tty1"], ["-I", "tty=/dev/tty1", "-I", "ruser=alice"]])
    func networkService(_ items: [String]) throws {
        let terminal = try host.terminal(
            ["pamtester"] + items + ["xlock", "alice", "authenticate"], as: HostFixture.root,
            in: .unit("openvpn-server@home.service"))
        try expectPassword(terminal, "notAtMachine")
    }

    // MARK: Programs that begin sessions

    @Test("a login is served at the console that the screen shows, and at no other")
    func console() throws {
        let hidden = try host.terminal(
            ["login", "alice"], as: HostFixture.root, in: .unit("getty@tty2.service"))
        try expectPassword(hidden, "notAtMachine")
        let shown = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try shown.expectInvitation()
        try signet.touch(Touch.alice)
        try shown.expect("alice@linux$ ")
        try shown.sendLine("exit")
        try shown.expectEnd()
    }

    @Test(
        "a display manager's worker is served while its greeter or the account's session is shown")
    func displayManager() throws {
        func unlock() throws -> Terminal {
            try host.terminal(
                ["pamtester", "xlock", "alice", "authenticate"], as: HostFixture.root,
                in: .unit("gdm.service"))
        }
        for screen in [HostFixture.Screen.greeter, .session(of: HostFixture.alice)] {
            try host.show(screen)
            let terminal = try unlock()
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.alice)
            try terminal.expect("successfully authenticated")
            try terminal.expectEnd()
        }
        try host.show(.session(of: HostFixture.bob))
        try expectPassword(unlock(), "notAtMachine")
    }

    // MARK: polkit from 127 on, whose helper systemd starts

    private func helper(
        for agent: UInt32?, of account: Account? = HostFixture.alice,
        in place: FixturePlace = .unit("polkit-agent-helper@1-9-4242.service")
    ) throws -> Answer {
        let client = try DaemonClient(path: SignetFixture.socket, on: host, in: place)
        let request = AuthenticateRequest(
            account: "alice", challenge: .sample(repeating: 7),
            service: "polkit-1", timeoutMilliseconds: 10_000, maximumTries: 1,
            presence: .noTerminal, background: .allow, agent: agent,
            agentUser: account?.uid)
        let answers = try client.answers(to: .authenticate(request)) { notice in
            if notice.kind == .touch { try signet.touch(Touch.alice) }
        }
        return try #require(answers.last)
    }

    /// An agent in a place, and its number in the fixture.
    private func agent(
        as account: Account = HostFixture.alice, in place: FixturePlace? = nil
    ) throws -> (TestSupport.Program, UInt32) {
        let agent = try host.start(
            ["sh", "-c", "echo $$.; exec sleep 1000"], as: account, in: place)
        try agent.expect(".\n")
        return (agent, try #require(UInt32(agent.output.dropLast(2))))
    }

    private func expect(_ reason: DenialReason, _ answer: Answer) {
        guard case .denial(let denial) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(denial.reason == reason)
    }

    @Test("its agent's session counts: local and in front, and the account's")
    func polkitAgent() throws {
        for place in [nil, FixturePlace.manager(of: HostFixture.alice)] {
            let (agent, number) = try agent(in: place)
            guard case .assertion = try helper(for: number) else {
                Issue.record("no assertion")
                return
            }
            agent.signal(SIGKILL)
        }
    }

    @Test("an agent that is remote, lingers, is another's, unknown or has ended gets no touch")
    func polkitRefused() throws {
        let (remote, first) = try agent(in: .remoteSession(of: HostFixture.alice))
        expect(.remoteSession, try helper(for: first))
        let (cron, second) = try agent(in: .unit("cron.service"))
        expect(.notAtMachine, try helper(for: second))
        let (bob, third) = try agent(as: HostFixture.bob, in: .session(of: HostFixture.alice))
        expect(.otherRequester, try helper(for: third, of: HostFixture.bob))
        // By a descriptor that was handed on, or in a program that the number now stands for.
        expect(.otherRequester, try helper(for: third))
        expect(.notAtMachine, try helper(for: nil))
        expect(.notAtMachine, try helper(for: 1))
        let (ended, fourth) = try agent()
        ended.signal(SIGKILL)
        try ended.expectEnd()
        expect(.notAtMachine, try helper(for: fourth))
        // In another unit, its number counts for nothing.
        let (agent, fifth) = try agent()
        expect(.otherRequester, try helper(for: fifth, of: HostFixture.bob))
        expect(.otherRequester, try helper(for: fifth, of: HostFixture.root))
        expect(.notAtMachine, try helper(for: fifth, of: nil))
        expect(.notAtMachine, try helper(for: fifth, in: .unit("evil.service")))
        for program in [remote, cron, bob, agent] { program.signal(SIGKILL) }
    }
}
