// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@Suite("the stage")
struct StageTests {
    @Test("alice becomes root through real sudo with her password")
    func sudoByPassword() throws {
        let stage = try Stage()
        let terminal = try stage.terminal(["sudo", "id", "-un"], as: Stage.alice)
        try terminal.expect("password for alice: ")
        #expect(try terminal.mode().echoes == false)
        try terminal.sendLine(Stage.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(Stage.alice.password))
    }

    @Test("sudo refuses a wrong password, another's password, and bob")
    func sudoRefuses() throws {
        let stage = try Stage()
        let terminal = try stage.terminal(["sudo", "id", "-un"], as: Stage.alice)
        for wrong in ["not it", Stage.bob.password, Stage.root.password] {
            try terminal.expect("password for alice: ")
            try terminal.sendLine(wrong)
        }
        try terminal.expect("3 incorrect password attempts")
        #expect(try terminal.expectEnd() == .exited(1))

        let bob = try stage.terminal(["sudo", "id", "-un"], as: Stage.bob)
        try bob.expect("password for bob: ")
        try bob.sendLine(Stage.bob.password)
        try bob.expect("bob is not in the sudoers file")
        #expect(try bob.expectEnd() == .exited(1))
    }

    @Test("su lets in by the other's password, and refuses one's own")
    func su() throws {
        let stage = try Stage()
        let allowed = try stage.terminal(["su", "bob", "-c", "id -un"], as: Stage.alice)
        try allowed.expect("Password: ")
        try allowed.sendLine(Stage.bob.password)
        try allowed.expect("bob\r\n")
        #expect(try allowed.expectEnd() == .exited(0))

        let refused = try stage.terminal(["su", "bob", "-c", "id -un"], as: Stage.alice)
        try refused.expect("Password: ")
        try refused.sendLine(Stage.alice.password)
        try refused.expect("Authentication failure")
        #expect(try refused.expectEnd() == .exited(1))
    }

    @Test("login lets alice in by her password, after a wrong one was refused")
    func login() throws {
        let stage = try Stage()
        let terminal = try stage.terminal(["login", "alice"], as: Stage.root, in: .console)
        try terminal.expect("Password: ")
        try terminal.sendLine("not it")
        try terminal.expect("Login incorrect")
        try terminal.expect("login: ")
        try terminal.sendLine("alice")
        try terminal.expect("Password: ")
        try terminal.sendLine(Stage.alice.password)
        try terminal.expect("alice@stage$ ")
        try terminal.sendLine("tty; id -un; exit 7")
        try terminal.expect("\(terminal.path)\r\nalice\r\n")
        try terminal.expectEnd()
    }

    @Test("a shell on the stage controls its jobs: ^Z stops, fg goes on, ^C ends")
    func jobs() throws {
        let stage = try Stage()
        let terminal = try stage.terminal(["bash", "-i"], as: Stage.alice)
        try terminal.expect("alice@stage$ ")
        let shell = try terminal.foregroundGroup()
        try terminal.sendLine("sh -c 'echo began; exec cat'")
        try terminal.expect("\nbegan\r\n")
        #expect(try terminal.foregroundGroup() != shell)
        try terminal.control(.z)
        try terminal.expect("Stopped")
        try terminal.expect("alice@stage$ ")
        try terminal.sendLine("fg")
        try terminal.expect("exec cat'\r\n")
        try terminal.sendLine("again")
        try terminal.expect("again\r\nagain\r\n")
        try terminal.control(.c)
        try terminal.expect("alice@stage$ ")
        try terminal.sendLine("stty size")
        try terminal.expect("24 80\r\n")
        try terminal.resize(rows: 50, columns: 132)
        try terminal.sendLine("stty size; exit 3")
        try terminal.expect("50 132\r\n")
        #expect(try terminal.expectEnd() == .exited(3))
    }

