// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// The logins meanwhile are DaemonLossTests'.
@Suite("the reader is unplugged under the command", .timeLimit(.minutes(5)))
struct UnplugTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let program: String
    private static let unplugged = "the fingerprint reader was unplugged"

    init() throws {
        program = try Built.program("signet")
        signet = try SignetFixture(allowsOthers: true)
    }

    private func command(_ arguments: String...) throws -> Terminal {
        try host.terminal([program] + arguments, as: HostFixture.alice)
    }

    /// It ends with a code that tells, and leaves the terminal as it was.
    private func expectFailure(_ terminal: Terminal, _ text: String) throws {
        try terminal.expect(text)
        #expect(try terminal.expectEnd() == .exited(1))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
    }

    private func enrolling() throws -> Terminal {
        let terminal = try command("enroll", "right-index")
        try terminal.expect("Password of alice: ")
        try terminal.sendLine(HostFixture.alice.password)
        return terminal
    }

    /// Has a finger enrolled to its end.
    private func enroll() throws {
        let terminal = try enrolling()
        try terminal.expect(SignetFixture.invitation)
        for stage in 1...5 {
            try signet.touch(Touch.alice)
            if stage < 5 { try terminal.expect("\(stage) of 5") }
        }
        try terminal.expect("fingerprint login is on for alice")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    private func expectSudo(_ finger: String = Touch.alice) throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(finger)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("enroll keeps nothing, says why, and the next try works", arguments: 0...3)
    func enrolment(stages: Int) throws {
        let terminal = try enrolling()
        try terminal.expect(SignetFixture.invitation)
        for stage in 1..<(stages + 1) {
            try signet.touch(Touch.alice)
            try terminal.expect("\(stage) of 5")
        }
        try signet.unplug()
        try expectFailure(terminal, Self.unplugged)
        #expect(try signet.status(HostFixture.alice).prints == 0)
        let kept = try signet.shell("find /var/lib/signet/private/accounts -path '*/prints/*'")
        #expect(kept == "")

        try signet.plugIn()
        try enroll()
        #expect(try signet.status(HostFixture.alice).prints == 1)
        let onReader = try signet.shell("cat /run/readers/storage.prints")
        #expect(onReader.split(separator: "\n").count == 1, "\(onReader)")
        try expectSudo()
    }

    @Test("a second finger is not enrolled, and the first one still works")
    func secondFinger() throws {
        try signet.enroll(HostFixture.alice, as: Touch.alice)
        let terminal = try command("enroll", "left-index")
        try terminal.expect("Password of alice: ")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.nobody)
        // The line is drawn again when the finger is there; the bar comes with the enrolment.
        try terminal.expect("[.....] 0 of 5  \(SignetFixture.invitation)")
        try signet.touch(Touch.nobody)
        try terminal.expect("1 of 5")
        try signet.unplug()
        try expectFailure(terminal, Self.unplugged)
        try signet.plugIn()
        #expect(try signet.status(HostFixture.alice).prints == 1)
        try expectSudo()
        let stranger = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try stranger.expectInvitation()
        try signet.touch(Touch.nobody)
        try stranger.expect("the finger did not match")
        stranger.hangUp()
        try stranger.expectEnd()
    }

    @Test("secret get gives nothing out, says why, and the next try does")
    func secret() throws {
        try signet.enroll(HostFixture.alice, as: Touch.alice)
        let kept = try host.run(
            [program, "secret", "set", "mail"], as: HostFixture.alice, input: "kestrel")
        #expect(kept.succeeded, "\(kept.errors)")
        let terminal = try command("secret", "get", "mail")
        try terminal.expect("\(SignetFixture.invitation) to confirm: secret mail (alice)")
        try signet.unplug()
        try expectFailure(terminal, Self.unplugged)
        #expect(!terminal.transcript.contains("kestrel"))
        #expect(try signet.failures(of: HostFixture.alice) == 0)
        let released = host.journal.entries.contains {
            $0["SIGNET_VERB"] == "secretGet" && $0["SIGNET_DECISION"] == "allow"
        }
        #expect(!released)

        try signet.plugIn()
        let again = try command("secret", "get", "mail")
        try again.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try again.expect("kestrel")
        #expect(try again.expectEnd() == .exited(0))
    }

    @Test(
        "import-fprintd, waiting for its turn, says that the reader is away, or imports if it is back",
        arguments: [false, true])
    func importing(isBack: Bool) throws {
        try signet.stop()
        try FprintdStore(path: host.path("/var/lib/fprint")).add("alice", .storage, .rightIndex)
        try host.write("/run/readers/storage.prints", "alice right\n", mode: 0o600)
        try signet.start()
        try signet.enroll(HostFixture.bob, as: Touch.bob)
        let login = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try login.expectInvitation()
        let terminal = try importingAlone()
        try terminal.expect("is using the reader")
        if isBack { try signet.reader().send(.unplug) } else { try signet.unplug() }
        try login.expect(isBack ? "the reader was unplugged: plug it in again" : Self.unplugged)
        login.hangUp()
        try login.expectEnd()
        guard isBack else {
            try expectFailure(
                terminal,
                "not imported: its reader is not connected, or not used. Connect it and try again")
            #expect(try signet.status(HostFixture.alice).prints == 0)
            return
        }
        try terminal.expect("1 finger was imported for alice: 1 finger in total")
        #expect(try terminal.expectEnd() == .exited(0))
        try expectSudo("alice right")
    }

    @Test("as long as it is away, each says so at once")
    func away() throws {
        try signet.enroll(HostFixture.alice, as: Touch.alice)
        try host.run([program, "secret", "set", "mail"], as: HostFixture.alice, input: "kestrel")
        let terminal = try command("secret", "get", "mail")
        try terminal.expect(SignetFixture.invitation)
        try signet.unplug()
        try expectFailure(terminal, Self.unplugged)
        let none = "no usable fingerprint reader was found"
        // No password is asked for in vain.
        try expectFailure(command("enroll", "right-index"), none)
        try expectFailure(command("secret", "get", "mail"), none)
        #expect(try signet.status(HostFixture.alice).prints == 1)
    }

    private func importingAlone() throws -> Terminal {
        let terminal = try command("import-fprintd")
        try terminal.expect("Password of alice: ")
        try terminal.sendLine(HostFixture.alice.password)
        return terminal
    }
}
