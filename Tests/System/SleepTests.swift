// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("sudo on a laptop", .timeLimit(.minutes(5)))
struct SleepTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let bus: PrivateBus
    private let logind: TestSupport.Program

    init() throws {
        signet = try SignetFixture.inhabited()
        (bus, logind) = try signet.startBus()
    }

    private func sudo() throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    @Test("that falls asleep falls back to the password, and accepts a touch when it is awake")
    func sleep() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try bus.awaitInhibitors(1)
        let sleep = try bus.sleep(lookingAt: "/run/readers/storage")
        #expect(sleep.isInTime && !sleep.wasHeard)
        try terminal.expect("the machine is going to sleep")
        try terminal.passBySudosPrompt()
        try signet.expectDenial("suspending")
        try bus.wake()
        try host.journal.expect("waking") { $0.message == "the machine has woken up" }
        let next = try sudo()
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
        #expect(try next.expectEnd() == .exited(0))
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("with a closed lid asks for the password at once, and for a touch when it is open")
    func lid() throws {
        let first = try sudo()
        try first.expectInvitation()
        // By then the daemon knows logind.
        try bus.awaitInhibitors(1)
        try signet.touch(Touch.alice)
        try first.expect("root\r\n")
        try bus.setLid(closed: true)
        let terminal = try sudo()
        try terminal.expect("the lid is closed. Open it to scan a finger, or use the password")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try signet.expectDenial("lidClosed")
        try bus.setLid(closed: false)
        let next = try sudo()
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
        #expect(try next.expectEnd() == .exited(0))
    }
}
