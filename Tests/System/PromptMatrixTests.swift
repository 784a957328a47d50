// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// A real program that asks on a terminal for a user's touch.
enum Asking: String, CaseIterable, Sendable {
    case sudo, su, login, pamtester

    /// Its line for a shell, and what it says when it succeeded.
    var line: (command: String, inside: String) {
        switch self {
        case .sudo: ("sudo id -un", "root\r\n")
        case .su: ("su bob -c 'id -un'", "bob\r\n")
        case .login: ("login alice", "alice@linux$ ")
        case .pamtester:
            ("pamtester -Itty=$(tty) xlock alice authenticate", "successfully authenticated")
        }
    }

    /// Whose finger and password it wants.
    var owner: (account: Account, finger: String) {
        self == .su ? (HostFixture.bob, Touch.bob) : (HostFixture.alice, Touch.alice)
    }
}

/// What happens on the terminal while the touch is awaited.
enum Happening: String, CaseIterable, Sendable {
    case touch, password, interrupt, hangUp, resize, halfTyped, paste, bracketedPaste

    /// What is typed before the end, and must go nowhere.
    static let typed = "touch /tmp/typed"
}

@Suite("password or finger at one prompt, in the real programs", .timeLimit(.minutes(5)))
struct PromptMatrixTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(allowsOthers: true)
    }

    /// The program, and behind it one that shows what is left to read. login hangs up the process that had the
    /// terminal before, so that there it is the shell that it starts.
    private func begin(_ program: Asking) throws -> Terminal {
        let terminal: Terminal
        if program == .login {
            terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        } else {
            let line = "trap : INT; \(program.line.command); echo the-end; exec cat"
            terminal = try host.terminal(["sh", "-c", line], as: HostFixture.alice)
        }
        try terminal.expectInvitation()
        #expect(try terminal.mode().echoes == false)
        return terminal
    }

    private func act(_ happening: Happening, _ program: Asking, on terminal: Terminal) throws {
        let (account, finger) = program.owner
        switch happening {
        case .touch: try signet.touch(finger)
        case .password: try terminal.sendLine(account.password)
        case .interrupt: try terminal.control(.c)
        case .hangUp: terminal.hangUp()
        case .resize:
            for columns in [20, 200, 80] as [UInt16] {
                try terminal.resize(rows: 24, columns: columns)
            }
            try signet.touch(finger)
        case .halfTyped:
            try terminal.send(Happening.typed)
            try signet.touch(finger)
        case .paste:
            try terminal.send("wrong\r\(Happening.typed)\r\(Happening.typed)\r")
        case .bracketedPaste:
            try terminal.send("\u{1B}[200~wrong\r\(Happening.typed)\r\u{1B}[201~")
        }
    }

    @Test(
        "ends as it should, with the terminal as it was and nothing typed left over",
        arguments: Asking.allCases, Happening.allCases)
    func ends(_ program: Asking, _ happening: Happening) throws {
        let terminal = try begin(program)
        try act(happening, program, on: terminal)
        switch happening {
        case .touch, .password, .resize, .halfTyped:
            try terminal.expect(program.line.inside)
            try expectClean(terminal, program)
        case .interrupt:
            try signet.expectDenial("cancelled")
            if program == .login {
                try terminal.expectEnd()
            } else {
                try expectClean(terminal, program)
            }
            #expect(!terminal.transcript.contains(program.line.inside))
        case .hangUp:
            #expect(try terminal.expectEnd() != .exited(0))
            try signet.expectDenial("cancelled")
            #expect(try signet.failures(of: program.owner.account) == 0)
        case .paste, .bracketedPaste:
            try expectRefusedPaste(terminal, program)
        }
        #expect(throws: TestFault.self) { try host.read("/tmp/typed") }
    }

    /// The first line is a wrong password; what comes behind it belongs to no one.
    private func expectRefusedPaste(_ terminal: Terminal, _ program: Asking) throws {
        switch program {
        case .sudo, .login:
            if program == .login { try terminal.expect("Login incorrect") }
            if program == .sudo {
                try terminal.expectInvitation()
                try terminal.control(.c)
                try expectClean(terminal, program)
            }
        case .su, .pamtester: try expectClean(terminal, program)
        }
        #expect(!terminal.transcript.contains(program.line.inside))
        #expect(!terminal.transcript.contains(Happening.typed))
    }

    /// Whoever reads next finds nothing, and a terminal that echoes.
    private func expectClean(_ terminal: Terminal, _ program: Asking) throws {
        if program == .login {
            try terminal.sendLine("stty -a | tr ' ;' '\\n' | grep -xE -- '-?(echo|icanon|isig)'")
            try terminal.expect("isig\r\nicanon\r\necho\r\n")
            try terminal.sendLine("exit 0")
        } else {
            try terminal.expect("the-end\r\n")
            let mode = try terminal.mode()
            #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
            try terminal.sendLine("left over: nothing")
            // Once as it is echoed, and once as it is read.
            let between = try terminal.expect("left over: nothing\r\nleft over: nothing\r\n")
            #expect(between.isEmpty)
            try terminal.control(.d)
        }
        try terminal.expectEnd()
        #expect(!terminal.transcript.contains(Happening.typed))
    }
}
