// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Beside sudo, su and login as Debian has them (TerminalProgramTests): what is no row of the table.
@Suite("a job that asks for a touch", .timeLimit(.minutes(5)))
struct JobControlTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let prompt = "alice@linux$ "

    init() throws {
        signet = try SignetFixture.inhabited(options: "background=refuse", allowsOthers: true)
    }

    /// Alice's shell, which has job control and is given a line.
    private func shell(_ line: String) throws -> Terminal {
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect(Self.prompt)
        try terminal.sendLine(line)
        return terminal
    }

    /// Presses ^Z where a touch is awaited, and waits for the shell.
    private func stop(_ terminal: Terminal) throws {
        try terminal.expectInvitation()
        try terminal.control(.z)
        try terminal.expect("Stopped")
        try terminal.expect(Self.prompt)
        try signet.expectDenial("cancelled")
    }

    private func expectSoundShell(_ terminal: Terminal) throws {
        try terminal.expect(Self.prompt)
        try terminal.sendLine("stty -a | tr ' ;' '\\n' | grep -xE -- '-?(echo|icanon|isig)'")
        try terminal.expect("isig\r\nicanon\r\necho\r\n")
        try terminal.sendLine("exit 0")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("that any program is, stops at ^Z and asks again at fg", arguments: [true, false])
    func stopped(isTouch: Bool) throws {
        let terminal = try shell(Asking.pamtester.line.command)
        for _ in 0..<2 {
            try stop(terminal)
            try terminal.sendLine("fg")
        }
        try terminal.expectInvitation()
        if isTouch {
            try signet.touch(Touch.alice)
        } else {
            try terminal.sendLine(HostFixture.alice.password)
        }
        try terminal.expect(Asking.pamtester.line.inside)
        try expectSoundShell(terminal)
    }

    @Test(
        "and is sent to the background after ^Z gets no touch",
        arguments: [Asking.sudo, .su, .pamtester])
    func sentAway(program: Asking) throws {
        let terminal = try shell(program.line.command)
        try stop(terminal)
        // In one line: while the shell edits one, the terminal is set for that, and no password is read.
        try terminal.sendLine("bg; wait; jobs")
        try terminal.expect(" &\r\n")
        try terminal.expect("Stopped")
        let requests = host.journal.entries.count { $0["SIGNET_VERB"] == "authenticate" }
        #expect(requests == 1)
        try terminal.sendLine("fg")
        try expectPassword(program, on: terminal)
        try expectSoundShell(terminal)
    }

    @Test("that any program is, is asked for no touch in the background if the line says so")
    func background() throws {
        let terminal = try shell(Asking.pamtester.line.command + " & wait; jobs")
        try terminal.expect("Stopped")
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
        try terminal.sendLine("fg")
        try expectPassword(.pamtester, on: terminal)
        #expect(!terminal.transcript.contains("reader"))
        try expectSoundShell(terminal)
    }

    /// The module has declined, and the program asks as it would without it.
    private func expectPassword(_ program: Asking, on terminal: Terminal) throws {
        if program == .sudo {
            // sudo's own way, with any stack, with a prompt that it was kept from showing.
            try terminal.expect("sudo: a password is required")
            return
        }
        try terminal.expect("Password: ")
        try terminal.sendLine(program.owner.account.password)
        try terminal.expect(program.line.inside)
    }

    @Test("^Z without a shell behind it, as at a console's login, stops nothing and asks again")
    func withoutShell() throws {
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try terminal.expectInvitation()
        try terminal.send("half a passw")
        try terminal.control(.z)
        try signet.expectDenial("cancelled")
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect(Asking.login.line.inside)
        try terminal.sendLine("exit 0")
        #expect(try terminal.expectEnd() == .exited(0))
    }
}
