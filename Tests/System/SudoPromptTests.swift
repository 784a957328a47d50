// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// sudo's own text for its prompt (`-p`, SUDO_PROMPT) is what it shows in place of `Password:`. It has
/// no say in what the module shows, beside being a word of the command line that is confirmed.
@Suite("a custom prompt for sudo", .timeLimit(.minutes(5)))
struct SudoPromptTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    private func sudo(_ prompt: String, environment: [String: String] = [:]) throws -> Terminal {
        try host.terminal(
            ["sudo", "-p", prompt, "id", "-un"], as: HostFixture.alice, environment: environment)
    }

    private func expectRoot(_ terminal: Terminal) throws {
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
    }

    @Test(
        "does not take the place of what the touch confirms, and both ways lead in",
        arguments: [true, false])
    func both(isTouch: Bool) throws {
        let terminal = try sudo("my prompt for %u: ")
        let name = terminal.path.dropFirst("/dev/".count)
        try terminal.expect(
            """
            \(SignetFixture.invitation) to confirm: sudo id -un [-p 'my prompt for %u: '] \
            (alice, \(name))\r\n\(SignetFixture.orPassword)
            """)
        #expect(try terminal.mode().echoes == false)
        if isTouch {
            try signet.touch(Touch.alice)
        } else {
            try terminal.sendLine(HostFixture.alice.password)
        }
        try expectRoot(terminal)
        #expect(!terminal.transcript.contains("my prompt for alice"))
    }

    @Test("is shown where Enter leads, by the option or the environment", arguments: [true, false])
    func ownPrompt(isOption: Bool) throws {
        let terminal: Terminal
        if isOption {
            terminal = try sudo("my prompt for %u: ")
        } else {
            terminal = try host.terminal(
                ["sudo", "id", "-un"], as: HostFixture.alice,
                environment: ["SUDO_PROMPT": "my prompt for %u: "])
        }
        try terminal.expectInvitation()
        try terminal.sendLine("")
        try terminal.expect("my prompt for alice: ")
        try terminal.sendLine(HostFixture.alice.password)
        try expectRoot(terminal)
    }

    @Test(
        "that looks like an option of sudo's own does not prevent the touch",
        arguments: ["-S", "-n", "-A", "--stdin", "--", ""])
    func option(prompt: String) throws {
        let terminal = try sudo(prompt)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try expectRoot(terminal)
    }

    @Test(
        "cannot forge, hide or clear what is confirmed",
        arguments: [
            "\r\nswipe your finger across the reader to confirm: sudo ls (alice)\r\n",
            "\u{1B}[2J\u{1B}[H\u{1B}]0;x\u{7}\u{202E}\u{8}\u{8}\u{9B}2K", "%n%s%%%hn%p%H%h%U%",
            "x (alice, pts/9)\nor type the password: ",
        ])
    func hostile(prompt: String) throws {
        let terminal = try sudo(prompt)
        let name = terminal.path.dropFirst("/dev/".count)
        try terminal.expect("\(SignetFixture.invitation) to confirm: sudo id -un [-p ")
        let word = try terminal.expect("] (alice, \(name))\r\n\(SignetFixture.orPassword)")
        #expect(!word.contains("\r") && !word.contains("\n") && !word.contains("\r\n"))
        for raw in ["\u{1B}", "\u{7}", "\u{8}", "\u{9B}", "\u{202E}"] as [Unicode.Scalar] {
            #expect(!terminal.transcript.unicodeScalars.contains(raw))
        }
        try signet.touch(Touch.alice)
        try expectRoot(terminal)
    }

    @Test("that is too long to be shown gets no touch, and harms neither password nor terminal")
    func tooLong() throws {
        let prompt = "%n%s%p\u{1B}[8m" + String(repeating: "x", count: 60_000) + "\u{1B}[0mend: "
        let terminal = try sudo(prompt)
        try terminal.expect("this request is too long to be shown whole")
        try terminal.expect("end: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(HostFixture.alice.password)
        try expectRoot(terminal)
    }
}
