// SPDX-License-Identifier: Apache-2.0
import ModuleOptions
import Testing

@Suite("what a command line confirms")
struct ConfirmedCommandTests {
    private func command(
        _ words: [String], of program: ConfirmingProgram = .sudo
    ) -> ConfirmedCommand {
        ConfirmedCommand(
            ProgramCall(beginning: words.flatMap { [UInt8]($0.utf8) + [0] }), of: program)
    }

    private func purpose(
        _ words: [String], of program: ConfirmingProgram = .sudo
    ) -> String? {
        command(words, of: program).purpose.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("the program's name is its own, whatever the caller named it")
    func name() {
        #expect(purpose(["sudo", "apt", "upgrade"]) == "sudo apt upgrade")
        #expect(purpose(["harmless", "rm"]) == "sudo rm")
        #expect(purpose(["harmless", "bob"], of: .su) == "su bob")
        for name in ["/usr/bin/sudoedit", "sudoedit"] {
            #expect(purpose([name, "x"]) == "sudoedit x")
        }
        // sudo 1.9.13 edits by such a name, and newer versions run what it says.
        for name in ["xedit", "/usr/bin/xedit", "lt-sudoedit", "sudo-edit"] {
            #expect(purpose([name, "x"]) == nil)
        }
        for name in ["edit", "/sudoedit/sudo", "sudoedit/", ""] {
            #expect(purpose([name, "x"]) == "sudo x")
        }
        #expect(purpose([]) == nil)
    }

    @Test(
        "the command stands first, and what preceded it follows",
        arguments: [
            (
                ["V0=a", "V7=b", "sh", "-c", "EVIL", "apt-get", "upgrade"],
                "sh -c EVIL apt-get upgrade [V0=a V7=b]"
            ),
            (["-u", "bob", "id", "-u"], "id -u [-u bob]"), (["-ubob", "id"], "id [-ubob]"),
            (["-nu", "bob", "id"], "id [-nu bob]"), (["--user=bob", "id"], "id [--user=bob]"),
            (["--us", "bob", "id"], "id [--us bob]"), (["-kp", "x", "--", "id"], "id [-kp x]"),
            (["-h", "host", "id"], "id [-h host]"), (["-hhost", "id"], "id [-hhost]"),
            (["--host", "-x", "id"], "id [--host -x]"),
            (["-E", "A=b", "-H", "id"], "id [-E A=b -H]"),
            (["--preserve-env=A,B", "id"], "id [--preserve-env=A,B]"),
            (["--preserve-env", "id"], "id [--preserve-env]"),
            (["-u", "-s", "id"], "id [-u -s]"), (["/a=b", "c"], "/a=b c"),
            (["--", "A=b", "c"], "A=b c"), (["-p", "--", "A=b", "c"], "A=b c [-p --]"),
            (["A=--", "B=c", "d"], "d [A=-- B=c]"), (["-", "x"], "- x"),
            (["id", "-u", "x", "A=b", "--"], "id -u x A=b --"),
            (["A=", "[id]"], "'[id]' [A=]"), (["", "x"], "'' x"),
        ])
    func order(_ words: [String], _ line: String) {
        #expect(purpose(["sudo"] + words) == "sudo " + line)
    }

    @Test(
        "what sudo does without a command, or with it, stands first",
        arguments: [
            (["-v"], "sudo -v"), (["-l"], "sudo -l"), (["-ll", "-U", "bob"], "sudo -l [-U bob]"),
            (["-l", "id"], "sudo -l id"), (["-e", "/etc/x"], "sudoedit /etc/x"),
            (["--edit", "-u", "bob", "a", "b"], "sudoedit a b [-u bob]"), (["-i"], "sudo -i"),
            (["--login", "-u", "bob", "id"], "sudo -i id [-u bob]"), (["-s"], "sudo -s"),
            (["-is"], "sudo -i -s"), (["-Hs", "id"], "sudo -s id [-Hs]"), (["-k"], "sudo [-k]"),
            (["-K"], "sudo -K"), (["-k", "true"], "sudo true [-k]"), ([], "sudo"),
        ])
    func modes(_ words: [String], _ line: String) {
        #expect(purpose(["sudo"] + words) == line)
    }

    @Test(
        "what sudo would not take, or take otherwise in another version, has no purpose",
        arguments: [
            ["-x", "id"], ["-kx", "id"], ["--nothing", "id"], ["--", "=a", "id"], ["=a", "id"],
            ["--pre", "id"], ["--p=x", "id"], ["--validate=x"], ["--stdin=", "id"], ["-u"],
            ["--user"], ["-h"], ["-h", "-v"], ["--help"], ["--=x", "id"], ["-k-", "id"],
            ["-z", "id"], ["--usr", "bob", "id"],
        ])
    func unclear(_ words: [String]) {
        #expect(purpose(["sudo"] + words) == nil)
    }

    @Test(
        "sudo's own -n, -A and -S are seen wherever sudo sees them",
        arguments: [
            ["-n"], ["-S", "ls"], ["-A"], ["-kn", "ls"], ["-u", "bob", "-n"], ["-ubob", "-S"],
            ["--stdin"], ["--std"], ["--non-interactive"], ["--askpass"], ["--user", "bob", "-n"],
            ["--user=bob", "-n"], ["A=1", "-n", "ls"], ["-u", "-x", "-n"],
        ])
    func asksElsewhere(_ words: [String]) {
        #expect(command(["sudo"] + words).asksElsewhere)
    }

    @Test(
        "these letters mean nothing as values, or after the command",
        arguments: [
            [], ["ls", "-n"], ["ls", "-S"], ["--", "-n"], ["-u", "-n", "ls"], ["-un", "ls"],
            ["-u", "n", "ls"], ["--user", "-n", "ls"], ["-p", "-S", "ls"], ["-k", "ls", "--stdin"],
            ["=x", "-n"], ["-i"], ["-"],
        ])
    func asksHere(_ words: [String]) {
        #expect(!command(["sudo"] + words).asksElsewhere)
        #expect(!command(["su"] + words, of: .su).asksElsewhere)
    }

    @Test(
        "su's account and command stand first, wherever they were given",
        arguments: [
            ([], "su"), (["bob"], "su bob"),
            (["-", "bob", "-c", "id -un"], "su - bob -c 'id -un'"),
            (["-c", "id", "bob"], "su bob -c id"),
            (["-s", "/bin/sh", "bob"], "su bob [-s /bin/sh]"),
            (["bob", "-s", "/x", "--command=id", "y"], "su bob -c id y [-s /x]"),
            (["-l", "bob"], "su -l bob"), (["--login", "-m", "bob"], "su -l bob [-m]"),
            (["bob", "--", "-c", "id"], "su bob -c id"), (["-c", "id"], "su -c id"),
            (
                ["-w", String(repeating: "A,", count: 20), "bob", "-cEVIL"],
                "su bob -c EVIL [-w \(String(repeating: "A,", count: 20))]"
            ),
        ])
    func su(_ words: [String], _ line: String) {
        #expect(purpose(["su"] + words, of: .su) == line)
    }

    @Test(
        "su with two commands, or an unknown option, has no purpose",
        arguments: [
            ["-c", "a", "-c", "b"], ["--command", "a", "bob", "-cb"], ["-x"], ["--help"], ["-c"],
            ["bob", "--frobnicate"],
        ])
    func unclearSu(_ words: [String]) {
        #expect(purpose(["su"] + words, of: .su) == nil)
    }

    @Test("doas is read up to its command")
    func doas() {
        #expect(purpose(["doas", "-u", "bob", "id", "-u"], of: .doas) == "doas id -u [-u bob]")
        #expect(purpose(["doas", "-ns"], of: .doas) == "doas -s [-ns]")
        #expect(purpose(["doas", "A=b", "-u"], of: .doas) == "doas A=b -u")
        #expect(purpose(["doas", "-x", "id"], of: .doas) == nil)
    }

    @Test("assignments cannot push the command out of sight, however long they are")
    func flooded() {
        let long = (0..<100).map { "V\($0)=" + String(repeating: "x", count: 100) }
        let line = purpose(["sudo"] + long + ["sh", "-c", "EVIL", "apt-get"])
        #expect(line?.hasPrefix("sudo sh -c EVIL apt-get [V0=x") == true)
        #expect(line?.hasSuffix("xxx]") == true)
        #expect((line?.utf8.count ?? 0) <= ProgramCall.longestPurpose)
        // Where the command was not read at all, nothing is confirmed.
        let beginning = [UInt8]((["sudo"] + long).joined(separator: "\0").utf8)
        let call = ProgramCall(beginning: beginning, end: [UInt8]("x\0sh\0EVIL\0".utf8))
        #expect(ConfirmedCommand(call, of: .sudo).purpose == nil)
    }
}
