// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Between a proof and its use: the program goes on within the second in which a proof can be
/// confirmed, where the machine is fast enough, so that the change itself is what refuses it.
@Suite("while a program was stopped with a proof in its hands", .timeLimit(.minutes(5)))
struct ChangedMeanwhileTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    /// A program that has verified its proof and is stopped before it asks whether that is still good.
    private func stopped(_ program: AlicesProgram) throws -> Terminal {
        let terminal = try signet.asking(program)
        let tracer = try terminal.tracer(stoppingAt: .verified)
        try signet.touch(Touch.alice)
        try tracer.expectStop()
        return terminal
    }

    /// Expects that it gets nothing, and says that the proof came too late or what has changed.
    private func expectExpired(
        _ program: AlicesProgram, on terminal: Terminal,
        _ change: String = "the fingers, the key or the session changed"
    ) throws {
        terminal.resume()
        try signet.expectPassword(program, on: terminal)
        let said = terminal.transcript
        #expect(said.contains("was not confirmed in time") || said.contains(change), "\(said)")
        try signet.expectAlert("the proof is no longer valid")
    }

    @Test("fingerprint login was switched off", arguments: AlicesProgram.allCases)
    func disabled(_ program: AlicesProgram) throws {
        let terminal = try stopped(program)
        let answer = try host.run([
            try Built.program("signet"), "disable", "--account", "alice",
        ])
        #expect(answer.succeeded, "\(answer.errors)")
        try expectExpired(program, on: terminal, "fingerprint login is off for alice")
        try signet.expectReceipts(granted: [false])
    }

    @Test("all fingers were deleted", arguments: AlicesProgram.allCases)
    func deleted(_ program: AlicesProgram) throws {
        let terminal = try stopped(program)
        let answer = try signet.ask(.delete(account: "alice", finger: nil))
        guard case .done(let done) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(done.prints == 0)
        try expectExpired(program, on: terminal)
        try signet.expectReceipts(granted: [false])
    }

    @Test("another user came to the seat", arguments: AlicesProgram.allCases)
    func switched(_ program: AlicesProgram) throws {
        let terminal = try stopped(program)
        try host.show(.session(of: HostFixture.bob))
        try expectExpired(program, on: terminal)
        try signet.expectReceipts(granted: [false])
    }

    @Test("five fingers failed to match for another request", arguments: AlicesProgram.allCases)
    func lockedOut(_ program: AlicesProgram) throws {
        try signet.writeServices(options: "max-tries=5")
        let terminal = try stopped(program)
        // Once the proof is void, others may ask for a finger.
        let next = try signet.asking(.sudo, in: SignetFixture.elsewhere)
        try signet.touch(Touch.nobody)
        try next.expect("did not match")
        try signet.mismatch(3, on: next)
        try next.expectInvitation()
        try signet.touch(Touch.nobody)
        try next.expect("too many failed scans")
        #expect(try signet.status(HostFixture.alice).lock == .forNow)
        try expectExpired(program, on: terminal, "too many failed scans")
        try signet.expectReceipts(granted: [false])
        next.hangUp()
    }

    @Test("a lockout was written", arguments: AlicesProgram.allCases)
    func lockedBeside(_ program: AlicesProgram) throws {
        let terminal = try stopped(program)
        try signet.setFailures(20, of: HostFixture.alice)
        try expectExpired(program, on: terminal, "too many failed scans")
        try signet.expectReceipts(granted: [false])
    }

    @Test("the machine slept", arguments: AlicesProgram.allCases)
    func slept(_ program: AlicesProgram) throws {
        let (bus, logind) = try signet.startBus()
        defer { withExtendedLifetime(logind) {} }
        let terminal = try signet.asking(program)
        // By then the daemon knows logind.
        try bus.awaitInhibitors(1)
        let tracer = try terminal.tracer(stoppingAt: .verified)
        try signet.touch(Touch.alice)
        try tracer.expectStop()
        _ = try bus.sleep(lookingAt: "/run/readers/storage")
        try bus.wake()
        try expectExpired(program, on: terminal)
        try signet.expectReceipts(granted: [false])
    }
}
