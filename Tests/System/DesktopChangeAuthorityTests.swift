// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Changes of fingers over the bus, which real polkitd authorises: its agent for terminals, its
/// setuid helper and Debian's PAM stack, fprintd's commands, and `signet-fprint`.
@Suite("polkit and a change of fingers", .timeLimit(.minutes(5)))
struct DesktopChangeAuthorityTests {
    private static let asking = "AUTHENTICATING FOR net.reactivated.fprint.device.enroll"
    private static let passwordOnly = "a finger is being added or deleted: use the password"
    private static let adding = "exec fprintd-enroll -f left-thumb"

    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let running: [TestSupport.Program]

    init() throws {
        signet = try SignetFixture.debian(options: "max-tries=2", allowsOthers: true)
        running = try signet.startInterface()
    }

    /// How many fingers alice has.
    private func fingers() throws -> UInt8? { try signet.status(HostFixture.alice).prints }

    /// Requires that polkit asks for the password alone, while no reader waits for a finger.
    private func expectQuestion(_ terminal: Terminal) throws {
        try terminal.expect(Self.asking)
        try terminal.expect(Self.passwordOnly)
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(throws: TestFault.self) {
            try signet.reader().send(.scan(Touch.alice), within: .milliseconds(50))
        }
    }

    /// Requires that a command ended as one that is not permitted, and that nothing has changed.
    private func expectRefusal(_ terminal: Terminal) throws {
        try terminal.expect("net.reactivated.Fprint.Error.PermissionDenied")
        #expect(try terminal.expectEnd() == .exited(1))
        #expect(try fingers() == 1)
    }

    @Test("a finger is added with the password")
    func added() throws {
        let terminal = try signet.terminalWithAgent(Self.adding)
        try expectQuestion(terminal)
        try signet.expectDenial("passwordOnly")
        try terminal.typeAtAgent(HostFixture.alice.password)
        try terminal.expect("AUTHENTICATION COMPLETE")
        signet.touchBlindly("alice's thumb") {
            terminal.transcript.contains("enroll-completed") || terminal.ended != nil
        }
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
        let status = try signet.status(HostFixture.alice)
        #expect(status.prints == 2 && status.state == .valid)
    }

    @Test("the fingers are deleted with the password")
    func deleted() throws {
        let terminal = try signet.terminalWithAgent("exec fprintd-delete alice")
        try expectQuestion(terminal)
        try terminal.typeAtAgent(HostFixture.alice.password)
        try terminal.expect("AUTHENTICATION COMPLETE")
        try terminal.expect("Fingerprints of user alice deleted")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try signet.status(HostFixture.alice).prints == 0)
        #expect(try signet.status(HostFixture.bob).prints == 1)
    }

    @Test(
        "a wrong password changes nothing",
        arguments: [
            Self.adding, "exec fprintd-delete alice",
            "exec fprintd-delete alice -f right-index-finger",
        ])
    func wrongPassword(command: String) throws {
        let terminal = try signet.terminalWithAgent(command)
        try expectQuestion(terminal)
        try terminal.typeAtAgent(HostFixture.bob.password)
        try terminal.expect("AUTHENTICATION FAILED")
        try expectRefusal(terminal)
    }

    @Test("an agent that goes away before the password is given changes nothing")
    func agentDies() throws {
        let terminal = try signet.terminalWithAgent(Self.adding)
        try expectQuestion(terminal)
        try host.kill(named: "pkttyagent")
        try expectRefusal(terminal)
    }

    @Test("no touch counts for polkit while it asks, and one does again when its client has left")
    func touchMeanwhile() throws {
        let terminal = try signet.terminalWithAgent(Self.adding)
        try expectQuestion(terminal)
        let other = try signet.pkexec()
        try other.expect(Self.passwordOnly)
        try other.typeAtAgent(HostFixture.alice.password)
        try other.expect("root\r\n")
        #expect(try other.expectEnd() == .exited(0))
        #expect(!other.transcript.contains(SignetFixture.invitation))
        #expect(try fingers() == 1)
        try host.kill(named: "fprintd-client")
        #expect(try terminal.expectEnd() == .killed(SIGKILL))
        #expect(try fingers() == 1)
        try host.journal.expect("the end of the request") {
            // The agent ends with the terminal, and polkit's refusal may come first.
            $0["SIGNET_VERB"] == "desktopEnroll" && $0["SIGNET_DECISION"] == "deny"
        }
        let later = try signet.pkexec()
        try later.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try later.expect("root\r\n")
        #expect(try later.expectEnd() == .exited(0))
    }

    @Test(
        "who is not in an active session at the seat is refused without a question",
        arguments: [
            (HostFixture.bob, nil), (HostFixture.alice, .remoteSession(of: HostFixture.alice)),
            (HostFixture.alice, .unit("cron.service")),
        ] as [(Account, FixturePlace?)])
    func elsewhere(account: Account, place: FixturePlace?) throws {
        // As logind has it for a user without an active session, which a remote one is.
        try host.write("/run/systemd/users/\(HostFixture.bob.uid)", "NAME=bob\nSTATE=online\n")
        for command in [Self.adding, "exec fprintd-delete \(account.name)"] {
            let terminal = try signet.terminalWithAgent(
                command, as: account, in: place ?? .session(of: account))
            try expectRefusal(terminal)
            #expect(!terminal.transcript.contains("AUTHENTICATING"))
        }
        #expect(try signet.status(HostFixture.bob).prints == 1)
    }

    @Test("another's fingers cannot be changed, although an administrator confirms the name")
    func others() throws {
        try host.show(.session(of: HostFixture.bob))
        for command in ["\(Self.adding) alice", "exec fprintd-delete alice"] {
            let terminal = try signet.terminalWithAgent(command, as: HostFixture.bob)
            try terminal.expect("AUTHENTICATING FOR net.reactivated.fprint.device.setusername")
            // For the name alone, her touch serves.
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.alice)
            try terminal.expect("AUTHENTICATION COMPLETE")
            try expectRefusal(terminal)
            #expect(!terminal.transcript.contains(Self.asking))
        }
    }

    @Test("a session behind another's cannot add a finger, although polkit takes the password")
    func behind() throws {
        // polkit takes a user for active who has another session that is, such as a remote one.
        let terminal = try signet.terminalWithAgent(Self.adding, as: HostFixture.bob)
        try terminal.expect(Self.asking)
        try terminal.typeAtAgent(HostFixture.bob.password)
        try terminal.expect("AUTHENTICATION COMPLETE")
        try expectRefusal(terminal)
        #expect(try signet.status(HostFixture.bob).prints == 1)
    }
}
