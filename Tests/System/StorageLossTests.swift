// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("where nothing can be written", .timeLimit(.minutes(5)))
struct StorageLossTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    /// The state lies on a small file system of its own.
    init() throws {
        signet = try SignetFixture(running: false)
        try signet.shell("mount -t tmpfs -o size=512k,mode=755 state /var/lib/signet")
        try signet.start()
        try signet.enroll(HostFixture.alice, as: Touch.alice)
    }

    private func sudo() throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    private func fill() throws {
        try signet.shell("cat /dev/zero >/var/lib/signet/filler 2>/dev/null; sync; true")
    }

    private func expectSound() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let status = try signet.status(HostFixture.alice)
        #expect(status.state == .valid)
        #expect(status.lock == .open)
    }

    @Test(
        "a full disk when the attempt is counted: says so, asks for no finger, the password works")
    func fullBefore() throws {
        try fill()
        let terminal = try sudo()
        try terminal.expect("stored data could not be read or written")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try signet.expectDenial("storage")
        try signet.shell("rm /var/lib/signet/filler")
        try expectSound()
    }

    @Test("a full disk when the receipt is written: says so, denies, the password works")
    func fullAtTouch() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try fill()
        try signet.touch(Touch.alice)
        try terminal.expect("stored data could not be read or written")
        try terminal.passBySudosPrompt()
        try signet.expectDenial("storage")
        try signet.shell("rm /var/lib/signet/filler")
        try expectSound()
    }

    @Test("a full disk when a mismatch is counted: says so, and the attempt stays counted")
    func fullAtMismatch() throws {
        try signet.setFailures(4, of: HostFixture.alice)
        let terminal = try sudo()
        try terminal.expectInvitation()
        try fill()
        try signet.touch(Touch.nobody)
        try terminal.expect("stored data could not be read or written")
        try terminal.passBySudosPrompt()
        #expect(try signet.failures(of: HostFixture.alice) == 5)
    }

    @Test("a full disk when a finger is enrolled: says so, and the fingers before it still work")
    func fullAtEnrolment() throws {
        try fill()
        let answer = try signet.enroll(HostFixture.alice, .leftIndex, as: "alice's other")
        guard case .denial(let denial) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(denial.reason == .storage)
        try signet.shell("rm /var/lib/signet/filler")
        #expect(try signet.status(HostFixture.alice).prints == 1)
        try expectSound()
        guard case .done = try signet.enroll(HostFixture.alice, .leftIndex, as: "alice's other")
        else {
            Issue.record("the finger was not enrolled when there was room")
            return
        }
    }

    @Test("a read-only disk: says so, asks for no finger, the password works, nothing is lost")
    func readOnly() throws {
        try signet.shell("mount -o remount,ro /var/lib/signet")
        let terminal = try sudo()
        try terminal.expect("stored data could not be read or written")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        let answer = try signet.enroll(HostFixture.alice, .leftIndex, as: "alice's other")
        guard case .denial(let denial) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(denial.reason == .storage)
        try expectLog()
        try signet.shell("mount -o remount,rw /var/lib/signet")
        try expectSound()
        try signet.shell("mount -o remount,ro /var/lib/signet")
        try expectLog()
    }

    /// Expects that the receipts can be read.
    private func expectLog() throws {
        let log = try signet.host.run(
            [try Built.program("signet"), "log", "--account", "alice", "--verify"])
        #expect(log.ending == .exited(0), "\(log.errors)")
    }

    @Test("a daemon that starts on a read-only disk serves, says so, and the password works")
    func startsReadOnly() throws {
        try signet.stop()
        try signet.shell("mount -o remount,ro /var/lib/signet")
        try signet.start()
        let terminal = try sudo()
        try terminal.expect("stored data could not be read or written")
        try terminal.passBySudosPrompt()
    }
}
