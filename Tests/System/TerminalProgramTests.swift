// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

/// A program that asks on a terminal who is there, and how it goes on.
enum TerminalProgram: CaseIterable, Sendable {
    case sudo
    case sudoLogin
    case su
    case suLogin
    case login

    /// Its column in the README's table.
    var column: Compatibility.Program {
        switch self {
        case .sudo: .sudo
        case .sudoLogin: .sudoLogin
        case .su: .su
        case .suLogin: .suLogin
        case .login: .login
        }
    }

    /// How it is called, and by whom.
    var command: (words: [String], by: Account) {
        switch self {
        case .sudo: (["sudo", "id", "-un"], HostFixture.alice)
        case .sudoLogin: (["sudo", "-i"], HostFixture.alice)
        case .su: (["su", "bob"], HostFixture.alice)
        case .suLogin: (["su", "-", "bob"], HostFixture.alice)
        case .login: (["login", "alice"], HostFixture.root)
        }
    }

    /// What has started it.
    var place: FixturePlace? { self == .login ? .console : nil }

    /// Whose finger or password it wants, and that finger.
    var person: (account: Account, finger: String) {
        switch self {
        case .su, .suLogin: (HostFixture.bob, Touch.bob)
        case .sudo, .sudoLogin, .login: (HostFixture.alice, Touch.alice)
        }
    }

    /// Its own prompt for the password.
    var prompt: String {
        switch self {
        case .sudo, .sudoLogin: "password for alice: "
        case .su, .suLogin, .login: "Password: "
        }
    }

    /// What appears after a login.
    var welcome: String {
        switch self {
        case .sudo: "root\r\n"
        case .sudoLogin: "root@linux# "
        case .su, .suLogin: "bob@linux$ "
        case .login: "alice@linux$ "
        }
    }

    /// What appears when a password was wrong.
    var refusal: String {
        switch self {
        case .sudo, .sudoLogin: "Sorry, try again."
        case .su, .suLogin: "Authentication failure"
        case .login: "Login incorrect"
        }
    }

    /// Whether it leads to a shell, which then is to be left.
    var opensShell: Bool { self != .sudo }

    /// How a shell is told to run it, and what that shows when it is ready.
    var line: String { command.words.joined(separator: " ") }
    var shellPrompt: String { self == .login ? "root@linux# " : "alice@linux$ " }
}

