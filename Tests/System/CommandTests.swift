// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("the command signet, with the daemon", .timeLimit(.minutes(5)))
struct CommandTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture()
        try signet.enroll(HostFixture.bob, as: Touch.bob)
    }

    private func signet(_ arguments: String...) throws -> Terminal {
        try host.terminal([try Built.program("signet")] + arguments, as: HostFixture.alice)
    }

    private func givePassword(_ password: String, to terminal: Terminal) throws {
        try terminal.expect("assword")
        try terminal.expect(": ")
        try terminal.sendLine(password)
    }

    /// One finger of alice's, by her own hand: five stages, after a scan that asks whose it is.
    ///
    /// Not on a terminal, where lines are drawn again: each line here is one event.
    private func enrollAlice() throws {
        let program = try Program(
            host.command(
                [try Built.program("signet"), "enroll", "right-index", "--password-stdin"],
                as: HostFixture.alice),
            input: HostFixture.alice.password + "\n")
        let invitation = SignetFixture.invitation + "\n"
        try program.expect(invitation)
        try signet.touch(Touch.alice)
        try program.expect(invitation + invitation)
        for stage in 1...5 {
            try signet.touch(Touch.alice)
            try program.expect("stage \(stage) of 5\n")
        }
        #expect(try program.expectEnd().succeeded)
        #expect(!program.output.contains(HostFixture.alice.password))
    }

    @Test("while it has a password to ask for, only root reads its memory")
    func memory() throws {
        let terminal = try signet("enable")
        try terminal.expect("Password of alice: ")
        let running = host.processes(named: "signet")
        #expect(!running.isEmpty)
        for process in running {
            // What root owns below /proc belongs to a process that leaves no core; proc(5).
            var status = stat()
            #expect(unsafe lstat("/proc/\(process)/environ", &status) == 0)
            #expect(status.st_uid == 0)
        }
        try terminal.sendLine(HostFixture.alice.password)
        _ = try terminal.expectEnd()
    }

    private func touchesSudo() throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("alice enrols a finger after her password, and it lets her through sudo at once")
    func enroll() throws {
        try enrollAlice()
        try touchesSudo()
        let status = try signet("status")
        #expect(try status.expectEnd() == .exited(0))
    }

    @Test("a wrong password enrols nothing, and no finger is asked for")
    func wrongPassword() throws {
        let terminal = try signet("enroll", "right-index")
        try givePassword(HostFixture.root.password, to: terminal)
        try terminal.expect("wrong")
        terminal.hangUp()
        try terminal.expectEnd()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(try signet.status(HostFixture.alice).prints == 0)
    }

    @Test("bob's finger cannot be enrolled for alice")
    func taken() throws {
        let terminal = try signet("enroll", "right-index")
        try givePassword(HostFixture.alice.password, to: terminal)
        try terminal.expect(SignetFixture.invitation)
        // Whose finger it is, is not told before the end, and then neither.
        try signet.touch(Touch.bob)
        try terminal.expect("0 of 5")
        // This reader knows by itself that it keeps the finger already.
        try signet.touch(Touch.bob)
        try terminal.expect("the finger was not enrolled")
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(try signet.status(HostFixture.alice).prints == 0)
    }

    @Test("disable, enable and unlock require the password, and do what they say")
    func toggle() throws {
        try enrollAlice()
        let off = try signet("disable")
        try givePassword(HostFixture.alice.password, to: off)
        #expect(try off.expectEnd() == .exited(0))
        let plain = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try plain.passBySudosPrompt()
        #expect(!plain.transcript.contains("reader"))

        let on = try signet("enable")
        try givePassword(HostFixture.alice.password, to: on)
        #expect(try on.expectEnd() == .exited(0))
        try touchesSudo()

        // What the touch leaves to write is on disk before this answer.
        #expect(try signet.status(HostFixture.alice).lock == .open)
        try signet.setFailures(20, of: HostFixture.alice)
        let unlock = try signet("unlock")
        try givePassword("wrong", to: unlock)
        try unlock.expect("wrong")
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
        try givePassword(HostFixture.alice.password, to: unlock)
        #expect(try unlock.expectEnd() == .exited(0))
        #expect(try signet.status(HostFixture.alice).lock == .open)
    }

    @Test("disable while a finger is awaited applies to the touch that comes then")
    func disabledMeanwhile() throws {
        try enrollAlice()
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        _ = try signet.ask(.disable(account: "alice"))
        try signet.touch(Touch.alice)
        try terminal.passBySudosPrompt()
        try signet.expectDenial("notEnabled")
    }

    @Test("deleting a finger ends its login, and needs the password")
    func delete() throws {
        try enrollAlice()
        let terminal = try signet("delete", "right-index")
        try givePassword(HostFixture.alice.password, to: terminal)
        #expect(try terminal.expectEnd() == .exited(0))
        let sudo = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try sudo.passBySudosPrompt()
        #expect(!sudo.transcript.contains(SignetFixture.invitation))
        #expect(try signet.status(HostFixture.alice).prints == 0)
        #expect(try signet.status(HostFixture.bob).prints == 1)
    }
}

@Suite("other readers", .timeLimit(.minutes(5)))
struct OtherReaderTests {
    @Test(
        "one that compares with a single print and stores none accepts the finger, and refuses others"
    )
    func verifyOnly() throws {
        let signet = try SignetFixture(readers: [.text])
        try signet.enroll(HostFixture.alice, as: Touch.alice, on: .text)
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.bob, on: .text)
        try terminal.expect("the finger did not match")
        try terminal.expectInvitation()
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("a restart of the daemon leaves the fingers as they were")
    func restart() throws {
        let signet = try SignetFixture(readers: [.text])
        try signet.enroll(HostFixture.alice, as: Touch.alice, on: .text)
        try signet.kill()
        try signet.start()
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }
}

@Suite("the module's line in the stack", .timeLimit(.minutes(5)))
struct StackLineTests {
    @Test(
        "an option that is unknown, malformed or repeated is logged, and the password works",
        arguments: ["sesame", "timeout=0", "timeout=9999", "max-tries=x", "debug debug"])
    func options(options: String) throws {
        let signet = try SignetFixture.inhabited(options: options)
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains("reader"))
        try signet.host.journal.expect("the refused option") {
            $0.priority == 3 && $0.message.contains("is unknown, malformed or repeated")
        }
    }

    @Test("another socket of root's may be named, and a missing one is reported")
    func socket() throws {
        let signet = try SignetFixture.inhabited(options: "socket=/run/elsewhere.sock")
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("the fingerprint service does not answer: use the password")
        try terminal.passBySudosPrompt()
    }

    @Test("as the only one, required: a touch succeeds, the password and no touch do not")
    func alone() throws {
        let signet = try SignetFixture.inhabited()
        try signet.host.writeService(
            "sudo", "auth required pam_signet.so\naccount required pam_permit.so\n")
        let allowed = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try allowed.expectInvitation()
        try signet.touch(Touch.alice)
        try allowed.expect("root\r\n")
        #expect(try allowed.expectEnd() == .exited(0))
        try signet.host.writeService(
            "sudo", "auth required pam_signet.so timeout=5\naccount required pam_permit.so\n")
        let refused = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try refused.expectInvitation()
        try refused.sendLine(HostFixture.alice.password)
        #expect(try refused.expectEnd() == .exited(1))
        #expect(!refused.transcript.contains("root\r\n"))
    }
}
