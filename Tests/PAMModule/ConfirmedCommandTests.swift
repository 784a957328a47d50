// SPDX-License-Identifier: Apache-2.0
import ModuleOptions
import Testing

/// What a call finds around it, as a test says; nothing of this machine.
struct PlayedSurroundings {
    var environment: [String]? = ["PATH=/usr/bin:/bin", "SHELL=/bin/bash"]
    /// Directories by the names under which they are looked for.
    var directories = ["./": "/home/alice", ".": "/home/alice"]
    /// Files by their paths, and whether they can be run.
    var programs = ["/usr/bin/id": true, "/bin/id": true]
    /// Shells by their accounts; the caller is alice, and the target of su is bob.
    var shells = ["alice": "/bin/zsh", "bob": "/bin/dash", "root": "/bin/sh"]

    var value: CallSurroundings {
        let text: [UInt8]? = environment.map { entries in
            entries.flatMap { (entry: String) -> [UInt8] in [UInt8](entry.utf8) + [0] }
        }
        let played = self
        func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        return CallSurroundings(
            environment: { text },
            directory: { played.directories[string($0)].map { [UInt8]($0.utf8) } },
            isProgram: { played.programs[string($0)] },
            shell: { role in
                let name =
                    switch role {
                    case .caller: "alice"
                    case .target: "bob"
                    case .named(let name): string(name)
                    }
                return played.shells[name].map { [UInt8]($0.utf8) }
            })
    }
}

@Suite("what a command line confirms")
struct ConfirmedCommandTests {
    private func command(
        _ words: [String], of program: ConfirmingProgram = .sudo,
        in place: PlayedSurroundings = PlayedSurroundings()
    ) -> ConfirmedCommand {
        ConfirmedCommand(
            ProgramCall(words.flatMap { [UInt8]($0.utf8) + [0] }), of: program, in: place.value)
    }

    private func purpose(
        _ words: [String], of program: ConfirmingProgram = .sudo,
        in place: PlayedSurroundings = PlayedSurroundings()
    ) -> String? {
        command(words, of: program, in: place).purpose.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("the program's name is its own, whatever the caller named it")
    func name() {
        #expect(purpose(["sudo", "apt", "upgrade"]) == "sudo apt upgrade")
        #expect(purpose(["harmless", "rm"]) == "sudo rm")
        #expect(purpose(["harmless", "-", "bob", "-c", "id"], of: .su) == "su - bob -c id")
        for name in ["/usr/bin/sudoedit", "sudoedit"] {
            #expect(purpose([name, "x"]) == "sudoedit /home/alice/x")
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
            (["-P", "A=b", "-H", "id"], "id [-P A=b -H]"),
            (["--preserve-env=A,B", "id"], "id [--preserve-env=A,B]"),
            (
                ["--preserve-env=A,SHELL", "id"],
                "id [--preserve-env=A,SHELL; with SHELL=/bin/bash]"
            ),
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
            (["--edit", "-u", "bob", "/a", "b"], "sudoedit /a /home/alice/b [-u bob]"),
            (["-i"], "sudo -i [shell /bin/sh]"),
            (["--login", "-u", "bob", "id"], "sudo -i id [-u bob; shell /bin/dash]"),
            (["-s"], "sudo -s [shell /bin/bash]"),
            (["-Hs", "id"], "sudo -s id [-Hs; shell /bin/bash]"),
            (["-k"], "sudo [-k; shell /bin/bash]"),
            (["-K"], "sudo -K"), (["-k", "true"], "sudo true [-k]"),
            ([], "sudo [shell /bin/bash]"),
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
            ["-z", "id"], ["--usr", "bob", "id"], ["-is"],
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
            ([], "su [shell /bin/dash]"), (["bob"], "su bob [shell /bin/dash]"),
            (["-", "bob", "-c", "id -un"], "su - bob -c 'id -un'"),
            (["-c", "id", "bob"], "su bob -c id"),
            (["-s", "/bin/sh", "bob"], "su bob [-s /bin/sh; shell /bin/sh]"),
            (
                ["bob", "-s", "/x", "--command=id", "y"],
                "su bob -c id y [-s /x; shell /x]"
            ),
            (["-l", "bob"], "su -l bob [shell /bin/dash]"),
            (["--login", "-m", "bob"], "su -l bob [-m; shell /bin/dash]"),
            (["-p", "bob", "-c", "id"], "su bob -c id [-p; shell /bin/bash]"),
            (["bob", "--", "-c", "id"], "su bob -c id [shell /bin/dash]"),
            (["-c", "id"], "su -c id"),
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

    @Test("doas is read up to its command, which it looks up in the caller's PATH")
    func doas() {
        #expect(
            purpose(["doas", "-u", "bob", "id", "-u"], of: .doas)
                == "doas /usr/bin/id -u [-u bob]")
        #expect(purpose(["doas", "-ns"], of: .doas) == "doas -s [-ns; shell /bin/bash]")
        #expect(purpose(["doas", "./A=b", "-u"], of: .doas) == "doas /home/alice/A=b -u")
        #expect(purpose(["doas", "-x", "id"], of: .doas) == nil)
        #expect(purpose(["doas", "nothing"], of: .doas) == nil)

        var place = PlayedSurroundings()
        place.environment = ["PATH=/tmp/evil:/usr/bin"]
        place.programs["/tmp/evil/id"] = true
        let evil = "doas /tmp/evil/id [with PATH=/tmp/evil:/usr/bin]"
        #expect(purpose(["doas", "id"], of: .doas, in: place) == evil)
        // Whether the next directory is tried depends on who may run this one.
        place.programs["/tmp/evil/id"] = false
        #expect(purpose(["doas", "id"], of: .doas, in: place) == nil)
        place.environment = ["PATH=:/usr/bin"]
        place.programs["./id"] = true
        #expect(
            purpose(["doas", "id"], of: .doas, in: place)
                == "doas /home/alice/id [with PATH=:/usr/bin]")
        place.environment = ["A=b"]
        #expect(purpose(["doas", "id"], of: .doas, in: place) == nil)
    }

    @Test(
        "a command is shown with its directory, as the kernel finds it",
        arguments: [
            ("/usr/bin/id", "/usr/bin/id"), ("./apt", "/home/alice/apt"),
            ("bin/apt", "/home/alice/bin/apt"), ("../evil/apt", "/tmp/evil/apt"),
            ("/usr/bin/./apt", "/usr/bin/apt"), ("/usr/bin//apt", "/usr/bin/apt"),
            ("/usr/bin/../../tmp/evil/apt", "/tmp/evil/apt"), ("//apt", "/apt"),
            ("/home/alice/link/../apt", "/srv/apt"), ("apt", "apt"),
        ])
    func directory(_ word: String, _ path: String) {
        var place = PlayedSurroundings()
        place.directories["bin/"] = "/home/alice/bin"
        place.directories["../evil/"] = "/tmp/evil"
        place.directories["/usr/bin/./"] = "/usr/bin"
        place.directories["/usr/bin//"] = "/usr/bin"
        place.directories["/usr/bin/../../tmp/evil/"] = "/tmp/evil"
        place.directories["//"] = "/"
        // The link leads to /srv/data, whose parent is not /home/alice.
        place.directories["/home/alice/link/../"] = "/srv"
        #expect(purpose(["sudo", word, "x"], in: place) == "sudo \(path) x")
        if word.contains("/") {
            #expect(
                purpose(["sudo", "-s", word], in: place) == "sudo -s \(path) [shell /bin/bash]")
            #expect(purpose(["doas", word], of: .doas, in: place) == "doas \(path)")
            let isAbsolute = word == path
            // sudo runs it elsewhere: in the directory that is named, or at home.
            for option in [["-D", "/x"], ["--chdir=/x"], ["-R", "/x"], ["-i"]] {
                #expect((purpose(["sudo"] + option + [word], in: place) != nil) == isAbsolute)
            }
        }
    }

