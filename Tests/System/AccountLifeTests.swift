// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Real useradd, userdel, usermod, passwd and chpasswd, between an enrolment and a login.
@Suite("the life of an account, with the tools that end it", .timeLimit(.minutes(5)))
struct AccountLifeTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let successor = Account(name: "bob", uid: 4243, password: "another one 42")

    init() throws {
        signet = try SignetFixture.debian(enrolled: false)
        try host.show(.session(of: HostFixture.bob))
        try signet.shell("echo 'bob ALL=(ALL:ALL) ALL' >>/etc/sudoers")
        try enrol(HostFixture.bob)
        try expectTouch(HostFixture.bob)
    }

    private func add(_ account: Account, _ options: String = "-m") throws {
        try signet.shell("useradd \(options) -s /bin/bash -u \(account.uid) \(account.name)")
        try set(account)
    }

    private func set(_ account: Account) throws {
        try signet.shell(
            "echo \"\(account.name):\(account.password)\" | chpasswd -c SHA512 -s 1000")
    }

    private func enrol(_ account: Account) throws {
        // Root asks from the session that alice has at the seat.
        try host.show(.session(of: HostFixture.alice))
        let answer = try signet.enroll(account, as: Touch.alice)
        try host.show(.session(of: HostFixture.bob))
        #expect(answer == .done(DoneAnswer(finger: .rightIndex, prints: 1, state: .valid)))
    }

    private func sudo(_ account: Account) throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: account, in: .session(of: HostFixture.bob))
    }

    private func expectTouch(_ account: Account) throws {
        let terminal = try sudo(account)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    /// A login that takes no touch, and says why; with the password it is accepted.
    private func expectPassword(_ account: Account, told text: String) throws {
        let terminal = try sudo(account)
        try terminal.expect(text)
        try terminal.expect("password for \(account.name): ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(account.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    private static let replaced =
        "fingerprint login is off for bob: the account was renamed or replaced"
    private static let reset = "fingerprint login is off for bob: the password was set without"

    private func command(
        _ words: String..., as account: Account = HostFixture.root, input: String = ""
    ) throws -> Outcome {
        try host.run(
            [try Built.program("signet")] + words, as: account, in: .session(of: HostFixture.bob),
            input: input)
    }

    @Test("an account deleted and created again is not served by the former fingers")
    func recreated() throws {
        try signet.shell("userdel -r bob")
        try add(Self.successor)
        try expectPassword(Self.successor, told: Self.replaced)
        // The password, given at a login, does not adopt another person's fingers.
        try expectPassword(Self.successor, told: Self.replaced)
        let status = try command("status", as: Self.successor)
        #expect(status.ending == .exited(1))
        #expect(status.output.contains("the account was renamed or replaced"))
        let list = try command("list", as: Self.successor)
        #expect(list.ending == .exited(1))
        #expect(list.errors.contains("the account was renamed or replaced"))
        let doctor = try command("doctor", "--json")
        #expect(doctor.output.contains("credential-invalid"))
        // No finger is added to those that are there.
        try host.show(.session(of: HostFixture.alice))
        let answer = try signet.enroll(Self.successor, .leftIndex, as: Touch.bob)
        try host.show(.session(of: HostFixture.bob))
        #expect(answer == .denial(Denial(.invalidated, cause: .accountReplaced)))
        // Away with them: the successor starts anew.
        let gone = try command(
            "delete", "--all", "--password-stdin", as: Self.successor,
            input: Self.successor.password + "\n")
        #expect(gone.succeeded, "\(gone.errors)")
        #expect(throws: TestFault.self) { try host.read("/var/lib/signet/keys/4243.pub") }
        try enrol(Self.successor)
        try expectTouch(Self.successor)
    }

    @Test("nor one whose password and name are the same, with the same hash or without a password")
    func sameHash() throws {
        try signet.shell(
            """
            hash=$(getent shadow bob | cut -d: -f2)
            userdel -r bob
            useradd -m -s /bin/bash -u 4243 -p "$hash" bob
            """)
        try expectPassword(HostFixture.bob, told: Self.replaced)
    }

    @Test("nor one that got the home directory of the former")
    func keptHome() throws {
        try signet.shell("userdel bob")
        try add(Self.successor, "-M")
        try expectPassword(Self.successor, told: Self.reset)
    }

    @Test("root's new password is given once, and then a touch is enough")
    func chpasswd() throws {
        let changed = Self.successor
        try set(changed)
        try expectPassword(changed, told: Self.reset)
        try expectTouch(changed)
    }

    @Test(
        "root's new password, with 'signet enable' in place of a login", arguments: [false, true])
    func enable(byRoot: Bool) throws {
        try set(Self.successor)
        let enabled =
            byRoot
            ? try command("enable", "--account", "bob")
            : try command(
                "enable", "--password-stdin", as: Self.successor,
                input: Self.successor.password + "\n")
        #expect(enabled.succeeded, "\(enabled.errors)")
        try expectTouch(Self.successor)
    }

    @Test("a wrong password adopts nothing")
    func wrongPassword() throws {
        try signet.shell("userdel -r bob")
        try add(Self.successor)
        let refused = try command(
            "enable", "--password-stdin", as: Self.successor, input: "wrong\n")
        #expect(refused.ending == .exited(5))
        try expectPassword(Self.successor, told: Self.replaced)
    }

    @Test(
        "passwd by the account itself, a moved home, a locked and unlocked password change nothing")
    func events() throws {
        let changed = Account(name: "bob", uid: 4243, password: "quite another 42")
        let terminal = try host.terminal(
            ["passwd"], as: HostFixture.bob, in: .session(of: HostFixture.bob))
        try terminal.expect("urrent password: ")
        try terminal.sendLine(HostFixture.bob.password)
        for _ in 0..<2 {
            try terminal.expect("ew password: ")
            try terminal.sendLine(changed.password)
        }
        #expect(try terminal.expectEnd() == .exited(0))
        try expectTouch(changed)
        try signet.shell("usermod -m -d /home/henry bob; mkdir /home/bob")
        try expectTouch(changed)
        try signet.shell("usermod -L bob; usermod -U bob; chage -d 2026-01-02 bob")
        try expectTouch(changed)
        // A home that is restored on a later day than the password was set, and one that is away.
        try signet.shell(
            "cp -a /home/henry /home/copy; rm -r /home/henry; mv /home/copy /home/henry")
        try expectTouch(changed)
        try signet.shell("mount -t tmpfs home /home; mkdir /home/bob")
        try expectTouch(changed)
    }

    @Test("a renamed account is adopted by 'signet enable', and keeps its receipts")
    func renamed() throws {
        // Where the test's programs start, which is not dora's home.
        try signet.shell(
            "usermod -l dora bob; mkdir /home/dora; echo 'dora ALL=(ALL:ALL) ALL' >>/etc/sudoers")
        let dora = Account(name: "dora", uid: 4243, password: HostFixture.bob.password)
        let terminal = try sudo(dora)
        try terminal.expect(
            "fingerprint login is off for dora: the account was renamed or replaced")
        try terminal.expect("password for dora: ")
        try terminal.sendLine(dora.password)
        for account in [dora, HostFixture.root] {
            let name = account.uid == 0 ? ["--account", "dora"] : []
            let status = try host.run([try Built.program("signet"), "status"] + name, as: account)
            #expect(status.ending == .exited(1), "\(status.errors)")
            #expect(status.output.contains("the account was renamed or replaced"))
        }
        let disabled = try command(
            "disable", "--password-stdin", as: dora, input: dora.password + "\n")
        #expect(disabled.succeeded, "\(disabled.errors)\(disabled.output)")
        let enabled = try command(
            "enable", "--password-stdin", as: dora, input: dora.password + "\n")
        #expect(enabled.succeeded, "\(enabled.errors)")
        try expectTouch(dora)
        let log = try command("log", "--verify", as: dora)
        #expect(log.succeeded, "\(log.output)\(log.errors)")
        #expect(try command("list", as: dora).succeeded)
    }

    @Test("what a deleted account has left is deleted by root by its name, and by userdel's hook")
    func departed() throws {
        try signet.shell("userdel -r bob")
        #expect(
            try command("delete", "--all", "--account", "bob", as: HostFixture.alice).ending
                == .exited(1))
        let gone = try command("delete", "--all", "--account", "bob")
        #expect(gone.succeeded, "\(gone.errors)")
        #expect(throws: TestFault.self) { try host.read("/var/lib/signet/keys/4243.pub") }
        #expect(try command("delete", "--all", "--account", "bob").ending == .exited(1))

        try add(HostFixture.bob)
        try enrol(HostFixture.bob)
        try signet.shell("ln -s \(try Built.program("signet")) /usr/local/bin/signet")
        try signet.shell("mkdir -p /etc/shadow-maint/userdel-post.d")
        try host.install(
            "\(Layout.package)/debian/userdel", at: "/etc/shadow-maint/userdel-post.d/signet",
            mode: 0o755)
        try signet.shell("userdel -r bob")
        #expect(throws: TestFault.self) { try host.read("/var/lib/signet/keys/4243.pub") }
        #expect(try signet.shell("ls /var/lib/signet/private/accounts") == "")
    }

    @Test("a new account on an old uid starts anew with 'signet delete --all'")
    func oldUID() throws {
        try signet.shell("userdel -r bob")
        let ann = Account(name: "ann", uid: 4243, password: "ann's password")
        try add(ann)
        #expect(try command("status", as: ann).ending == .exited(1))
        let gone = try command(
            "delete", "--all", "--password-stdin", as: ann, input: ann.password + "\n")
        #expect(gone.succeeded, "\(gone.errors)")
        try enrol(ann)
    }
}
