// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("a user who is not at this machine", .timeLimit(.minutes(5)))
struct RemoteTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    @Test("a remote host is asked for the password at once, and the daemon for nothing")
    func remoteHost() throws {
        let terminal = try host.terminal(
            ["login", "-h", "host.example", "alice"], as: HostFixture.root, in: .console)
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains("reader"))
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("exit")
        try terminal.expectEnd()
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("a session that logind calls remote is asked for the password at once")
    func remoteSession() throws {
        let terminal = try sudo(in: .remoteSession(of: HostFixture.alice))
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("remoteSession")
    }

    @Test("a session that logind does not know is asked for the password at once")
    func unknownSession() throws {
        try host.logOut(HostFixture.alice)
        let terminal = try sudo()
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("notAtMachine")
    }

    @Test("a session that logind calls local, and that is in front, may touch")
    func localSession() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("a session at another seat than the reader is asked for the password at once")
    func otherSeat() throws {
        try host.changeSession(of: HostFixture.alice, ["SEAT": "seat1"])
        let terminal = try sudo()
        try terminal.expect("the fingerprint reader is at another seat: use the password")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try signet.expectDenial("otherSeat")
    }

    @Test("a session at another seat may touch where the administrator says so")
    func anySeat() throws {
        try host.write("/etc/signet/signet.conf", "[login]\nseat = ignore\n")
        try signet.stop()
        try signet.start()
        try host.changeSession(of: HostFixture.alice, ["SEAT": "seat1"])
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    private func sudo(in place: FixturePlace? = nil) throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice, in: place)
    }
}

@Suite("a program of alice's own, such as a screen locker", .timeLimit(.minutes(5)))
struct LockerTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    @Test("hears of alice's touch")
    func own() throws {
        let terminal = try host.terminal(
            ["pamtester", "xlock", "alice", "authenticate"], as: HostFixture.alice)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try terminal.expect("successfully authenticated")
        #expect(try terminal.expectEnd() == .exited(0))
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_PEER_UID"] == "4242")
        #expect(decision["SIGNET_DECISION"] == "allow")
    }

    @Test("does not hear of bob's")
    func others() throws {
        let terminal = try host.terminal(
            ["pamtester", "xlock", "bob", "authenticate"], as: HostFixture.alice)
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("notPermitted")
        try terminal.control(.c)
        #expect(try terminal.expectEnd() != .exited(0))
    }

    @Test("cannot lift its own lockout by claiming that a password was accepted")
    func claim() throws {
        try signet.setFailures(20, of: HostFixture.alice)
        let terminal = try host.terminal(
            [
                "pamtester", "xlock", "alice", "authenticate", "setcred(PAM_ESTABLISH_CRED)",
            ], as: HostFixture.alice)
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("successfully authenticated")
        try terminal.expectEnd()
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
    }
}