/// Debian's own programs and stacks, all by the same steps.
@Suite("on a terminal", .timeLimit(.minutes(5)), .notingCells)
struct TerminalProgramTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let silent = "the fingerprint service does not answer: use the password"

    init() throws {
        signet = try SignetFixture.debian(options: "max-tries=2", allowsOthers: true)
    }

    private func start(_ program: TerminalProgram) throws -> Terminal {
        try host.terminal(program.command.words, as: program.command.by, in: program.place)
    }

    /// Waits until the person is in, and leaves.
    private func expectWelcome(_ program: TerminalProgram, on terminal: Terminal) throws {
        try terminal.expect(program.welcome)
        if program.opensShell {
            try terminal.sendLine("exit 0")
        }
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(program.person.account.password))
    }

    /// Gives the right password at the program's own prompt, with no touch asked for before.
    private func passByPassword(_ program: TerminalProgram, on terminal: Terminal) throws {
        try terminal.expect(program.prompt)
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(program.person.account.password)
        try expectWelcome(program, on: terminal)
    }

    @Test("a touch is accepted", arguments: TerminalProgram.allCases)
    func finger(program: TerminalProgram) throws {
        shows(program.column, .finger)
        let terminal = try start(program)
        try terminal.expectInvitation()
        try signet.touch(program.person.finger)
        try expectWelcome(program, on: terminal)
    }

    @Test(
        "the password is accepted, typed while the touch is awaited",
        arguments: TerminalProgram.allCases)
    func typed(program: TerminalProgram) throws {
        shows(program.column, .typed)
        let terminal = try start(program)
        try terminal.expectInvitation()
        try terminal.sendLine(program.person.account.password)
        try expectWelcome(program, on: terminal)
        #expect(!terminal.transcript.contains(program.prompt))
        try signet.expectDenial("cancelled")
    }

    @Test("Enter leads to the program's own prompt", arguments: TerminalProgram.allCases)
    func ownPrompt(program: TerminalProgram) throws {
        shows(program.column, .password)
        let terminal = try start(program)
        try terminal.expectInvitation()
        try terminal.sendLine("")
        try terminal.expect(program.prompt)
        try terminal.sendLine(program.person.account.password)
        try expectWelcome(program, on: terminal)
    }

    @Test(
        "others' fingers are refused, and then the password is accepted",
        arguments: TerminalProgram.allCases)
    func fingerThenPassword(program: TerminalProgram) throws {
        shows(program.column, .wrongFinger, .fingerThenPassword)
        let terminal = try start(program)
        let other = program.person.finger == Touch.bob ? Touch.alice : Touch.bob
        for stranger in [other, Touch.nobody] {
            try terminal.expectInvitation()
            try signet.touch(stranger)
            try terminal.expect("the finger did not match")
        }
        try terminal.expect(program.prompt)
        #expect(!terminal.transcript.contains(program.welcome))
        try terminal.sendLine(program.person.account.password)
        try expectWelcome(program, on: terminal)
        try signet.expectDenial("noMatch")
    }

    @Test(
        "a wrong password is refused, at either prompt", arguments: TerminalProgram.allCases,
        [true, false])
    func wrongPassword(program: TerminalProgram, isTypedAtOnce: Bool) throws {
        shows(program.column, .wrongPassword)
        let terminal = try start(program)
        try terminal.expectInvitation()
        if !isTypedAtOnce {
            try terminal.sendLine("")
            try terminal.expect(program.prompt)
        }
        try terminal.sendLine("not \(program.person.account.password)")
        try terminal.expect(program.refusal)
        // sudo asks again at once; a terminal that goes before that is another test's.
        if program.command.words[0] == "sudo" { try terminal.expectInvitation() }
        terminal.hangUp()
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(!terminal.transcript.contains(program.welcome))
    }

    @Test("^C ends it, and the terminal is as it was", arguments: TerminalProgram.allCases)
    func cancelled(program: TerminalProgram) throws {
        shows(program.column, .cancelled, .restored)
        let terminal = try start(program)
        try terminal.expectInvitation()
        #expect(try terminal.mode().echoes == false)
        try terminal.send("half a passw")
        try terminal.control(.c)
        #expect(try terminal.expectEnd() != .exited(0))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        #expect(!terminal.transcript.contains(program.welcome))
        try signet.expectDenial("cancelled")
    }

    /// A shell with job control, which is given the program as a line.
    private func shell(running program: TerminalProgram, _ end: String = "") throws -> Terminal {
        let terminal = try host.terminal(
            ["bash", "-i"], as: program.command.by, in: program.place)
        try terminal.expect(program.shellPrompt)
        try terminal.sendLine(program.line + end)
        return terminal
    }

    /// Waits until the person is in, leaves, and has the shell show that its terminal is sound.
    private func expectWelcome(_ program: TerminalProgram, thenShell terminal: Terminal) throws {
        try terminal.expect(program.welcome)
        if program.opensShell { try terminal.sendLine("exit 0") }
        try terminal.expect(program.shellPrompt)
        try terminal.sendLine("stty -a | tr ' ;' '\\n' | grep -xE -- '-?(echo|icanon|isig)'")
        try terminal.expect("isig\r\nicanon\r\necho\r\n")
        try terminal.sendLine("exit 0")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(program.person.account.password))
    }

    @Test(
        "^Z stops it, and fg asks again, for the touch or the password",
        arguments: TerminalProgram.allCases, [true, false])
    func stopped(program: TerminalProgram, isTouch: Bool) throws {
        shows(program.column, .stopped)
        let terminal = try shell(running: program)
        try terminal.expectInvitation()
        try terminal.send("half a passw")
        try terminal.control(.z)
        try terminal.expect("Stopped")
        try terminal.expect(program.shellPrompt)
        // Nobody awaits a finger meanwhile: one that was meant for nothing opens nothing.
        try signet.expectDenial("cancelled")
        #expect(!terminal.transcript.contains(program.welcome))
        try terminal.sendLine("fg")
        try terminal.expectInvitation()
        if isTouch {
            try signet.touch(program.person.finger)
        } else {
            try terminal.sendLine(program.person.account.password)
        }
        try expectWelcome(program, thenShell: terminal)
    }

    @Test(
        "in the background it asks for no touch, and is done with that at once",
        arguments: TerminalProgram.allCases)
    func background(program: TerminalProgram) throws {
        shows(program.column, .background)
        let begun = ContinuousClock.now
        // It stops when it needs the terminal, which shows that the module is done. In one line: while
        // the shell edits one, the terminal is set for that, and no password is read.
        let terminal = try shell(running: program, " & wait; jobs")
        try terminal.expect("[1] ")
        try terminal.expect("Stopped")
        #expect(ContinuousClock.now - begun < .seconds(5))
        #expect(!terminal.transcript.contains("reader"))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
        try terminal.sendLine("fg")
        switch program {
        case .sudo, .sudoLogin:
            // Its own way, with any stack, with a prompt that it was kept from showing.
            try terminal.expect("sudo: a password is required")
            try terminal.expect(program.shellPrompt)
            try terminal.sendLine(program.line)
            try terminal.expectInvitation()
            try signet.touch(program.person.finger)
        case .su, .suLogin:
            try terminal.expect(program.prompt)
            try terminal.sendLine(program.person.account.password)
        case .login:
            // It was stopped before it asked PAM.
            try terminal.expectInvitation()
            try signet.touch(program.person.finger)
        }
        try expectWelcome(program, thenShell: terminal)
    }

    @Test("without a reader the password is asked for", arguments: TerminalProgram.allCases)
    func noReader(program: TerminalProgram) throws {
        shows(program.column, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try passByPassword(program, on: start(program))
        try signet.expectDenial("noReader")
    }

    @Test(
        "without a finger enrolled the password is asked for",
        arguments: TerminalProgram.allCases)
    func notEnrolled(program: TerminalProgram) throws {
        shows(program.column, .notEnrolled)
        let account = Bytes(program.person.account.name.utf8)
        let answer = try signet.ask(.delete(account: AccountName(account), finger: nil))
        guard case .done = answer else {
            throw TestFault.closed(awaited: "a deletion", transcript: "\(answer)")
        }
        try passByPassword(program, on: start(program))
    }

    @Test("locked out, the password is asked for", arguments: TerminalProgram.allCases)
    func lockedOut(program: TerminalProgram) throws {
        shows(program.column, .lockedOut)
        let account = program.person.account
        try signet.setFailures(20, of: account)
        let terminal = try start(program)
        try terminal.expect("fingerprint login is locked for \(account.name)")
        try passByPassword(program, on: terminal)
        #expect(try signet.status(account).lock == .open)
    }

    @Test("without a daemon the password is asked for", arguments: TerminalProgram.allCases)
    func daemonDown(program: TerminalProgram) throws {
        shows(program.column, .daemonDown)
        try signet.stop()
        let terminal = try start(program)
        try terminal.expect(Self.silent)
        try passByPassword(program, on: terminal)
    }

    @Test(
        "with a daemon that stands still the password is asked for at once",
        arguments: TerminalProgram.allCases)
    func daemonSilent(program: TerminalProgram) throws {
        shows(program.column, .daemonSilent)
        try signet.installStacks(options: "timeout=1")
        signet.suspend()
        let terminal = try start(program)
        try terminal.expect("or type the password: ")
        try terminal.sendLine(program.person.account.password)
        // A login reports the accepted password, which is not heard now.
        try expectWelcome(program, on: terminal)
        signet.resume()
    }

    @Test("two at once are served one after the other", arguments: TerminalProgram.allCases)
    func together(program: TerminalProgram) throws {
        shows(program.column, .together)
        let first = try start(program)
        try first.expectInvitation()
        // The other account's request waits, and is told for whom.
        let other: TerminalProgram = program == .su || program == .suLogin ? .login : .su
        let second = try start(other)
        try second.expect("waiting: ")
        try second.expect(" is using the reader")
        #expect(!second.transcript.contains(SignetFixture.invitation))
        try signet.touch(program.person.finger)
        try expectWelcome(program, on: first)
        try second.expectInvitation()
        try signet.touch(other.person.finger)
        try expectWelcome(other, on: second)
    }

    @Test("login for a host far away asks for no touch")
    func remote() throws {
        shows(.login, .remote)
        let terminal = try host.terminal(
            ["login", "-h", "host.example", "alice"], as: HostFixture.root, in: .console)
        try passByPassword(.login, on: terminal)
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("sudo -n waits for nothing")
    func unattended() throws {
        shows(.sudo, .unattended)
        let outcome = try host.run(["sudo", "-n", "id", "-un"], as: HostFixture.alice)
        #expect(outcome.ending == .exited(1))
        #expect(outcome.output.isEmpty)
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }
}
