// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("the keyring opens by touch", .timeLimit(.minutes(5)))
struct KeyringTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    /// A keyring that a login with the password has made and that holds an item; alice lets a touch
    /// open it.
    init() throws {
        signet = try SignetFixture.inhabited()
        try signet.installKeyring()
        let terminal = try login(byPassword: HostFixture.alice.password)
        try terminal.sendLine("keyring keep owl && echo 'ke''pt'")
        try terminal.expect("kept")
        #expect(try signet.keyringState(terminal) == "open")
        try signet.leave(terminal)
        try signet.enableKeyring()
    }

    // MARK: alice's sessions

    private func login(byPassword password: String) throws -> Terminal {
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try terminal.expectInvitation()
        try terminal.sendLine(password)
        try signet.openDesktop(terminal)
        return terminal
    }

    private func loginByTouch() throws -> Terminal {
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try signet.openDesktop(terminal)
        return terminal
    }

    @Test("after a touch it is open, and returns its secrets; without --keyring it stays locked")
    func opens() throws {
        let terminal = try loginByTouch()
        #expect(try signet.keyringState(terminal) == "open")
        try terminal.sendLine("keyring show")
        try terminal.expect("item: owl")
        try signet.leave(terminal)
        try host.journal.expect("the release") {
            $0["SIGNET_CHANGE"] == "released" && $0["SIGNET_REASON"] == "to login"
        }
        try signet.enableKeyring(isOn: false)
        let locked = try loginByTouch()
        #expect(try signet.keyringState(locked) == "locked")
        try signet.leave(locked)
    }

    @Test("after passwd it opens with the new password")
    func changedByPasswd() throws {
        let new = "alice's other password"
        let terminal = try loginByTouch()
        try terminal.sendLine("passwd")
        try terminal.expect("urrent password: ")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("New password: ")
        try terminal.sendLine(new)
        try terminal.expect("new password: ")
        try terminal.sendLine(new)
        try terminal.expect("updated successfully")
        #expect(try signet.status(HostFixture.alice).keyring == .on)
        try signet.leave(terminal)
        let again = try loginByTouch()
        #expect(!again.transcript.contains("the login password has changed"))
        #expect(try signet.keyringState(again) == "open")
        try again.sendLine("keyring show")
        try again.expect("item: owl")
        try signet.leave(again)
    }

    @Test("after chpasswd nothing stale is passed on: the touch works, and one message says so")
    func changedByRoot() throws {
        try signet.shell("echo 'alice:a third password' | chpasswd -c SHA512")
        // Who set it is not known, so it has to be given once.
        let first = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try first.expect("the password was set without the old one")
        try first.expect("Password: ")
        #expect(!first.transcript.contains(SignetFixture.invitation))
        try first.sendLine("a third password")
        try signet.openDesktop(first)
        try signet.leave(first)
        for isTold in [true, false] {
            let terminal = try loginByTouch()
            let told = "the login password has changed: run 'signet enable --keyring'"
            #expect(terminal.transcript.contains(told) == isTold)
            #expect(try signet.keyringState(terminal) == "locked")
            try signet.leave(terminal)
        }
        #expect(try signet.failedPasswords() == 0)
        #expect(try signet.status(HostFixture.alice).keyring == .passwordChanged)
        try signet.leave(try login(byPassword: "a third password"))
    }

    @Test("sudo never gets the password, whatever its line asks for")
    func sudo() throws {
        try host.writeService(
            "sudo",
            """
            auth required pam_signet.so keyring
            auth optional pam_exec.so expose_authtok stdout /usr/bin/tr -d '\\000'
            @include common-account

            """)
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        // pam_exec has to ask: nothing was handed on.
        try terminal.expect("assword")
        try terminal.sendLine("nothing")
        try terminal.expect("root\r\n")
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
    }
}

@Suite("a service of the network, and the login password", .timeLimit(.minutes(5)))
struct NetworkKeyringTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
        try signet.enableKeyring()
    }

    /// As OpenVPN's plugin does it: root asks, for a remote user, without PAM_RHOST and terminal.
    private func connect() throws -> Outcome {
        let service = try host.start(["pamtester", "openvpn", "alice", "authenticate"])
        signet.touchBlindly(Touch.alice) { service.ended != nil }
        return try service.expectEnd()
    }

    @Test(
        "gets none, though its stack asks for it",
        arguments: ["pam_signet.so keyring", "pam_signet.so"])
    func notGiven(module: String) throws {
        try host.writeService(
            "openvpn",
            """
            auth required \(module)
            auth optional pam_exec.so expose_authtok stdout /usr/bin/tr -d '\\000'
            auth required pam_unix.so

            """)
        let outcome = try connect()
        #expect(!outcome.succeeded)
        #expect(!(outcome.output + outcome.errors).contains(HostFixture.alice.password))
        #expect(!host.journal.entries.contains { $0["SIGNET_CHANGE"] == "released" })
    }
}

@Suite("KWallet opens by touch", .timeLimit(.minutes(5)))
struct WalletTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    /// A stand-in for kwalletd5, which would bring a desktop along: it keeps the key it was given.
    init() throws {
        signet = try SignetFixture.inhabited()
        try host.writeService(
            "login",
            """
            auth [success=1 conv_err=die default=ignore] pam_signet.so keyring
            auth requisite pam_unix.so nodelay try_first_pass
            auth required pam_permit.so
            auth optional pam_kwallet5.so
            @include common-account
            @include common-session
            session optional pam_kwallet5.so auto_start force_run kwalletd=/usr/local/bin/kwalletd5

            """)
        try host.write(
            "/usr/local/bin/kwalletd5",
            "#!/bin/sh\nhead -c 56 <&\"$2\" | sha256sum >/home/alice/key\n", mode: 0o755)
        try host.run(["mkfifo", "/home/alice/key"], as: HostFixture.alice)
    }

    @Test("the key that pam_kwallet5 passes on after a touch is the one after the password")
    func sameKey() throws {
        var keys: Set<String> = []
        for isTouch in [false, true] {
            let terminal = try host.terminal(
                ["login", "alice"], as: HostFixture.root, in: .console)
            try terminal.expectInvitation()
            if isTouch {
                try signet.touch(Touch.alice)
            } else {
                try terminal.sendLine(HostFixture.alice.password)
            }
            try terminal.expect("alice@linux$ ")
            try terminal.sendLine("echo \"key: $(cat key)\"; exit")
            try terminal.expect("key: ")
            // In what was typed it is a dollar sign.
            try terminal.expect("key: ")
            keys.insert(try terminal.expect(" "))
            try terminal.expectEnd()
            if !isTouch { try signet.enableKeyring() }
        }
        #expect(keys.count == 1)
        #expect(keys.first?.count == 64)
        #expect(keys.first?.hasPrefix("e3b0c442") == false, "it is not the digest of nothing")
    }
}
