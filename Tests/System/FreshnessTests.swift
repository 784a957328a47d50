// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// A touch is for the moment at which it is made: a program that is stopped in between cannot keep it.
@Suite("a program that was stopped", .timeLimit(.minutes(5)))
struct FreshnessTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    @Test(
        "before the touch cannot use it later, and the next touch is for the next request alone",
        arguments: AlicesProgram.allCases)
    func beforeTouch(_ program: AlicesProgram) throws {
        let terminal = try signet.asking(program)
        terminal.suspend()
        try signet.touchForProof()
        try signet.serveNext(beside: terminal, program)
        terminal.resume()
        try terminal.expect("was not confirmed in time")
        try signet.expectPassword(program, on: terminal)
        try signet.expectAlert("the proof is no longer valid")
        try signet.expectReceipts(granted: [false, true])
    }

    @Test(
        "with the proof in its hands, verified or not, cannot use it later",
        arguments: AlicesProgram.allCases, [Tracer.Moment.proven, .verified])
    func withProof(_ program: AlicesProgram, _ moment: Tracer.Moment) throws {
        let terminal = try signet.asking(program)
        let tracer = try terminal.tracer(stoppingAt: moment)
        try signet.touch(Touch.alice)
        try tracer.expectStop()
        try signet.serveNext(beside: terminal, program)
        terminal.resume()
        try terminal.expect("was not confirmed in time")
        try signet.expectPassword(program, on: terminal)
        try signet.expectReceipts(granted: [false, true])
    }

    /// The daemon has confirmed by then, and cannot know that it was not heard.
    @Test(
        "when it had asked whether the proof is good cannot use the answer later",
        arguments: AlicesProgram.allCases)
    func afterQuestion(_ program: AlicesProgram) throws {
        let terminal = try signet.asking(program)
        let tracer = try terminal.tracer(stoppingAt: .asked)
        try signet.touch(Touch.alice)
        try tracer.expectStop()
        try signet.pass(.milliseconds(2_100))
        try signet.serveNext(beside: terminal, program)
        terminal.resume()
        try terminal.expect("was not confirmed in time")
        try signet.expectPassword(program, on: terminal)
        try signet.expectReceipts(granted: [true, true])
    }

    @Test("with its whole session, by the control group, cannot use the touch later")
    func frozen() throws {
        let terminal = try signet.asking(.sudo)
        try host.freeze(.session(of: HostFixture.alice))
        try signet.touchForProof()
        try signet.serveNext(beside: terminal, .sudo)
        try host.freeze(.session(of: HostFixture.alice), false)
        try terminal.expect("was not confirmed in time")
        try signet.expectPassword(.sudo, on: terminal)
        try signet.expectReceipts(granted: [false, true])
    }

    @Test(
        "beyond the end of its wait got no touch, which was the next request's",
        arguments: AlicesProgram.allCases)
    func pastDeadline(_ program: AlicesProgram) throws {
        try signet.writeServices(options: "timeout=2")
        let terminal = try signet.asking(program)
        terminal.suspend()
        try signet.writeServices(options: "")
        // It cannot show that another request waits, so that no finger is scanned for it any more.
        let next = try host.terminal(
            AlicesProgram.sudo.command, as: HostFixture.alice, in: SignetFixture.elsewhere)
        try signet.expectDenial("timedOut")
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect(AlicesProgram.sudo.inside)
        #expect(try next.expectEnd() == .exited(0))
        terminal.resume()
        try terminal.expect("no fingerprint was read in time")
        try signet.expectPassword(program, on: terminal)
        try signet.expectReceipts(granted: [true])
    }

    @Test("with a touch just before the end of its wait cannot use it afterwards")
    func touchAtDeadline() throws {
        try signet.writeServices(options: "timeout=3")
        let terminal = try signet.asking(.sudo)
        terminal.suspend()
        try signet.touchForProof()
        try signet.pass(.milliseconds(3_100))
        terminal.resume()
        try terminal.expect("was not confirmed in time")
        try signet.expectPassword(.sudo, on: terminal)
        try signet.expectReceipts(granted: [false])
    }

    @Test(
        "and killed then leaves a receipt that was not granted, and the reader to the next request",
        arguments: AlicesProgram.allCases)
    func killed(_ program: AlicesProgram) throws {
        let terminal = try signet.asking(program)
        terminal.suspend()
        try signet.touchForProof()
        terminal.signal(SIGKILL)
        #expect(try terminal.expectEnd() == .killed(SIGKILL))
        try signet.serveNext(beside: terminal, program)
        try signet.expectReceipts(granted: [false, true])
    }

    @Test("and is killed while it waits for a touch has none of the next request's")
    func killedWaiting() throws {
        let terminal = try signet.asking(.sudo)
        terminal.suspend()
        terminal.signal(SIGKILL)
        try terminal.expectEnd()
        try signet.serveNext(beside: terminal, .sudo)
        try signet.expectReceipts(granted: [true])
    }
}
