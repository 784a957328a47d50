// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Generators
import LoginMessages
import TestSupport
import Testing

@Suite("The declarations of programs")
struct DeclarationTests {
    @Test("hold together, and all that is generated from them is up to date")
    func current() throws {
        let outcome = try Program(
            Command(["\(Layout.products)/generate", "--check", Layout.package])
        ).expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    @Test("are found out where they contradict themselves")
    func mistakes() {
        #expect(Trial.program.mistakes == [])
        let flag = OptionSyntax("size", summary: "large")
        let cases: [(CommandSyntax, String)] = [
            (CommandSyntax("paint", summary: "again"), "two commands are called 'paint'"),
            (CommandSyntax("new", summary: ""), "trial new has no summary of one line"),
            (
                CommandSyntax("new", summary: "new", options: [Trial.all, Trial.all]),
                "trial new has an option twice"
            ),
            (
                CommandSyntax("new", summary: "new", options: [flag]),
                "--size takes a value in one command and none in another"
            ),
            (
                CommandSyntax("new", summary: "new", options: [OptionSyntax("x", summary: "")]),
                "trial new says nothing of --x"
            ),
            (
                CommandSyntax("new", summary: "new", forms: [FormSyntax(), FormSyntax()]),
                "trial new has two forms that nothing selects"
            ),
            (
                CommandSyntax(
                    "new", summary: "new",
                    forms: [FormSyntax(word: "a"), FormSyntax(word: "a", operands: ["B"])]),
                "trial new has two forms that one word or option selects"
            ),
            (
                CommandSyntax(
                    "new", summary: "new",
                    operands: [OperandSyntax(ValueSyntax("A"), count: 0...1), "B"]),
                "trial new has an optional operand before another"
            ),
        ]
        for (command, mistake) in cases {
            let program = ProgramSyntax(
                "trial", summary: "a trial", groups: Trial.program.groups,
                commands: Trial.program.commands + [command])
            #expect(program.mistakes.contains(mistake), "\(program.mistakes)")
        }
    }
}

@Suite("The synopsis of a command")
struct SynopsisTests {
    @Test("shows each form, what may be left out, and what may be repeated")
    func shown() {
        #expect(Trial.paint.synopses.map(\.shown) == ["FILE…"])
        #expect(Trial.move.synopses.map(\.shown) == ["NAME | --all --to FILE"])
        #expect(Trial.store.synopses.map(\.shown) == ["[add [--quiet] NAME]"])
    }

    @Test("is written in mdoc, with brackets that close where they should")
    func macros() {
        let lines = manualSynopsis(of: Trial.program)
        #expect(lines.contains(".Ar NAME | Fl -all Fl -to Ar FILE"))
        #expect(lines.contains(".Op Cm add Oo Fl -quiet Oc Ar NAME"))
        #expect(lines.contains(".Op Fl -colour Ar red|blue"))
        #expect(lines.contains(".Ar FILE ..."))
        #expect(lines.last == ".Fl -version | Fl -help")
    }
}
