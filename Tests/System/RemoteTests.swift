// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("who is not at this machine", .timeLimit(.minutes(5)))
struct RemoteTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }

    init() throws {
        signet = try SignetStage.inhabited()
    }

    @Test("a remote host is asked for the password at once, and the daemon for nothing")
    func remoteHost() throws {
        let terminal = try stage.terminal(
            ["login", "-h", "host.example", "alice"], as: Stage.root, in: .console)
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains("reader"))
        try terminal.sendLine(Stage.alice.password)
        try terminal.expect("alice@stage$ ")
        try terminal.sendLine("exit")
        try terminal.expectEnd()
        #expect(!stage.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("a session that logind calls remote is asked for the password at once")
    func remoteSession() throws {
        let terminal = try sudo(in: .remoteSession(of: Stage.alice))
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("remoteSession")
    }

    @Test("a session that logind does not know is asked for the password at once")
    func unknownSession() throws {
        try stage.logOut(Stage.alice)
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
        try stage.changeSession(of: Stage.alice, ["SEAT": "seat1"])
        let terminal = try sudo()
        try terminal.expect("the fingerprint reader is at another seat: use the password")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetStage.invitation))
        try signet.expectDenial("otherSeat")
    }

    @Test("a session at another seat may touch where the administrator says so")
    func anySeat() throws {
        try stage.write("/etc/signet/signet.conf", "[login]\nseat = ignore\n")
        try signet.stop()
        try signet.start()
        try stage.changeSession(of: Stage.alice, ["SEAT": "seat1"])
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    private func sudo(in place: StagePlace? = nil) throws -> Terminal {
        try stage.terminal(["sudo", "id", "-un"], as: Stage.alice, in: place)
    }
}

@Suite("a program of alice's own, such as a screen locker", .timeLimit(.minutes(5)))
struct LockerTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }

    init() throws {
        signet = try SignetStage.inhabited()
    }

    @Test("is told of alice's touch")
    func own() throws {
        let terminal = try stage.terminal(
            ["pamtester", "locker", "alice", "authenticate"], as: Stage.alice)
        try terminal.expect(SignetStage.invitation)
        try signet.touch(Touch.alice)
        try terminal.expect("successfully authenticated")
        #expect(try terminal.expectEnd() == .exited(0))
        let decision = try stage.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_PEER_UID"] == "4242")
        #expect(decision["SIGNET_DECISION"] == "allow")
    }

    @Test("is not told of bob's")
    func others() throws {
        let terminal = try stage.terminal(
            ["pamtester", "locker", "bob", "authenticate"], as: Stage.alice)
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("notPermitted")
        try terminal.control(.c)
        #expect(try terminal.expectEnd() != .exited(0))
    }

    @Test("cannot lift its own lockout by claiming that a password was accepted")
    func claim() throws {
        try signet.setFailures(20, of: Stage.alice)
        let terminal = try stage.terminal(
            [
                "pamtester", "locker", "alice", "authenticate", "setcred(PAM_ESTABLISH_CRED)",
            ], as: Stage.alice)
        try terminal.expect("Password: ")
        try terminal.sendLine(Stage.alice.password)
        try terminal.expect("successfully authenticated")
        try terminal.expectEnd()
        #expect(try signet.status(Stage.alice).lock == .untilPassword)
    }
}
