// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@Suite("the host of a test")
struct HostFixtureTests {
    @Test("alice becomes root through real sudo with her password")
    func sudoByPassword() throws {
        let host = try HostFixture()
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("password for alice: ")
        #expect(try terminal.mode().echoes == false)
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
    }

    @Test("sudo refuses a wrong password, another's password, and bob")
    func sudoRefuses() throws {
        let host = try HostFixture()
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        for wrong in ["not it", HostFixture.bob.password, HostFixture.root.password] {
            try terminal.expect("password for alice: ")
            try terminal.sendLine(wrong)
        }
        try terminal.expect("3 incorrect password attempts")
        #expect(try terminal.expectEnd() == .exited(1))

        let bob = try host.terminal(["sudo", "id", "-un"], as: HostFixture.bob)
        try bob.expect("password for bob: ")
        try bob.sendLine(HostFixture.bob.password)
        try bob.expect("bob is not in the sudoers file")
        #expect(try bob.expectEnd() == .exited(1))
    }

    @Test("su accepts the other user's password, and refuses the caller's own")
    func su() throws {
        let host = try HostFixture()
        let allowed = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try allowed.expect("Password: ")
        try allowed.sendLine(HostFixture.bob.password)
        try allowed.expect("bob\r\n")
        #expect(try allowed.expectEnd() == .exited(0))

        let refused = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try refused.expect("Password: ")
        try refused.sendLine(HostFixture.alice.password)
        try refused.expect("Authentication failure")
        #expect(try refused.expectEnd() == .exited(1))
    }

    @Test("login lets alice in by her password, after a wrong one was refused")
    func login() throws {
        let host = try HostFixture()
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try terminal.expect("Password: ")
        try terminal.sendLine("not it")
        try terminal.expect("Login incorrect")
        try terminal.expect("login: ")
        try terminal.sendLine("alice")
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("tty; id -un; exit 7")
        try terminal.expect("\(terminal.path)\r\nalice\r\n")
        try terminal.expectEnd()
    }

    @Test("a shell in the fixture controls its jobs: ^Z stops, fg continues, ^C ends")
    func jobs() throws {
        let host = try HostFixture()
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("alice@linux$ ")
        let shell = try terminal.foregroundGroup()
        try terminal.sendLine("sh -c 'echo began; exec cat'")
        try terminal.expect("\nbegan\r\n")
        #expect(try terminal.foregroundGroup() != shell)
        try terminal.control(.z)
        try terminal.expect("Stopped")
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("fg")
        try terminal.expect("exec cat'\r\n")
        try terminal.sendLine("again")
        try terminal.expect("again\r\nagain\r\n")
        try terminal.control(.c)
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("stty size")
        try terminal.expect("24 80\r\n")
        try terminal.resize(rows: 50, columns: 132)
        try terminal.sendLine("stty size; exit 3")
        try terminal.expect("50 132\r\n")
        #expect(try terminal.expectEnd() == .exited(3))
    }

    @Test("a hang-up ends the session")
    func hangUp() throws {
        let terminal = try HostFixture().terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("alice@linux$ ")
        terminal.hangUp()
        #expect(try terminal.expectEnd() == .killed(SIGHUP))
        #expect(throws: TestFault.self) { try terminal.send("x") }
    }

