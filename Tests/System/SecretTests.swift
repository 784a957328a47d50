// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("secrets by the command", .timeLimit(.minutes(5)))
struct SecretTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let program: String

    init() throws {
        program = try Built.program("signet")
        signet = try SignetFixture()
        try signet.enroll(HostFixture.alice, as: Touch.alice)
        try signet.enroll(HostFixture.bob, as: Touch.bob)
    }

    /// A shell's line, in which `signet` is the program.
    private func command(_ line: String) -> [String] {
        ["bash", "-c", "signet() { \(program) \"$@\"; }\nset -o pipefail\n\(line)"]
    }

    @discardableResult
    private func run(_ line: String, as account: Account = HostFixture.alice) throws -> Outcome {
        try host.run(command(line), as: account)
    }

    /// Runs a line that asks for one touch, and touches.
    private func touched(
        _ line: String, with id: String = Touch.alice, as account: Account = HostFixture.alice
    ) throws -> Outcome {
        let program = try host.start(command(line), as: account)
        try program.expectError(SignetFixture.invitation)
        try signet.touch(id)
        return try program.expectEnd()
    }

    @Test(
        "what a script stores is returned byte for byte after a touch",
        arguments: [
            "printf x", "printf 'a\\0b\\n\\377'", "head -c 65536 /dev/urandom", "echo line",
        ])
    func roundTrip(source: String) throws {
        let kept = try run("\(source) | tee in | signet secret set backup")
        #expect(kept.succeeded, "\(kept.errors)")
        let got = try touched("signet secret get backup >out && cmp in out && stat -c %s out")
        #expect(got.succeeded, "\(got.errors)")
        #expect(got.errors == "\(SignetFixture.invitation) to confirm: secret backup (alice)\n")
        let size = try run("stat -c %s in").output
        #expect(got.output == size)
        let logged = try host.journal.expect("the release") { $0["SIGNET_VERB"] == "secretGet" }
        #expect(logged["SIGNET_DECISION"] == "allow")
        #expect(logged["SIGNET_PURPOSE"] == "secret backup")
        #expect(logged["SIGNET_PEER_UID"] == "4242")
    }

    @Test("65,537 bytes, none, a second of one name, and a name with a newline are refused")
    func refused() throws {
        let long = try run("head -c 65537 /dev/zero | signet secret set long")
        #expect(long.ending == .exited(1) && long.errors.contains("longer than 65536 bytes"))
        let empty = try run("signet secret set empty </dev/null")
        #expect(empty.ending == .exited(1) && empty.errors.contains("the secret is empty"))
        #expect(try run("printf 1 | signet secret set mail").succeeded)
        let second = try run("printf 2 | signet secret set mail")
        #expect(second.ending == .exited(1))
        #expect(second.errors.contains("the secret mail already exists. Use '--replace'"))
        #expect(try run("printf 3 | signet secret set mail --replace").succeeded)
        #expect(try touched("signet secret get mail").output == "3")
        let name = try run("printf 1 | signet secret set $'a\\nb'")
        #expect(name.ending == .exited(2) && name.errors.contains("a\\x0ab is not a valid name"))
        let list = try run("signet secret list")
        #expect(list.output.contains("mail") && list.output.split(separator: "\n").count == 2)
    }

    @Test("a wrong finger and another user get nothing, and standard output stays empty")
    func withheld() throws {
        #expect(try run("printf kestrel | signet secret set mail").succeeded)
        let bob = try run("signet secret get mail --account alice", as: HostFixture.bob)
        #expect(bob.ending == .exited(1) && bob.output == "")
        #expect(bob.errors.contains("you may not do this for alice"))
        let program = try host.start(command("signet secret get mail"), as: HostFixture.alice)
        // What is expected may have come before: each invitation with what stands above it.
        for before in ["", "2 tries left\n", "one try left\n"] {
            try program.expectError(before + SignetFixture.invitation)
            try signet.touch(Touch.nobody)
        }
        let ended = try program.expectEnd()
        #expect(ended.ending == .exited(1) && ended.output == "")
        #expect(ended.errors.hasSuffix("signet: the finger did not match\n"))
        #expect(try signet.failures(of: HostFixture.alice) == 3)
        #expect(try touched("signet secret get mail").output == "kestrel")
    }

    @Test("root keeps and asks for alice, whose finger it takes; one not enrolled keeps nothing")
    func root() throws {
        let line = "printf 1 | signet secret set mail --account alice"
        #expect(try run(line, as: HostFixture.root).succeeded)
        let got = try touched("signet secret get mail --account alice", as: HostFixture.root)
        #expect(got.output == "1")
        let unnamed = try run("printf 1 | signet secret set mail", as: HostFixture.root)
        #expect(
            unnamed.ending == .exited(2) && unnamed.errors.contains("root must name the account"))
        let none = try run("printf 1 | signet secret set mail --account root", as: HostFixture.root)
        #expect(none.ending == .exited(1) && none.errors.contains("no finger is enrolled"))
    }

    @Test("a change of fingers ends it, with a warning in time, and the secret can be set again")
    func changed() throws {
        #expect(try run("printf 1 | signet secret set mail").succeeded)
        #expect(try run("signet list").output.contains("1 secret is sealed to these fingers"))
        let terminal = try host.terminal([program, "enroll", "left-ring"], as: HostFixture.alice)
        try terminal.expect("1 secret is sealed to the current fingers: after this change")
        try terminal.expect("assword")
        try terminal.control(.c)
        #expect(try terminal.expectEnd() == .exited(130))
        let deleted = try signet.ask(.delete(account: "alice", finger: nil))
        guard case .done(let done) = deleted else {
            Issue.record("\(deleted)")
            return
        }
        #expect(done.secrets == 1)
        try signet.enroll(HostFixture.alice, as: Touch.alice)
        let stale = try run("signet secret get mail")
        #expect(stale.ending == .exited(1) && stale.output == "")
        #expect(stale.errors.contains("the fingers have changed since the secret mail was stored"))
        #expect(try run("signet secret list").output.contains("set it again"))
        #expect(try run("printf 2 | signet secret set mail --replace").succeeded)
        #expect(try touched("signet secret get mail").output == "2")
        #expect(try run("signet secret delete mail").succeeded)
        #expect(try run("signet secret get mail").errors.contains("there is no secret mail"))
    }

    @Test("typed at a terminal it is invisible, asked for twice, and has no newline")
    func typed() throws {
        let terminal = try host.terminal([program, "secret", "set", "pin"], as: HostFixture.alice)
        try terminal.expect("Secret pin: ")
        #expect(try terminal.mode().echoes == false)
        try terminal.sendLine("kestrel umbrella")
        try terminal.expect("Repeat the secret: ")
        try terminal.sendLine("kestrel umbrella")
        try terminal.expect("the secret pin is stored for alice")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains("kestrel"))
        #expect(try touched("signet secret get pin").output == "kestrel umbrella")
        let shown = try host.terminal([program, "secret", "get", "pin"], as: HostFixture.alice)
        try shown.expect("\(SignetFixture.invitation) to confirm: secret pin (alice)\r\n")
        try signet.touch(Touch.alice)
        try shown.expect("kestrel umbrella\r\n")
        #expect(try shown.expectEnd() == .exited(0))
    }

    @Test("two lines that differ, and an empty one, keep nothing")
    func mistyped() throws {
        let terminal = try host.terminal([program, "secret", "set", "pin"], as: HostFixture.alice)
        try terminal.expect("Secret pin: ")
        try terminal.sendLine("one")
        try terminal.expect("Repeat the secret: ")
        try terminal.sendLine("two")
        try terminal.expect("the two entries differ: nothing was stored")
        #expect(try terminal.expectEnd() == .exited(1))
        let empty = try host.terminal([program, "secret", "set", "pin"], as: HostFixture.alice)
        try empty.expect("Secret pin: ")
        try empty.sendLine("")
        try empty.expect("the secret is empty: nothing was stored")
        #expect(try empty.expectEnd() == .exited(1))
        #expect(try run("signet secret list").output.contains("no secrets are stored for alice"))
    }

    @Test("^C at the prompt and while the finger is awaited ends with 130, and nothing came out")
    func interrupted() throws {
        let shell = try host.terminal(
            command("trap : INT; signet secret set pin; echo ended $?; read -r line"),
            as: HostFixture.alice)
        try shell.expect("Secret pin: ")
        try shell.send("half")
        try shell.control(.c)
        try shell.expect("ended 130")
        #expect(try shell.mode().echoes && !shell.transcript.contains("half"))
        shell.hangUp()
        #expect(try run("printf kestrel | signet secret set mail").succeeded)
        let terminal = try host.terminal([program, "secret", "get", "mail"], as: HostFixture.alice)
        try terminal.expect(SignetFixture.invitation)
        try terminal.control(.c)
        try terminal.expect("cancelled: nothing was changed")
        #expect(try terminal.expectEnd() == .exited(130))
        #expect(!terminal.transcript.contains("kestrel"))
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("a secret that is not text is not shown on a terminal, unless an option says so")
    func binary() throws {
        #expect(try run("printf 'a\\033[2Jb' | signet secret set mail").succeeded)
        for (options, shown) in [([], "is not text and was not shown"), (["--force"], "b\r\n")] {
            let terminal = try host.terminal(
                [program, "secret", "get", "mail"] + options, as: HostFixture.alice)
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.alice)
            try terminal.expect(shown)
            #expect(try terminal.expectEnd() == .exited(options.isEmpty ? 1 : 0))
        }
    }

    @Test("a full disk is reported, not ignored")
    func fullDisk() throws {
        #expect(try run("printf kestrel | signet secret set mail").succeeded)
        let outcome = try touched("signet secret get mail >/dev/full")
        #expect(outcome.ending == .exited(4))
        #expect(outcome.errors.contains("could not be written to standard output"))
    }

    @Test("each release is in the log; stock ssh-keygen accepts its receipt for this use only")
    func receipt() throws {
        #expect(try run("printf kestrel | signet secret set mail").succeeded)
        #expect(try touched("signet secret get mail").succeeded)
        #expect(try run("signet log").output.contains(" signet \"secret mail\" fingerprint\n"))
        let verified = try run("signet log --verify")
        #expect(verified.succeeded && verified.output.hasPrefix("1 receipt: "))
        let exported = try run("signet log --export 1 --to receipt")
        #expect(exported.succeeded, "\(exported.errors)")
        let check = try #require(exported.output.split(separator: "\n").last)
        #expect(check.contains("-n secret@signet"))
        #expect(try run("cd receipt && \(check)").output.contains("Good \"secret@signet\""))
        let asLogin = check.replacing("secret@signet", with: "login@signet")
        #expect(!(try run("cd receipt && \(asLogin)")).succeeded)
        #expect(try !run("cat receipt/*").output.contains("kestrel"))
    }

    @Test("what is kept holds no secret in the clear, and is the daemon's alone")
    func atRest() throws {
        #expect(try run("printf kestrel-umbrella | signet secret set mail").succeeded)
        #expect(try touched("signet secret get mail").succeeded)
        let found = try host.run([
            "grep", "-r", "-l", "-e", "kestrel", "/var/lib/signet", "/run", "/var/log",
        ])
        #expect(found.output == "", "\(found.output)")
        let modes = try signet.shell(
            "find \(SignetFixture.state(of: HostFixture.alice))/secrets -printf '%m,%u\n' | sort -u"
        )
        #expect(modes == "600,root\n700,root\n")
    }

    @Test("a remote session is refused before anything is asked")
    func remote() throws {
        #expect(try run("printf kestrel | signet secret set mail").succeeded)
        let terminal = try host.terminal(
            command("\(program) secret get mail"), as: HostFixture.alice,
            in: .remoteSession(of: HostFixture.alice))
        try terminal.expect("fingerprint login does not work in remote sessions")
        #expect(try terminal.expectEnd() == .exited(1))
        #expect(!terminal.transcript.contains("kestrel"))
    }
}
