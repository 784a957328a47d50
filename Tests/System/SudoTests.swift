// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("sudo", .timeLimit(.minutes(5)))
struct SudoTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(options: "max-tries=2")
    }

    private func sudo(_ arguments: String...) throws -> Terminal {
        try host.terminal(["sudo"] + arguments, as: HostFixture.alice)
    }

    @Test("lets alice in by a touch, and says what the touch confirms")
    func touch() throws {
        let terminal = try sudo("id", "-un")
        let name = terminal.path.dropFirst("/dev/".count)
        try terminal.expect("\(SignetFixture.invitation) to confirm: sudo id -un (alice, \(name))")
        try terminal.expect(SignetFixture.orPassword)
        #expect(try terminal.mode().echoes == false)
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))

        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_DECISION"] == "allow")
        #expect(decision["SIGNET_ACCOUNT"] == "alice")
        #expect(decision["SIGNET_SERVICE"] == "sudo")
        #expect(decision["SIGNET_TERMINAL"] == terminal.path)
        #expect(decision["SIGNET_PURPOSE"] == "sudo id -un")
        #expect(decision["SIGNET_PEER_UID"] == "0")
        #expect(decision["SYSLOG_IDENTIFIER"] == "signetd")
        #expect(decision.uid == 0)
    }

    @Test("a bad scan is not a failure: it is repeated, and the next one succeeds")
    func badScan() throws {
        let terminal = try sudo("id", "-un")
        try terminal.expectInvitation()
        try signet.badScan(1)
        try terminal.expect("the swipe was too short: try again")
        try terminal.expect(SignetFixture.orPassword)
        try signet.badScan(2)
        try terminal.expect("the finger was off centre: try again")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("lets alice in by the password, typed where the touch is awaited")
    func password() throws {
        let terminal = try sudo("id", "-un")
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
        #expect(!terminal.transcript.contains("password for alice"))
        try signet.expectDenial("cancelled")
    }

    @Test("Enter alone leads to sudo's own prompt")
    func empty() throws {
        let terminal = try sudo("id", "-un")
        try terminal.expectInvitation()
        try terminal.sendLine("")
        try terminal.passBySudosPrompt()
    }

    @Test("lets alice in by the password when the finger's time is over")
    func timeOut() throws {
        try signet.writeServices(options: "timeout=1")
        let terminal = try sudo("id", "-un")
        try terminal.expect("no fingerprint was read in time")
        try terminal.passBySudosPrompt()
    }

    @Test("refuses wrong passwords, typed where the touch is awaited")
    func wrongPassword() throws {
        let terminal = try sudo("id", "-un")
        for wrong in ["wrong", HostFixture.bob.password] {
            try terminal.expectInvitation()
            try terminal.sendLine(wrong)
            try terminal.expect("Sorry, try again.")
        }
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.root.password)
        try terminal.expect("3 incorrect password attempts")
        #expect(try terminal.expectEnd() == .exited(1))
    }

    @Test("refuses wrong fingers with a wrong password, and says how many tries are left")
    func wrongFinger() throws {
        let terminal = try sudo("id", "-un")
        try terminal.expectInvitation()
        try signet.touch(Touch.nobody)
        try terminal.expect("the finger did not match: one try left")
        try terminal.expectInvitation()
        try signet.touch(Touch.nobody)
        try terminal.expect("the finger did not match\r\n")
        try terminal.expect("password for alice: ")
        try terminal.sendLine("wrong")
        try terminal.expect("Sorry, try again.")
        try terminal.expectInvitation()
        terminal.hangUp()
        try terminal.expectEnd()
        #expect(!terminal.transcript.contains("root\r\n"))
        #expect(try signet.expectDenial("noMatch").priority == 5)
    }

    @Test("refuses another account's finger")
    func anothersFinger() throws {
        let terminal = try sudo("id", "-un")
        for _ in 0..<2 {
            try terminal.expectInvitation()
            try signet.touch(Touch.bob)
            try terminal.expect("the finger did not match")
        }
        try terminal.expect("password for alice: ")
        terminal.hangUp()
        try terminal.expectEnd()
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    @Test("a touch proves that the user is bob, not that bob may use sudo")
    func bob() throws {
        try host.show(.session(of: HostFixture.bob))
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.bob)
        try terminal.expectInvitation()
        try signet.touch(Touch.bob)
        try terminal.expect("bob is not in the sudoers file")
        #expect(try terminal.expectEnd() == .exited(1))
    }

    @Test("-n asks for nothing")
    func nonInteractive() throws {
        let terminal = try sudo("-n", "id", "-un")
        try terminal.expect("a password is required")
        #expect(try terminal.expectEnd() == .exited(1))
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("-S reads the password from standard input, with and without a terminal")
    func standardInput() throws {
        let password = HostFixture.alice.password + "\n"
        let outcome = try host.run(
            ["sudo", "-S", "id", "-un"], as: HostFixture.alice, input: password)
        #expect(outcome.output == "root\n")
        #expect(outcome.succeeded)
        let refused = try host.run(
            ["sudo", "-S", "id", "-un"], as: HostFixture.alice, input: "no\n")
        #expect(!refused.succeeded)

        let terminal = try sudo("-S", "id", "-un")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
    }

    @Test("-A asks the askpass program alone")
    func askPass() throws {
        let script = "#!/bin/sh\necho \"\(HostFixture.alice.password)\"\n"
        try host.write("/usr/local/bin/askpass", script, mode: 0o755)
        let terminal = try host.terminal(
            ["sudo", "-A", "id", "-un"], as: HostFixture.alice,
            environment: ["SUDO_ASKPASS": "/usr/local/bin/askpass"])
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
    }
}
