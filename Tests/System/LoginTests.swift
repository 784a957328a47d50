// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("su and login", .timeLimit(.minutes(5)))
struct LoginTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(options: "max-tries=2", allowsOthers: true)
    }

    private func suBob() throws -> Terminal {
        try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
    }

    private func login(_ arguments: String...) throws -> Terminal {
        try host.terminal(["login"] + arguments, as: HostFixture.root, in: .console)
    }

    // MARK: su

    @Test("su accepts the other user's finger")
    func suByTouch() throws {
        let terminal = try suBob()
        try terminal.expect("\(SignetFixture.invitation) to confirm: su bob -c 'id -un' (bob, ")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.bob)
        try terminal.expect("bob\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("su accepts the other user's password, typed while the touch is awaited")
    func suByPassword() throws {
        let terminal = try suBob()
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.bob.password)
        try terminal.expect("bob\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("su accepts the other user's password when the time for the finger is over")
    func suAfterTimeOut() throws {
        try signet.writeServices(options: "timeout=1")
        let terminal = try suBob()
        try terminal.expect("no fingerprint was read in time")
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.bob.password)
        try terminal.expect("bob\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("su refuses the caller's own finger and password")
    func suRefuses() throws {
        let terminal = try suBob()
        for _ in 0..<2 {
            try terminal.expectInvitation()
            try signet.touch(Touch.alice)
            try terminal.expect("the finger did not match")
        }
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("Authentication failure")
        #expect(try terminal.expectEnd() == .exited(1))

        let typed = try suBob()
        try typed.expectInvitation()
        try typed.sendLine(HostFixture.alice.password)
        try typed.expect("Authentication failure")
        #expect(try typed.expectEnd() == .exited(1))
    }

    @Test("su by root asks for nothing")
    func suByRoot() throws {
        let terminal = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.root)
        try terminal.expect("bob\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    // MARK: login

    @Test("login lets alice in by a touch, to a shell on her terminal")
    func loginByTouch() throws {
        let terminal = try login("alice")
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("alice@linux$ ")
        #expect(try terminal.mode().isCanonical || terminal.mode().makesSignals)
        try terminal.sendLine("tty; id -un; stty -a | grep -o ' echo '; exit")
        try terminal.expect("\(terminal.path)\r\nalice\r\n")
        try terminal.expectEnd()
    }

    @Test("login accepts alice's password, at the finger's prompt or after it")
    func loginByPassword() throws {
        let terminal = try login("alice")
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("exit")
        try terminal.expectEnd()

        try signet.writeServices(options: "timeout=1")
        let late = try login("alice")
        try late.expect("no fingerprint was read in time")
        try late.expect("Password: ")
        try late.sendLine(HostFixture.alice.password)
        try late.expect("alice@linux$ ")
        try late.sendLine("exit")
        try late.expectEnd()
    }

    @Test("login refuses wrong fingers and wrong passwords")
    func loginRefuses() throws {
        let terminal = try login("alice")
        for finger in [Touch.bob, Touch.nobody] {
            try terminal.expectInvitation()
            try signet.touch(finger)
            try terminal.expect("the finger did not match")
        }
        try terminal.expect("Password: ")
        try terminal.sendLine("wrong")
        try terminal.expect("Login incorrect")
        try terminal.expect("login: ")
        try terminal.sendLine("alice")
        try terminal.expectInvitation()
        try terminal.sendLine("wrong")
        try terminal.expect("Login incorrect")
        terminal.hangUp()
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(!terminal.transcript.contains("alice@linux$ "))
    }

    @Test("an account that does not exist is asked for the password, like one without fingers")
    func nobody() throws {
        let terminal = try login("mallory")
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains("reader"))
        try terminal.sendLine("x")
        try terminal.expect("Login incorrect")
    }
}