    @Test("a hang-up ends the session")
    func hangUp() throws {
        let terminal = try Stage().terminal(["bash", "-i"], as: Stage.alice)
        try terminal.expect("alice@stage$ ")
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
        let stage = try Stage()
        let file = unsafe open(stage.path("/tmp/shown"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(file >= 0)
        try stage.terminal(["echo", "shown"], as: Stage.bob, copyingTo: file).expectEnd()
        #expect(try stage.read("/tmp/shown") == Array("shown\r\n".utf8))
    }

    @Test("a program that is not there is an error, not an ending")
    func missing() throws {
        let stage = try Stage()
        #expect(throws: TestFault.self) { try stage.run(["/nowhere/program"]) }
        #expect(throws: TestFault.self) { try Terminal(Command(["/nowhere/program"])) }
    }

    @Test("what programs log is read: syslog with its fields, the native protocol with its own")
    func journal() throws {
        let stage = try Stage()
        try stage.run(["logger", "-t", "somebody", "-p", "auth.warning", "a: b"], as: Stage.alice)
        let line = try stage.journal.expect("the line") { $0.message == "a: b" }
        #expect(line.priority == 4)
        #expect(line["SYSLOG_FACILITY"] == "4")
        #expect(line["SYSLOG_IDENTIFIER"] == "somebody")
        #expect(line.uid == Stage.alice.uid)

        let fields = "MESSAGE=two\nMESSAGE=lines\nPRIORITY=3\nSIGNET_REASON=lid"
        try stage.run(["logger", "--journald"], input: "\(fields)\n")
        let record = try stage.journal.expect("the record") { $0["SIGNET_REASON"] != nil }
        #expect(record.message == "two\nlines")
        #expect(record["SIGNET_REASON"] == "lid")
        #expect(record.priority == 3)
        #expect(record.uid == 0)
    }

    @Test("a program can be stopped, continued and killed; its output is kept")
    func signals() throws {
        let stage = try Stage()
        let program = try stage.start(["sh", "-c", "echo up; exec sleep 1000"])
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

    @Test("root on the stage cannot change the machine")
    func readOnly() throws {
        let before = try digest()
        let stage = try Stage()
        for path in ["/usr/x", "/usr/bin/x", "\(Layout.package)/x", "/sys/x"] {
            #expect(try stage.run(["touch", path]).succeeded == false, "\(path)")
        }
        for file in ["/etc/passwd", "/etc/pam.d/common-auth", "/var/lib/signet/x", "/tmp/x.stage"] {
            #expect(try stage.run(["sh", "-c", "echo x >>\(file)"]).succeeded, "\(file)")
        }
        try stage.run(["passwd", "-d", "root"])
        try stage.installModule("/proc/self/exe", as: "pam_none.so")
        for path in ["\(stage.moduleDirectory)/pam_none.so", "/tmp/x.stage"] {
            #expect(throws: TestFault.self) { try Layout.read(path) }
        }
        stage.end()
        #expect(try digest() == before)
    }

    @Test("a directory is seen on the stage where it is, under /root for example, but not changed")
    func seen() throws {
        let made = try Program(Command(["mktemp", "-d", "/root/stage.XXXXXX"])).expectEnd()
        let directory = String(made.output.dropLast())
        defer { _ = unsafe rmdir(directory) }
        let stage = try Stage(seeing: [directory])
        #expect(try stage.run(["test", "-d", directory]).succeeded)
        #expect(try stage.run(["ls", Layout.package], as: Stage.alice).succeeded)
        #expect(try stage.run(["touch", "\(directory)/x"]).succeeded == false)
        #expect(throws: TestFault.self) { try Stage(seeing: ["/nowhere/at/all"]) }
    }

    @Test("an installed module is the one that PAM loads on the stage")
    func module() throws {
        let stage = try Stage()
        try stage.installModule("\(stage.moduleDirectory)/pam_permit.so", as: "pam_signet.so")
        try stage.writeService(
            "sudo", "auth required pam_signet.so\naccount required pam_permit.so")
        let allowed = try stage.terminal(["sudo", "id", "-un"], as: Stage.alice)
        try allowed.expect("root\r\n")
        #expect(try allowed.expectEnd() == .exited(0))

        try stage.installModule("\(stage.moduleDirectory)/pam_deny.so", as: "pam_signet.so")
        let refused = try stage.terminal(["sudo", "id", "-un"], as: Stage.alice)
        try refused.expect("incorrect password attempt")
        #expect(try refused.expectEnd() == .exited(1))
    }

    @Test("the end of a stage is the end of everything on it, even what ran on its own")
    func end() throws {
        let stage = try Stage()
        let daemon = try stage.start(["sh", "-c", "setsid sleep 1001 & echo up; exec sleep 1002"])
        try daemon.expect("up\n")
        let terminal = try stage.terminal(["bash", "-i"], as: Stage.alice)
        try terminal.expect("alice@stage$ ")
        stage.end()
        #expect(daemon.ended == .killed(SIGKILL))
        #expect(terminal.ended == .killed(SIGKILL))
        #expect(try processes(onStage: stage.pid).isEmpty)
        #expect(throws: TestFault.self) { try stage.run(["true"]) }
    }

    @Test("a killed owner takes the stage along: no process, no mount is left")
    func killed() throws {
        // Stands for a test run: it holds the stage's standard input, and is killed.
        let owner = try Program(
            Command([
                "sh", "-c",
                """
                { echo; exec sleep 1003; } | unshare --mount --pid --uts --fork --kill-child \
                    --propagation private sh '\(Layout.package)/Tests/Stage/stage.sh' & wait
                """,
            ]))
        try owner.expect("ready ")
        let words = owner.output.split(whereSeparator: \.isWhitespace)
        // Behind it stands the control group, which the next stage removes.
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
        return try sum.expectEnd(within: .seconds(30)).output
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

    private func processes(onStage pid: Int32) throws -> [Int32] {
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
        let stage = try Stage()
        let user = "/user.slice/user-4242.slice"
        for (place, group) in [
            (nil, "\(user)/session-c4242.scope"),
            (.remoteSession(of: Stage.alice), "\(user)/session-r4242.scope"),
            (.manager(of: Stage.alice), "\(user)/user@4242.service/app.slice"),
            (.unit("cron.service"), "/system.slice/cron.service"),
        ] as [(StagePlace?, String)] {
            for account in [Stage.alice, Stage.root] {
                let outcome = try stage.run(["cat", "/proc/self/cgroup"], as: account, in: place)
                #expect(outcome.output.hasSuffix("0::\(group)\n"), "\(outcome)")
            }
        }
        // What they start stays there.
        let child = try stage.run(["sh", "-c", "setsid cat /proc/self/cgroup"], as: Stage.bob)
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
        #expect(try shell("mkdir -p signet-stage.left/a/b; ls -d signet-stage.left") != "")
        let stage = try Stage()
        #expect(try shell("ls -d signet-stage.left || true") == "")
        let group = try #require(stage.group.split(separator: "/").last)
        #expect(try shell("ls -d \(group)") == "\(group)\n")
        try stage.run(["true"], as: Stage.alice)
        let program = try stage.start(["sleep", "1000"], in: .unit("cron.service"))
        stage.end()
        #expect(try program.expectEnd().ending == .killed(SIGKILL))
        #expect(try shell("ls -d \(group) || true") == "")
    }

    @Test("stops all programs of a place where they are, and lets them go on")
    func freezer() throws {
        let stage = try Stage()
        let terminal = try stage.terminal(["cat"], as: Stage.alice)
        try stage.freeze(.session(of: Stage.alice))
        try terminal.sendLine("on")
        // The terminal itself echoes; the program would say it once more.
        try terminal.expect("on\r\n")
        #expect(!terminal.transcript.contains("on\r\non"))
        try stage.freeze(.session(of: Stage.alice), false)
        try terminal.expect("on\r\n")
    }
}
