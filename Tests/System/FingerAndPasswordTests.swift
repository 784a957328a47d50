// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// pam/examples/finger-and-password in real sudo and login, for an account whose touch may release
/// the login password: that must count for nothing here.
@Suite("finger and password, both", .timeLimit(.minutes(5)))
struct FingerAndPasswordTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
        try signet.installKeyring()
        try signet.enableKeyring()
        try install("login")
        try install("sudo")
    }

    /// Writes the example as a service; pam_unix without its two seconds after a failure.
    private func install(
        _ service: String, changing change: (String) -> String = { $0 }
    ) throws {
        let path = "\(Layout.package)/pam/examples/finger-and-password"
        let example = String(decoding: try Layout.read(path), as: UTF8.self)
            .replacing("pam_unix.so", with: "pam_unix.so nodelay")
        let rest =
            service == "login"
            ? """
            @include common-account
            @include common-session
            session optional pam_gnome_keyring.so auto_start

            """ : "@include common-account\n"
        try host.writeService(service, change(example) + rest)
    }

    private func sudo() throws -> Terminal {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("password for alice: ")
        return terminal
    }

    /// Types a password, and waits until the finger is asked for.
    private func type(_ password: String, on terminal: Terminal) throws {
        try terminal.sendLine(password)
        try terminal.expect(SignetFixture.invitation)
    }

    private func expectRefusal(by terminal: Terminal) throws {
        try terminal.expect("Sorry, try again.")
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    @Test("sudo succeeds with the password typed and a touch")
    func both() throws {
        let terminal = try sudo()
        try type(HostFixture.alice.password, on: terminal)
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!host.journal.entries.contains { $0["SIGNET_CHANGE"] == "released" })
    }

    @Test("^C at the password ends sudo, and no finger is asked for")
    func interrupted() throws {
        let terminal = try sudo()
        // sudo misses one that comes between its prompt and its wait for the answer.
        while terminal.ended == nil {
            try? terminal.control(.c)
            _ = try? terminal.expectEnd(within: .seconds(1))
        }
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("a touch without the password is refused", arguments: ["", "wrong"])
    func touchAlone(password: String) throws {
        let terminal = try sudo()
        // The finger is asked for when the password was typed, right or wrong, and not before.
        #expect(throws: (any Error).self) {
            try signet.reader().send(.scan(Touch.alice), within: .milliseconds(200))
        }
        try type(password, on: terminal)
        try signet.touch(Touch.alice)
        try expectRefusal(by: terminal)
    }

    @Test("the password without a touch is refused", arguments: [Touch.bob, Touch.nobody])
    func passwordAlone(finger: String) throws {
        let terminal = try sudo()
        try type(HostFixture.alice.password, on: terminal)
        try signet.touch(finger)
        for _ in 0..<2 {
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(finger)
        }
        try expectRefusal(by: terminal)
    }

    @Test(
        "the password without a reader, or without the daemon, is refused",
        arguments: [true, false])
    func nothingToTouch(hasDaemon: Bool) throws {
        try signet.stop()
        if hasDaemon { try signet.start(readers: []) }
        let terminal = try sudo()
        try terminal.sendLine(HostFixture.alice.password)
        try expectRefusal(by: terminal)
    }

    @Test("a password that is typed where the touch is awaited counts for nothing")
    func typedLate() throws {
        let terminal = try sudo()
        try type("wrong", on: terminal)
        try terminal.sendLine(HostFixture.alice.password)
        try signet.touch(Touch.alice)
        try expectRefusal(by: terminal)
    }

    @Test("with the touch first the password is still asked for, and has to be right")
    func touchFirst() throws {
        try install("sudo") { example in
            let lines = example.split(separator: "\n").filter { $0.hasPrefix("auth") }
            return lines.reversed().joined(separator: "\n") + "\n"
        }
        for password in [HostFixture.alice.password, "wrong"] {
            let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.alice)
            try terminal.expect("password for alice: ")
            try terminal.sendLine(password)
            if password == "wrong" {
                try expectRefusal(by: terminal)
            } else {
                try terminal.expect("root\r\n")
            }
        }
    }

    @Test("login opens the keyring with the password that was typed, and takes both")
    func keyring() throws {
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root)
        try terminal.expect("assword: ")
        try type(HostFixture.alice.password, on: terminal)
        try signet.touch(Touch.alice)
        try signet.openDesktop(terminal)
        #expect(try signet.keyringState(terminal) == "open")
        try signet.leave(terminal)
        #expect(!host.journal.entries.contains { $0["SIGNET_CHANGE"] == "released" })

        for (password, finger) in [("wrong", Touch.alice), ("", Touch.alice)] {
            let refused = try host.terminal(["login", "alice"], as: HostFixture.root)
            try refused.expect("assword: ")
            try type(password, on: refused)
            try signet.touch(finger)
            try refused.expect("Login incorrect")
        }
    }

    /// What `signet doctor` warns of, in the real libpam: `released-password`.
    @Test(
        "with keyring on the line in front of pam_unix the released password satisfies that",
        arguments: ["", "try_first_pass", "use_first_pass"])
    func released(options: String) throws {
        try install("login") { _ in
            "auth required pam_signet.so keyring\nauth required pam_unix.so nodelay \(options)\n"
        }
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("alice@linux$ ")
        #expect(!terminal.transcript.contains("assword: \r"))
        // Without the word it is asked for.
        guard options != "use_first_pass" else { return }
        try install("login") { _ in
            "auth required pam_signet.so\nauth required pam_unix.so nodelay \(options)\n"
        }
        let asked = try host.terminal(["login", "alice"], as: HostFixture.root)
        try asked.expectInvitation()
        try signet.touch(Touch.alice)
        try asked.expect("Password: ")
        try asked.sendLine("wrong")
        try asked.expect("Login incorrect")
    }
}
