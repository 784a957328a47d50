// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

/// A program by which alice asks for a touch of her own.
enum AlicesProgram: CaseIterable, Sendable {
    case sudo, su

    /// What it is called with.
    var command: [String] {
        switch self {
        case .sudo: ["sudo", "-k", "id", "-un"]
        case .su: ["su", "alice", "-c", "echo let in"]
        }
    }

    /// Where it asks for the password itself.
    var prompt: String {
        switch self {
        case .sudo: "password for alice: "
        case .su: "Password: "
        }
    }

    /// What only an authenticated user sees.
    var inside: String {
        switch self {
        case .sudo: "root\r\n"
        case .su: "let in\r\n"
        }
    }
}

/// What a touch is worth to a program that was stopped.
extension SignetFixture {
    /// Where nothing of alice's is stopped with her session, and she is served as in it.
    static let elsewhere = FixturePlace.manager(of: HostFixture.alice)

    /// A program of alice's that waits for her touch.
    func asking(_ program: AlicesProgram, in place: FixturePlace? = nil) throws -> Terminal {
        let terminal = try host.terminal(program.command, as: HostFixture.alice, in: place)
        try terminal.expectInvitation()
        return terminal
    }

    /// Touches, and waits until the proof has been given, and its receipt written.
    func touchForProof() throws {
        try touch(Touch.alice)
        try host.journal.expect("a proof") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
    }

    /// Alice's next request, which has the reader as soon as a proof before it is void, and a touch
    /// for that alone.
    func serveNext(beside stopped: Terminal, _ program: AlicesProgram) throws {
        let next = try asking(.sudo, in: Self.elsewhere)
        #expect(!stopped.transcript.contains(program.inside))
        try touch(Touch.alice)
        try next.expect(AlicesProgram.sudo.inside)
        #expect(try next.expectEnd() == .exited(0))
    }

    /// Expects that a program that goes on again has got nothing by the touch, and that the password
    /// lets in.
    func expectPassword(_ program: AlicesProgram, on terminal: Terminal) throws {
        let seen = try terminal.expect(program.prompt)
        #expect(!seen.contains(program.inside))
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect(program.inside)
        #expect(try terminal.expectEnd() == .exited(0))
    }

    /// Expects that `signet log` shows of each of alice's receipts whether it was granted.
    func expectReceipts(granted: [Bool]) throws {
        let log = try host.run([try Built.program("signet"), "log"], as: HostFixture.alice)
        // Refused attempts have lines too.
        let lines = log.output.split(separator: "\n").filter { $0.hasPrefix("#") }
        #expect(lines.map { !$0.hasSuffix(", not granted") } == granted, "\(log.output)")
        let verified = try host.run(
            [try Built.program("signet"), "log", "--verify"], as: HostFixture.alice)
        #expect(verified.succeeded, "\(verified.output)\(verified.errors)")
    }

    /// Lets a time pass that no event reports.
    func pass(_ time: Duration) throws {
        let timer = try BootTimer(after: time)
        var waiting = pollfd(fd: timer.descriptor.number, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&waiting, 1, 60_000) == 1)
    }
}
