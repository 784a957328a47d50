// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import Testing

@Suite("The parser of command lines")
struct ParserTests {
    private func arguments(_ words: String...) throws -> Arguments {
        guard case .run(let arguments) = try Trial.program.read(words) else { throw NoCommand() }
        return arguments
    }

    private struct NoCommand: Error {}

    /// Why a command line is refused; nil if it is not.
    private func refusal(_ words: [String]) -> String? {
        do throws(UsageFault) {
            _ = try Trial.program.read(words)
            return nil
        } catch { return error.english }
    }

    @Test("gives options in both forms, short ones, and operands wherever they stand")
    func forms() throws {
        for words in [
            ["paint", "--size", "3", "-q", "a", "b"], ["paint", "a", "--size=3", "b", "--quiet"],
            ["paint", "-q", "--size=3", "--", "a", "b"],
        ] {
            guard case .run(let arguments) = try Trial.program.read(words) else {
                throw NoCommand()
            }
            #expect(arguments.command.name == "paint" && arguments.operands == ["a", "b"])
            #expect(arguments.number(Trial.size) == 3 && arguments.has(Trial.quiet))
            #expect(arguments.value(Trial.colour) == nil && !arguments.has(Trial.colour))
        }
        #expect(try arguments("paint", "--", "--size", "-q").operands == ["--size", "-q"])
        #expect(try arguments("paint", "-").operands == ["-"])
        #expect(try arguments("move", "--all", "--to=/a=b").value(Trial.to) == "/a=b")
        let tags = try arguments("paint", "--tag", "a", "--tag=b", "x").values(Trial.tag)
        #expect(tags == ["a", "b"])
    }

    @Test("takes the longest name of a command, and a group's options before and behind it")
    func names() throws {
        #expect(try arguments("box", "open").command.name == "box open")
        #expect(try arguments("box", "open", "wide").command.name == "box open wide")
        for words in [["box", "--to", "/x", "shut", "a"], ["box", "shut", "a", "--to=/x"]] {
            guard case .run(let arguments) = try Trial.program.read(words) else {
                throw NoCommand()
            }
            #expect(arguments.command.name == "box shut" && arguments.value(Trial.to) == "/x")
        }
    }

    @Test(
        "refuses, and says what to do",
        arguments: [
            ([], "no command given. Run 'trial --help'"),
            (["--"], "no command given. Run 'trial --help'"),
            (["dance"], "there is no command dance. Run 'trial --help' to list the commands"),
            (["--size", "3"], "the command must come before --size. Run 'trial --help'"),
            (["box"], "box needs one of open, shut. Run 'trial box --help' to list"),
            (["box", "burn"], "box needs one of open, shut"),
            (["box", "--size"], "box needs one of open, shut"),
            (["paint", "--sizes", "3"], "paint has no option --sizes. Did you mean --size?"),
            (["paint", "--frob", "3"], "paint has no option --frob. Run 'trial paint --help'"),
            (["piant", "a"], "there is no command piant. Did you mean 'trial paint'?"),
            (["paint", "-x"], "paint has no option -x"),
            (["paint", "-qq", "a"], "paint has no option -qq"),
            (["paint", "--size", "3", "--size=3", "a"], "--size was given twice. Give it once"),
            (["paint", "-q", "--quiet", "a"], "--quiet was given twice"),
            (["paint", "a", "--size"], "--size needs a value. Run 'trial paint --help'"),
            (["paint", "--size="], "--size needs a value"),
            (["paint", "--size", ""], "--size needs a value"),
            (["paint", "--quiet=yes", "a"], "--quiet takes no value"),
            (["paint", "--size", "0", "a"], "--size needs a number from 1 to 10, not 0"),
            (["paint", "--size", "11", "a"], "--size needs a number from 1 to 10, not 11"),
            (["paint", "--size", "+3", "a"], "--size needs a number from 1 to 10, not +3"),
            (["paint", "--size", "03", "a"], "--size needs a number from 1 to 10, not 03"),
            (["paint", "--size", "99999999999999999999", "a"], "--size needs a number"),
            (["paint", "--size", "３", "a"], "--size needs a number"),
            (["paint", "--colour", "green", "a"], "--colour needs one of red, blue, not green"),
            (["paint", "--colour", "Red", "a"], "--colour needs one of red, blue, not Red"),
            (["paint"], "paint needs FILE. Run 'trial paint --help'"),
            (["paint", ""], "FILE must not be empty"),
            (["move"], "move needs either NAME or --all"),
            (["move", "a", "--all", "--to", "/x"], "move needs either NAME or --all"),
            (["move", "--all"], "--all also needs --to"),
            (["move", "a", "--to", "/x"], "--to also needs --all"),
            (["move", "--all", "--to", "x"], "--to needs an absolute path, not x"),
            (["move", "a", "b"], "move does not take b. Run 'trial move --help'"),
            (["store", "add"], "store needs NAME"),
            (["store", "add", "a", "b"], "store does not take b"),
            (["store", "drop"], "store does not take drop"),
            (["store", "--quiet"], "--quiet also needs add"),
            (["box", "open", "shut"], "box open does not take shut"),
            (["box", "shut"], "box shut needs NAME"),
            (["--version", "paint"], "--version does not take paint"),
            (["--version", "--version"], "--version was given twice"),
            (["--version=1"], "--version takes no value"),
            (["box", "--help", "burn"], "box needs one of open, shut"),
            (["paint", "--help", "--frob"], "paint has no option --frob"),
        ] as [([String], String)])
    func refused(words: [String], text: String) {
        #expect(refusal(words)?.hasPrefix(text) == true, "\(words): \(refusal(words) ?? "taken")")
    }