    @Test("what does not appear fails with all that appeared")
    func inVain() throws {
        let terminal = try Terminal(Command(["sh", "-c", "echo something; exec cat"]))
        try terminal.expect("something")
        let fault = #expect(throws: TestFault.self) {
            try terminal.expect("else", within: .milliseconds(50))
        }
        #expect(fault?.description.contains("something") == true)
        try terminal.control(.d)
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(throws: TestFault.self) { try terminal.expect("else") }
    }

    @Test("what appears on a terminal can be shown elsewhere too")
    func copies() throws {
        let host = try HostFixture()
        let file = unsafe open(host.path("/tmp/shown"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(file >= 0)
        try host.terminal(["echo", "shown"], as: HostFixture.bob, copyingTo: file).expectEnd()
        #expect(try host.read("/tmp/shown") == Array("shown\r\n".utf8))
    }

    @Test("a missing program is an error, not an ending")
    func missing() throws {
        let host = try HostFixture()
        #expect(throws: TestFault.self) { try host.run(["/nowhere/program"]) }
        #expect(throws: TestFault.self) { try Terminal(Command(["/nowhere/program"])) }
    }

    @Test("what programs log is read: syslog with its fields, the native protocol with its own")
    func journal() throws {
        let host = try HostFixture()
        try host.run(
            ["logger", "-t", "somebody", "-p", "auth.warning", "a: b"], as: HostFixture.alice)
        let line = try host.journal.expect("the line") { $0.message == "a: b" }
        #expect(line.priority == 4)
        #expect(line["SYSLOG_FACILITY"] == "4")
        #expect(line["SYSLOG_IDENTIFIER"] == "somebody")
        #expect(line.uid == HostFixture.alice.uid)

        let fields = "MESSAGE=two\nMESSAGE=lines\nPRIORITY=3\nSIGNET_REASON=lid"
        try host.run(["logger", "--journald"], input: "\(fields)\n")
        let record = try host.journal.expect("the record") { $0["SIGNET_REASON"] != nil }
        #expect(record.message == "two\nlines")
        #expect(record["SIGNET_REASON"] == "lid")
        #expect(record.priority == 3)
        #expect(record.uid == 0)
    }

    @Test("a program can be stopped, continued and killed; its output is kept")
    func signals() throws {
        let host = try HostFixture()
        let program = try host.start(["sh", "-c", "echo up; exec sleep 1000"])
        try program.expect("up\n")
        program.suspend()
        let status = String(
            decoding: try Layout.read("/proc/\(program.pid)/status"), as: UTF8.self)
        #expect(status.contains("State:\tT (stopped)"))
        program.signal(SIGCONT)
        program.signal(SIGTERM)
        #expect(try program.expectEnd().ending == .killed(SIGTERM))
        #expect(program.output == "up\n")
    }

    @Test("root in the fixture cannot change the machine")
    func readOnly() throws {
        let before = try digest()
        let host = try HostFixture()
        for path in ["/usr/x", "/usr/bin/x", "\(Layout.package)/x", "/sys/x"] {
            #expect(try host.run(["touch", path]).succeeded == false, "\(path)")
        }
        for file in ["/etc/passwd", "/etc/pam.d/common-auth", "/var/lib/signet/x", "/tmp/x.host"] {
            #expect(try host.run(["sh", "-c", "echo x >>\(file)"]).succeeded, "\(file)")
        }
        try host.run(["passwd", "-d", "root"])
        try host.installModule("/proc/self/exe", as: "pam_none.so")
        for path in ["\(host.moduleDirectory)/pam_none.so", "/tmp/x.host"] {
            #expect(throws: TestFault.self) { try Layout.read(path) }
        }
        host.end()
        #expect(try digest() == before)
    }

    @Test(
        "a directory is seen in the fixture where it is, under /root for example, but not changed")
    func seen() throws {
        let made = try Program(Command(["mktemp", "-d", "/root/host.XXXXXX"])).expectEnd()
        let directory = String(made.output.dropLast())
        defer { _ = unsafe rmdir(directory) }
        let host = try HostFixture(seeing: [directory])
        #expect(try host.run(["test", "-d", directory]).succeeded)
        #expect(try host.run(["ls", Layout.package], as: HostFixture.alice).succeeded)
        #expect(try host.run(["touch", "\(directory)/x"]).succeeded == false)
        #expect(throws: TestFault.self) { try HostFixture(seeing: ["/nowhere/at/all"]) }
    }

    @Test("an installed module is the one that PAM loads in the fixture")
    func module() throws {
        let host = try HostFixture()
        try host.installModule("\(host.moduleDirectory)/pam_permit.so", as: "pam_signet.so")
        try host.writeService(
            "sudo", "auth required pam_signet.so\naccount required pam_permit.so")
        let allowed = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try allowed.expect("root\r\n")
        #expect(try allowed.expectEnd() == .exited(0))

        try host.installModule("\(host.moduleDirectory)/pam_deny.so", as: "pam_signet.so")
        let refused = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try refused.expect("incorrect password attempt")
        #expect(try refused.expectEnd() == .exited(1))
    }

    @Test("the end of a fixture is the end of everything on it, even what ran on its own")
    func end() throws {
        let host = try HostFixture()
        let daemon = try host.start(["sh", "-c", "setsid sleep 1001 & echo up; exec sleep 1002"])
        try daemon.expect("up\n")
        let terminal = try host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("alice@linux$ ")
        host.end()
        #expect(daemon.ended == .killed(SIGKILL))
        #expect(terminal.ended == .killed(SIGKILL))
        #expect(try processes(inFixture: host.pid).isEmpty)
        #expect(throws: TestFault.self) { try host.run(["true"]) }
    }

    @Test("a killed owner takes the fixture along: no process, no mount is left")
    func killed() throws {
        // Stands for a test run: it holds the fixture's standard input, and is killed.
        let owner = try Program(
            Command([
                "sh", "-c",
                """
                { echo; exec sleep 1003; } | unshare --mount --pid --uts --fork --kill-child \
                    --propagation private sh '\(Layout.package)/Tests/HostFixture/host.sh' & wait
                """,
            ]))
        try owner.expect("ready ")
        let words = owner.output.split(whereSeparator: \.isWhitespace)
        // Behind it stands the control group, which the next fixture removes.
        let pid = try #require(words.dropLast().last.flatMap { Int32($0) })
        let namespace = try mountNamespace(of: pid)
        #expect(try processes(inNamespace: namespace).contains(pid))
        owner.signal(SIGKILL)
        for sleeper in try processes(named: "sleep 1003") { kill(sleeper, SIGKILL) }
        // Its outputs are closed by the last process of it, on its way out.
        try owner.expectEnd()
        let deadline = ContinuousClock.now + .seconds(10)
        while try !processes(inNamespace: namespace).isEmpty {
            try #require(ContinuousClock.now < deadline)
        }
    }

    private func digest() throws -> String {
        let sum = try Program(
            Command(["sh", "-c", "find /etc /var/lib/sudo -type f -exec sha256sum {} + | sort"]))
        return try sum.expectEnd().output
    }

    private func mountNamespace(of pid: Int32) throws -> String {
        let outcome = try Program(Command(["readlink", "/proc/\(pid)/ns/mnt"])).expectEnd()
        return outcome.output
    }

    private func processes(inNamespace namespace: String) throws -> [Int32] {
        let name = namespace.trimmingSuffix { $0 == "\n" }
        return try numbers(
            "for p in /proc/[0-9]*; do [ \"$(readlink $p/ns/mnt)\" = '\(name)' ] "
                + "&& echo ${p#/proc/}; done; true")
    }

    private func processes(inFixture pid: Int32) throws -> [Int32] {
        try numbers("[ -e /proc/\(pid) ] && echo \(pid); true")
    }

    private func processes(named name: String) throws -> [Int32] {
        try numbers(
            "for p in /proc/[0-9]*; do [ \"$(tr '\\0' ' ' <$p/cmdline)\" = '\(name) ' ] "
                + "&& echo ${p#/proc/}; done; true")
    }

    private func numbers(_ script: String) throws -> [Int32] {
        let outcome = try Program(Command(["sh", "-c", script])).expectEnd()
        return outcome.output.split(separator: "\n").compactMap { Int32($0) }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isDropped(last) { text.removeLast() }
        return text
    }

    @Test("keeps each program where systemd would: in a session, a user's manager, or a service")
    func places() throws {
        let host = try HostFixture()
        let user = "/user.slice/user-4242.slice"
        for (place, group) in [
            (nil, "\(user)/session-c4242.scope"),
            (.remoteSession(of: HostFixture.alice), "\(user)/session-r4242.scope"),
            (.manager(of: HostFixture.alice), "\(user)/user@4242.service/app.slice"),
            (.unit("cron.service"), "/system.slice/cron.service"),
        ] as [(FixturePlace?, String)] {
            for account in [HostFixture.alice, HostFixture.root] {
                let outcome = try host.run(["cat", "/proc/self/cgroup"], as: account, in: place)
                #expect(outcome.output.hasSuffix("0::\(group)\n"), "\(outcome)")
            }
        }
        // What they start stays there.
        let child = try host.run(["sh", "-c", "setsid cat /proc/self/cgroup"], as: HostFixture.bob)
        #expect(child.output.contains("session-c4243.scope"))
    }

    @Test("leaves no control group behind, and removes what a killed run has left")
    func groups() throws {
        let root = try Scratch()
        // The machine's groups, for this test's programs alone.
        func shell(_ line: String) throws -> String {
            let text = "mount -t cgroup2 cgroup2 \(root.path); cd \(root.path)/$own; " + line
            let own = "own=$(sed -n 's/^0:://p' /proc/self/cgroup); "
            return try TestSupport.Program(
                Command([
                    "unshare", "--mount", "--propagation", "private", "sh", "-ec", own + text,
                ])
            ).expectEnd().output
        }
        #expect(try shell("mkdir -p signet-fixture.left/a/b; ls -d signet-fixture.left") != "")
        let host = try HostFixture()
        #expect(try shell("ls -d signet-fixture.left || true") == "")
        let group = try #require(host.group.split(separator: "/").last)
        #expect(try shell("ls -d \(group)") == "\(group)\n")
        try host.run(["true"], as: HostFixture.alice)
        let program = try host.start(["sleep", "1000"], in: .unit("cron.service"))
        host.end()
        #expect(try program.expectEnd().ending == .killed(SIGKILL))
        #expect(try shell("ls -d \(group) || true") == "")
    }

    @Test("stops all programs of a place where they are, and resumes them")
    func freezer() throws {
        let host = try HostFixture()
        let terminal = try host.terminal(["cat"], as: HostFixture.alice)
        try host.freeze(.session(of: HostFixture.alice))
        try terminal.sendLine("on")
        // The terminal itself echoes; the program would say it once more.
        try terminal.expect("on\r\n")
        #expect(!terminal.transcript.contains("on\r\non"))
        try host.freeze(.session(of: HostFixture.alice), false)
        try terminal.expect("on\r\n")
    }
}
