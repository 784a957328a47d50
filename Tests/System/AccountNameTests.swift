// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

/// Accounts as directories have them: long names, names with a space, and name services that take
/// one name in several spellings.
@Suite("names of accounts, with real programs", .timeLimit(.minutes(5)))
struct AccountNameTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let upn = person("alice@corp.example")

    init() throws {
        signet = try SignetFixture.debian(enrolled: false)
    }

    private static func person(_ name: String) -> Account {
        Account(name: name, uid: HostFixture.bob.uid, password: "somebody's password")
    }

    /// Adds an account in bob's place, as a directory would: useradd takes few of these names.
    private func add(_ account: Account) throws {
        let home = "/home/\(account.name)"
        let text = """
            passwd='\(account.name):x:\(account.uid):\(account.uid)::\(home):/bin/bash'
            shadow='\(account.name):*:19000:0:99999:7:::'
            sed -i /^bob:/d /etc/passwd /etc/shadow
            printf '%s\\n' "$passwd" >>/etc/passwd
            printf '%s\\n' "$shadow" >>/etc/shadow
            printf '%s\\n' "\(account.name.replacing("\"", with: "\\\""))":"\(account.password)" |
                chpasswd -c SHA512 -s 1000
            install -d -o \(account.uid) -g \(account.uid) '\(home)'
            """
        try signet.shell(text)
        try host.show(.session(of: account))
    }

    /// Has the name service take names in capital letters, too.
    private func fold() throws {
        try signet.shell("mkdir -p /var/lib/nss")
        try host.install(
            Layout.products + "/libnss-fold.so", at: "/var/lib/nss/libnss_fold.so.2")
        try signet.shell(
            """
            echo /var/lib/nss >/etc/ld.so.conf.d/fold.conf
            ldconfig
            printf 'passwd: files fold\\nshadow: files fold\\ngroup: files\\n' >/etc/nsswitch.conf
            """)
        try signet.stop()
        try signet.start()
    }

    private func enrol(_ account: Account) throws {
        // Root asks from the session that alice has at the seat.
        try host.show(.session(of: HostFixture.alice))
        let answer = try signet.enroll(account, as: Touch.alice)
        try host.show(.session(of: account))
        #expect(answer == .done(DoneAnswer(finger: .rightIndex, prints: 1, state: .valid)))
    }

    private func command(
        _ words: String..., as account: Account, input: String = ""
    ) throws -> Outcome {
        try host.run(
            [try Built.program("signet")] + words, as: account, in: .session(of: account),
            input: input)
    }

    /// su to an account by one of its names, with a touch, and what the prompt shows.
    private func su(_ name: String, to account: Account) throws -> String {
        let terminal = try host.terminal(
            ["su", name, "-c", "id -un"], as: account, in: .session(of: account))
        try terminal.expect(SignetFixture.invitation)
        let shown = try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        try terminal.expect("\(account.name)\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        return shown
    }

    @Test(
        "of up to 255 bytes, with a space, a domain or letters of any script have fingers and log in",
        arguments: [
            "maximiliane.mustermann@corp.example.com", "CORP\\alice", "corp alice", "jürgen#1",
            String(repeating: "x", count: 255),
        ])
    func usable(_ name: String) throws {
        let account = Self.person(name)
        try add(account)
        try enrol(account)
        #expect(try su(name, to: account).contains("(\(name), pts/"))
        for words in [["status"], ["list"], ["log", "--verify"]] {
            let outcome = try host.run(
                [try Built.program("signet")] + words, as: account, in: .session(of: account))
            #expect(outcome.succeeded, "\(words) \(outcome.output)\(outcome.errors)")
        }
        // The receipts verify with stock OpenSSH, as 'signet log --export' says.
        let exported = try command("log", "--export", "1", "--to", "receipts", as: account)
        #expect(exported.succeeded, "\(exported.errors)")
        let verified = try host.run(
            ["bash", "-c", "cd receipts && \(Self.line(in: exported.output))"],
            as: account)
        #expect(verified.succeeded, "\(exported.output)\(verified.output)\(verified.errors)")
        // So does what its signing key signs, with the line that 'signet sign' prints.
        try signs(account)
        let doctor = try command("doctor", "--json", as: HostFixture.root)
        #expect(!doctor.output.contains("key-"), "\(doctor.output)")
        let gone = try command(
            "delete", "--all", "--password-stdin", as: account, input: account.password + "\n")
        #expect(gone.succeeded, "\(gone.errors)")
    }

    /// Makes a signing key, signs a file, and has stock OpenSSH check the signature.
    private func signs(_ account: Account) throws {
        let program = try Built.program("signet")
        let place = FixturePlace.session(of: account)
        for words in ["enable --signing --password-stdin", "sign text"] {
            let terminal = try host.terminal(
                [
                    "bash", "-c", "echo hello >text; echo \"$1\" | \(program) \(words)", "-",
                    account.password,
                ],
                as: account, in: place)
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.alice)
            #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        }
        let checked = try host.run(
            [
                "bash", "-c",
                """
                \(program) sign --public-key | grep namespaces= >signers
                ssh-keygen -Y verify -f signers -I "$1" -n file@signet -s text.sig <text
                """, "-", account.name,
            ], as: account, in: place)
        #expect(checked.succeeded, "\(checked.output)\(checked.errors)")
    }

    /// The command that the export prints.
    private static func line(in output: String) -> String {
        output.split(separator: "\n").first { $0.contains("ssh-keygen") }
            .map { $0.trimmingPrefix { $0 == " " } }.map(String.init) ?? "false"
    }

    @Test(
        "that cannot be a principal are refused by name, before a password or a scan",
        arguments: ["a*b", "a?b", "!a", "a,b", "\"a\""])
    func unusable(_ name: String) throws {
        let account = Self.person(name)
        try add(account)
        for words in [["enroll", "right-index"], ["import-fprintd"]] {
            let refused = try host.run(
                [try Built.program("signet")] + words, as: account, in: .session(of: account))
            #expect(refused.ending == .exited(1), "\(refused.output)\(refused.errors)")
            let told = "account \(name) cannot have fingers: its name must be text"
            #expect(refused.errors.contains(told), "\(refused.errors)")
            #expect(!refused.errors.contains("assword of"))
        }
    }

    @Test("in another spelling of the name service's log in under the name that it gives")
    func folded() throws {
        try fold()
        try add(Self.upn)
        try enrol(Self.upn)
        #expect(
            try su("ALICE@Corp.Example", to: Self.upn).contains("(alice@corp.example, pts/"))
        let terminal = try host.terminal(
            ["login", "ALICE@CORP.EXAMPLE"], as: HostFixture.root, in: .session(of: Self.upn))
        try terminal.expect("for login (alice@corp.example, pts/")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice)
        try terminal.expect("$ ")
        terminal.hangUp()
        let status = try command("status", "--account", "Alice@CORP.example", as: Self.upn)
        #expect(status.succeeded, "\(status.errors)")
        #expect(status.output.contains("fingerprint login works for alice@corp.example"))
        // The receipt has the one name, so the chain is one.
        #expect(try command("log", "--verify", as: Self.upn).succeeded)
    }

    @Test("that lead to a name of another uid are no account's, and get no touch")
    func inconsistent() throws {
        try fold()
        try add(Self.upn)
        try enrol(Self.upn)
        let name = "liar-alice@corp.example"
        // su(1) gives PAM the name that the name service gives; login(1) gives what was typed.
        let terminal = try host.terminal(
            ["login", name], as: HostFixture.root, in: .session(of: Self.upn))
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        terminal.hangUp()
        let status = try command("status", "--account", name, as: HostFixture.root)
        #expect(!status.succeeded)
        #expect(status.errors.contains("there is no account \(name)"), "\(status.errors)")
        // Nor does it stand for the account in a list.
        try host.write("/etc/signet/signet.conf", "[login]\naccounts = !\(name)\n")
        try signet.stop()
        try signet.start()
        _ = try su("alice@corp.example", to: Self.upn)
    }

    @Test("in another spelling are excluded, and admitted, by login.accounts")
    func foldedLists() throws {
        try fold()
        try add(Self.upn)
        try enrol(Self.upn)
        func configure(_ line: String) throws {
            try host.write("/etc/signet/signet.conf", "[login]\n\(line)\n")
            try signet.stop()
            try signet.start()
        }
        try configure("accounts = !ALICE@corp.example")
        let terminal = try host.terminal(
            ["su", "alice@corp.example", "-c", "id -un"], as: Self.upn,
            in: .session(of: Self.upn))
        try terminal.expect("Password: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        terminal.hangUp()
        let check = try command("config", "--check", as: HostFixture.root)
        #expect(!check.output.contains("no account"), "\(check.output)")
        try configure("accounts = Alice@Corp.Example")
        _ = try su("alice@corp.example", to: Self.upn)
        // Another account of the same uid is another account.
        try signet.shell("echo 'anna:x:4243:4243::/home/anna:/bin/bash' >>/etc/passwd")
        try configure("accounts = !anna")
        _ = try su("alice@corp.example", to: Self.upn)
        try configure("accounts = anna")
        let excluded = try command("status", as: Self.upn)
        #expect(excluded.ending == .exited(1), "\(excluded.output)")
        #expect(excluded.output.contains("login.accounts"))
    }
}