    @Test("shows hostile and long words as what they are, on one line")
    func hostile() {
        let long = String(repeating: "x", count: 100_000)
        for words in [
            ["\u{1B}[2J\n"], ["paint", "--\u{1B}[2J\n"], ["paint", "--colour", "\u{1B}[2J\n", "a"],
            ["move", "a", "\u{1B}[2J\n"], ["paint", "--size", "\u{1B}[2J\n", "a"],
        ] {
            #expect(refusal(words)?.contains("\\x1b[2J\\x0a") == true, "\(words)")
        }
        #expect(refusal(["a\0b"])?.contains("a\\x00b") == true)
        #expect(refusal(["\u{202E}a"])?.contains("\u{202E}") == false)
        for words in [[long], ["paint", "--\(long)"], ["paint", "--size", long, "a"]] {
            #expect((refusal(words) ?? long).count < 500)
        }
        #expect(refusal(["paint", long]) == nil)
        #expect(refusal(["paint"] + Array(repeating: "a", count: 10_000)) == nil)
    }

    @Test("knows --help of the program, of each group and command, and --version")
    func help() throws {
        let cases: [([String], [String])] = [
            (["--help"], []), (["-h"], []), (["box", "--help"], ["box"]),
            (["--help", "box"], ["box"]), (["paint", "--help"], ["paint"]),
            (["paint", "a", "--size=3", "-h"], ["paint"]),
            (["box", "open", "--help"], ["box", "open"]),
        ]
        for (words, shown) in cases {
            guard case .help(let path) = try Trial.program.read(words) else {
                Issue.record("\(words) shows no help")
                continue
            }
            #expect(path == shown)
        }
        guard case .version = try Trial.program.read(["--version"]) else {
            Issue.record("no version")
            return
        }
    }

    @Test("of a program without commands takes its options, and refuses a surplus word")
    func single() {
        let program = ProgramSyntax("one", summary: "one", options: [Trial.quiet])
        func outcome(_ words: String...) -> String {
            switch program.outcome(of: words, version: "1") {
            case .run(let arguments): arguments.has(Trial.quiet) ? "quiet" : "run"
            case .show(let text): "shows " + text.prefix(8)
            case .refuse(let text): text
            }
        }
        #expect(outcome() == "run" && outcome("-q") == "quiet")
        #expect(outcome("--version") == "shows one 1")
        #expect(outcome("--help") == "shows one: one")
        #expect(outcome("x").hasPrefix("one: one does not take x. Run 'one --help'"))
        #expect(outcome("--version", "x").hasPrefix("one: --version does not take x"))
        #expect(outcome("--frob").hasPrefix("one: one has no option --frob"))
    }
}
