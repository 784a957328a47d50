// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real passwd, with common-password as the profile makes it.
@Suite("passwd", .timeLimit(.minutes(5)), .notingCells)
struct PasswdTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let new = "quite another 42"

    init() throws {
        signet = try SignetFixture.debian(allowsOthers: true)
    }

    private func change(from password: String) throws -> Terminal {
        let terminal = try host.terminal(["passwd"], as: HostFixture.alice)
        try terminal.expect("urrent password: ")
        try terminal.sendLine(password)
        return terminal
    }

    private func expectChange(_ terminal: Terminal) throws {
        try terminal.expect("New password: ")
        try terminal.sendLine(Self.new)
        try terminal.expect("new password: ")
        try terminal.sendLine(Self.new)
        try terminal.expect("updated successfully")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains("reader"))
        // It is the new one that counts.
        let next = try host.terminal(
            ["su", "alice", "-c", "id -un"], as: HostFixture.bob,
            in: .session(of: HostFixture.alice))
        try next.expect("assword: ")
        try next.sendLine(Self.new)
        try next.expect("alice\r\n")
        #expect(try next.expectEnd() == .exited(0))
    }

    @Test("takes the old password and a new one, and asks for no touch")
    func password() throws {
        shows(.passwd, .password)
        try expectChange(change(from: HostFixture.alice.password))
    }

    @Test("refuses a wrong old password, and changes nothing")
    func wrongPassword() throws {
        shows(.passwd, .wrongPassword)
        let terminal = try change(from: HostFixture.bob.password)
        try terminal.expect("password unchanged")
        #expect(try terminal.expectEnd() != .exited(0))
        let next = try host.terminal(
            ["su", "alice", "-c", "id -un"], as: HostFixture.bob,
            in: .session(of: HostFixture.alice))
        try next.expectInvitation()
        try next.sendLine(HostFixture.alice.password)
        try next.expect("alice\r\n")
    }

    @Test("changes it without a daemon, and with one that stands still", arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.passwd, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        try expectChange(change(from: HostFixture.alice.password))
        signet.resume()
    }
}