    @Test(
        "a command in a directory that is not found, or that names none, has no purpose",
        arguments: ["gone/apt", "./", "./.", "..", "/", "/usr/bin/", "/usr/bin/..", "//"])
    func noDirectory(_ word: String) {
        let isBare = !word.contains("/")
        #expect(purpose(["sudo", word]) == (isBare ? "sudo \(word)" : nil))
        #expect(purpose(["sudoedit", word]) == nil)
    }

    @Test("a shell is shown that runs by the environment, the option or the account")
    func shells() {
        var place = PlayedSurroundings()
        place.environment = ["SHELL=/tmp/evil/sh", "PATH=/usr/bin"]
        let evil = "shell /tmp/evil/sh"
        #expect(purpose(["sudo", "-s"], in: place) == "sudo -s [\(evil)]")
        #expect(purpose(["sudo"], in: place) == "sudo [\(evil)]")
        #expect(purpose(["sudo", "-i"], in: place) == "sudo -i [shell /bin/sh]")
        #expect(purpose(["doas", "-s"], of: .doas, in: place) == "doas -s [\(evil)]")
        #expect(purpose(["su", "-p"], of: .su, in: place) == "su [-p; \(evil)]")
        #expect(purpose(["su", "-p", "-"], of: .su, in: place) == "su - [-p; shell /bin/dash]")
        #expect(
            purpose(["su", "-s", "./sh", "-c", "id"], of: .su, in: place)
                == "su -c id [-s ./sh; shell /home/alice/sh]")
        // It is run at home, wherever that is.
        #expect(purpose(["su", "-", "-s", "sh"], of: .su, in: place) == nil)
        for empty in [["PATH=/usr/bin", "SHELL="], ["PATH=/usr/bin"]] {
            place.environment = empty
            #expect(purpose(["sudo", "-s"], in: place) == "sudo -s [shell /bin/zsh]")
            #expect(purpose(["doas", "-s"], of: .doas, in: place) == "doas -s [shell /bin/zsh]")
        }
        place.environment = ["SHELL=it's evil", "PATH=/usr/bin"]
        #expect(purpose(["sudo", "-s"], in: place) == "sudo -s [shell 'it'\\''s evil']")
        place.environment = ["SHELL=./sh", "PATH=/usr/bin"]
        #expect(purpose(["sudo", "-s"], in: place) == "sudo -s [shell /home/alice/sh]")
        #expect(purpose(["sudo", "-s", "-D", "/x"], in: place) == nil)
        place.shells["bob"] = ""
        #expect(purpose(["su", "bob"], of: .su, in: place) == "su bob [shell /bin/sh]")
    }

    @Test("a shell that cannot be told has no purpose")
    func unknownShell() {
        var place = PlayedSurroundings()
        #expect(purpose(["sudo", "-i", "-u", "nobody-here"], in: place) == nil)
        #expect(purpose(["sudo", "-i", "-u", "#0"], in: place) == nil)
        #expect(purpose(["sudo", "-i", "-g", "adm"], in: place) == nil)
        // The shell would expand it, by variables that sudo leaves.
        #expect(purpose(["sudo", "-s", "$TERM"], in: place) == nil)
        #expect(purpose(["sudo", "-i", "echo", "a$b"], in: place) == nil)
        for environment in [nil, ["SHELL=/bin/sh", "SHELL=/tmp/evil"]] {
            place.environment = environment
            #expect(purpose(["sudo", "-s"], in: place) == nil)
            #expect(purpose(["sudo"], in: place) == nil)
            #expect(purpose(["sudo", "id"], in: place) == "sudo id")
            #expect(purpose(["doas", "-s"], of: .doas, in: place) == nil)
            #expect(purpose(["su", "-p"], of: .su, in: place) == nil)
        }
        place.shells = [:]
        #expect(purpose(["su", "bob"], of: .su, in: place) == nil)
        place.environment = nil
        #expect(purpose(["su", "bob", "-c", "id"], of: .su, in: place) == nil)
        #expect(purpose(["su", "-", "bob", "-c", "id"], of: .su, in: place) == "su - bob -c id")
    }

    @Test("variables that decide what runs are shown with their values, or there is no purpose")
    func variables() {
        var place = PlayedSurroundings()
        place.environment = [
            "PATH=/tmp/evil:/bin", "BASH_ENV=/tmp/evil/x", "A=1", "LANG=C", "EDITOR=vi -n",
            "BASH_FUNC_id%%=() { evil; }",
        ]
        let with = "with PATH=/tmp/evil:/bin BASH_ENV=/tmp/evil/x 'BASH_FUNC_id%%=() { evil; }'"
        #expect(
            purpose(["su", "bob", "-c", "id"], of: .su, in: place) == "su bob -c id [\(with)]")
        #expect(purpose(["su", "-", "bob", "-c", "id"], of: .su, in: place) == "su - bob -c id")
        #expect(
            purpose(["su", "-", "-w", "A,B", "-c", "id"], of: .su, in: place)
                == "su - -c id [-w A,B; with A=1]")
        // sudo removes them.
        #expect(purpose(["sudo", "id"], in: place) == "sudo id")
        #expect(
            purpose(["sudoedit", "/x"], in: place) == "sudoedit /x [with 'EDITOR=vi -n']")
        #expect(
            purpose(["sudo", "--preserve-env=A", "--preserve-env=B", "id"], in: place)
                == "sudo id [--preserve-env=A --preserve-env=B; with A=1]")
        for words in [["-E"], ["--preserve-env"], ["-nE"], ["--preserve-env=A*"]] {
            #expect(purpose(["sudo"] + words + ["id"], in: place) == nil)
        }
    }

    @Test("nothing is left out: what is too long has no purpose, and says so")
    func whole() {
        let long = (0..<9).map { "V\($0)=" + String(repeating: "x", count: 100) }
        let line = purpose(["sudo"] + long + ["sh", "-c", "EVIL", "apt-get"])
        #expect(line == "sudo sh -c EVIL apt-get [\(long.joined(separator: " "))]")

        let flood = command(["sudo"] + long + long + ["sh", "-c", "EVIL", "apt-get"])
        #expect(flood.purpose == nil && flood.isTooLong)
        let middle = [": apt-get update; ", "echo EVIL; ", ": apt-get update; "]
            .map { String(repeating: $0, count: $0.contains("EVIL") ? 1 : 120) }.joined()
        #expect(command(["sudo", "sh", "-c", middle]).isTooLong)
        #expect(!command(["sudo", "-x"]).isTooLong)
        // Where the line was not read whole, nothing is confirmed.
        let beginning = [UInt8]("sudo\0id\0".utf8)
        let cut = ConfirmedCommand(
            ProgramCall(beginning, isWhole: false), of: .sudo, in: PlayedSurroundings().value)
        #expect(cut.purpose == nil && cut.isTooLong)
    }
}
