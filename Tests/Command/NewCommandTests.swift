// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Generators
import LoginMessages
import TestSupport
import Testing

@testable import Command

/// One declaration is all that parser, help, completions and manual page need.
@Suite("A new command")
struct NewCommandTests {
    private static let polish = CommandSyntax(
        "polish", summary: "polish the reader's glass",
        operands: [
            OperandSyntax(ValueSyntax("PART", kind: .choice(["glass", "frame"])), count: 0...1)
        ],
        options: [
            OptionSyntax("cloth", .choice("soft", "rough"), summary: "which cloth"),
            OptionSyntax("minutes", .number(1...5), summary: "for how long"),
        ])
    private static let program = ProgramSyntax(
        "signet", summary: Commands.syntax.summary, groups: Commands.syntax.groups,
        commands: Commands.syntax.commands + [polish], helpCommand: Commands.syntax.helpCommand)

    @Test("is parsed, and refused with what it does not take")
    func parsed() throws {
        let words = ["polish", "glass", "--cloth=soft", "--minutes", "5"]
        guard case .run(let arguments) = try Self.program.read(words) else {
            Issue.record("it is not run")
            return
        }
        #expect(arguments.command.name == "polish" && arguments.operands == ["glass"])
        for words in [
            ["polish", "driver"], ["polish", "--cloth", "wet"], ["polish", "--minutes", "6"],
            ["polish", "--json"], ["polish", "glass", "frame"],
        ] {
            #expect(throws: UsageFault.self) { try Self.program.read(words) }
        }
        #expect(Self.program.mistakes == [])
    }

    @Test("is listed because it is a Command, and has a place of its own in the help and a name")
    func listed() {
        let commands = Commands.all
        #expect(commands.count == Listed.commands.count)
        for (one, next) in zip(commands, commands.dropFirst()) {
            #expect(one.helpPosition < next.helpPosition, "\(one) and \(next)")
        }
        #expect(Set(commands.map { $0.syntax.name }).count == commands.count)
        let groups = Commands.syntax.groups.map(\.name)
        #expect(Set(groups).count == groups.count)
    }

    @Test("is in the help")
    func help() {
        #expect(Self.program.englishHelp(of: []).contains("\n  polish "))
        let page = Self.program.englishHelp(of: ["polish"])
        #expect(page.contains("usage: signet polish [PART] [OPTION…]"))
        #expect(page.contains("\n  --cloth soft|rough  which cloth\n"))
    }

    @Test("is completed by each shell", arguments: Shell.allCases)
    func completed(shell: Shell) throws {
        let fixture = try CompletionFixture()
        for (name, text) in [
            ("signet.bash", bashCompletion(of: Self.program)),
            ("_signet", zshCompletion(of: Self.program)),
            ("signet.fish", fishCompletion(of: Self.program)),
        ] {
            try fixture.scratch.write("scripts/\(name)", text, mode: 0o644)
        }
        let lines = [
            "signet pol", "signet polish ", "signet polish --cloth ", "signet polish --",
            "signet help pol",
        ]
        let offers = try fixture.offers(shell, lines, from: fixture.scratch.at("scripts"))
        #expect(offers[lines[0]] == ["polish"])
        #expect(offers[lines[1]] == ["glass", "frame"])
        #expect(offers[lines[2]] == ["soft", "rough"])
        #expect(offers[lines[3]] == ["--cloth", "--minutes", "--help"])
        #expect(offers[lines[4]] == ["polish"])
    }

    @Test("is in the manual page and in the table of commands")
    func documented() {
        let synopsis = manualSynopsis(of: Self.program).joined(separator: "\n")
        #expect(
            synopsis.contains(
                """
                .Nm signet
                .Cm polish
                .Op Ar PART
                .Op Fl -cloth Ar soft|rough
                .Op Fl -minutes Ar NUMBER
                """))
        let tables = commandTables(of: Self.program)
        #expect(tables.contains("| `signet polish [PART]` | polish the reader's glass |"))
        #expect(tables.contains("| `--cloth soft\\|rough` | `polish` | which cloth |"))
    }
}
