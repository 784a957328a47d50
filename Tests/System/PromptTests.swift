// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("at the line where a touch is awaited", .timeLimit(.minutes(5)))
struct PromptTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let prompt = "alice@linux$ "

    init() throws {
        signet = try SignetFixture.inhabited(allowsOthers: true)
    }

    /// Alice's shell, with a program in the foreground that awaits a touch.
    private func shell(running line: String) throws -> Terminal {
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect(Self.prompt)
        try terminal.sendLine(line)
        try terminal.expectInvitation()
        return terminal
    }

    /// Whether a program of this name holds a signal back; proc(5).
    private func isHeldBack(_ signal: Int32, by name: String) -> Bool {
        host.processes(named: name).contains { process in
            let status = (try? Layout.read("/proc/\(process)/status")) ?? []
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("SigBlk:\t") }
            let mask = line.flatMap { UInt64($0.dropFirst("SigBlk:\t".count), radix: 16) } ?? 0
            return mask >> UInt64(signal - 1) & 1 == 1
        }
    }

    /// Has the shell show that it reads what is typed, with the terminal as it was.
    private func expectSoundShell(_ terminal: Terminal) throws {
        try terminal.sendLine("stty -a | tr ' ;' '\\n' | grep -xE -- '-?(echo|icanon|isig)'")
        try terminal.expect("isig\r\nicanon\r\necho\r\n")
        try terminal.sendLine("exit 0")
        try terminal.expectEnd()
    }

    @Test("^C ends su, and the shell regains its terminal")
    func interrupt() throws {
        let terminal = try shell(running: "su bob -c 'id -un'")
        try terminal.control(.c)
        try terminal.expect(Self.prompt)
        try signet.expectDenial("cancelled")
        try expectSoundShell(terminal)
        #expect(!terminal.transcript.contains("\nbob\r\n"))
    }

    @Test("^C ends sudo, and the shell regains its terminal")
    func interruptSudo() throws {
        let terminal = try shell(running: "sudo id -un")
        try terminal.control(.c)
        try terminal.expect(Self.prompt)
        try signet.expectDenial("cancelled")
        #expect(!terminal.transcript.contains("password for alice"))
        try expectSoundShell(terminal)
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    @Test(
        "^C ends sudo where a message alone is shown, or nothing, and the shell reads with echo",
        arguments: ["finger", "off"])
    func interruptMessage(prompt: String) throws {
        try signet.writeServices(options: "prompt=\(prompt) timeout=170")
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect(Self.prompt)
        try terminal.sendLine("sudo id -un")
        if prompt == "off" {
            // Nothing shows it but that signals are held back.
            let deadline = ContinuousClock.now + .patience
            while !isHeldBack(SIGINT, by: "sudo") {
                try #require(ContinuousClock.now < deadline)
                usleep(1_000)
            }
        } else {
            try terminal.expect(SignetFixture.invitation)
        }
        #expect(try terminal.mode().echoes)
        try terminal.control(.c)
        try terminal.expect(Self.prompt)
        // With nothing shown, it may be over before the daemon has looked who asks.
        if prompt != "off" { try signet.expectDenial("cancelled") }
        #expect(!terminal.transcript.contains("password for alice"))
        try expectSoundShell(terminal)
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    @Test("^C leads sudo to its own prompt where the stack does not say conv_err=die")
    func interruptLenient() throws {
        try host.writeService(
            "sudo",
            """
            auth [success=done default=ignore] pam_signet.so
            @include common-auth
            @include common-account
            @include common-session-noninteractive

            """)
        let terminal = try shell(running: "sudo id -un")
        try terminal.control(.c)
        try terminal.expect("password for alice: ")
        // sudo has kept the signal, and ends of it even if the password is right.
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect(Self.prompt)
        try expectSoundShell(terminal)
    }

    @Test("a hang-up ends the program, and cancels the request for a finger")
    func hangUp() throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        terminal.hangUp()
        #expect(try terminal.expectEnd() != .exited(0))
        try signet.expectDenial("cancelled")
        #expect(try signet.failures(of: HostFixture.alice) == 0)

        let next = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
        #expect(try next.expectEnd() == .exited(0))
    }

    @Test("a half-typed password never reaches the shell", arguments: ["touch", "time-out"])
    func halfTyped(end: String) throws {
        if end == "time-out" { try signet.writeServices(options: "timeout=5") }
        let terminal = try shell(running: "sudo id -un")
        try terminal.send("touch /tmp/typed; ")
        if end == "touch" {
            try signet.touch(Touch.alice)
            try terminal.expect("root\r\n")
        } else {
            try terminal.expect("no fingerprint was read in time")
            try terminal.expect("password for alice: ")
            try terminal.sendLine(HostFixture.alice.password)
            try terminal.expect("root\r\n")
        }
        try terminal.expect(Self.prompt)
        try terminal.sendLine("echo clean")
        try terminal.expect("echo clean\r\nclean\r\n")
        #expect(!terminal.transcript.contains("touch /tmp/typed"))
        #expect(throws: TestFault.self) { try host.read("/tmp/typed") }
    }
}

@Suite("two logins at once", .timeLimit(.minutes(5)))
struct QueueTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(allowsOthers: true)
    }

    @Test("the second mentions the first, waits, and has its turn then")
    func turn() throws {
        let first = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try first.expectInvitation()
        let second = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        let name = first.path.dropFirst("/dev/".count)
        try second.expect("waiting: sudo id -un (alice, \(name)) is using the reader")
        try second.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        try first.expect("root\r\n")
        #expect(try first.expectEnd() == .exited(0))
        try second.expectInvitation()
        try signet.touch(Touch.bob)
        try second.expect("bob\r\n")
        #expect(try second.expectEnd() == .exited(0))
    }

    @Test("another user who waits sees who is served, but not with which command")
    func other() throws {
        let first = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try first.expectInvitation()
        let name = first.path.dropFirst("/dev/".count)
        let second = try host.terminal(
            ["su", "alice", "-c", "id -un"], as: HostFixture.bob,
            in: .session(of: HostFixture.alice))
        try second.expect("waiting: sudo (alice, \(name)) is using the reader")
        second.hangUp()
        first.hangUp()
        try first.expectEnd()
    }

    @Test("a waiting user may type the password instead")
    func password() throws {
        let first = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try first.expectInvitation()
        let second = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try second.expect("is using the reader")
        try second.expect(SignetFixture.orPassword)
        try second.sendLine(HostFixture.bob.password)
        try second.expect("bob\r\n")
        #expect(try second.expectEnd() == .exited(0))
        try signet.touch(Touch.alice)
        try first.expect("root\r\n")
        #expect(try first.expectEnd() == .exited(0))
    }

    @Test("the second continues when the first is killed")
    func killed() throws {
        let first = try host.terminal(
            ["pamtester", "xlock", "alice", "authenticate"], as: HostFixture.root)
        try first.expect(SignetFixture.invitation)
        let second = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try second.expect("waiting: xlock (alice, pts/")
        first.signal(SIGKILL)
        try second.expectInvitation()
        try signet.touch(Touch.bob)
        try second.expect("bob\r\n")
        #expect(try second.expectEnd() == .exited(0))
    }
}
