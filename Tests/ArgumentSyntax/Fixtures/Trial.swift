// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// A program with one of everything.
enum Trial {
    static let size = OptionSyntax("size", .number(1...10), summary: "how large")
    static let colour = OptionSyntax("colour", .choice("red", "blue"), summary: "which colour")
    static let quiet = OptionSyntax("quiet", short: "q", summary: "say nothing")
    static let tag = OptionSyntax("tag", ValueSyntax("WORD"), isRepeatable: true, summary: "a tag")
    static let all = OptionSyntax("all", summary: "everything")
    static let to = OptionSyntax("to", ValueSyntax("FILE", kind: .absoluteFile), summary: "where")

    static let paint = CommandSyntax(
        "paint", summary: "paint files",
        operands: [OperandSyntax(ValueSyntax("FILE", kind: .file), count: 1...Int.max)],
        options: [size, colour, quiet, tag])
    static let move = CommandSyntax(
        "move", summary: "move one, or all",
        forms: [FormSyntax(operands: ["NAME"]), FormSyntax(all, to)])
    static let store = CommandSyntax(
        "store", summary: "look into the store",
        forms: [FormSyntax(), FormSyntax(word: "add", operands: ["NAME"], options: [quiet])])

    static let program = ProgramSyntax(
        "trial", summary: "a trial",
        groups: [GroupSyntax("box", summary: "boxes", options: [to])],
        commands: [
            paint, move, store, CommandSyntax("box open", summary: "open a box"),
            CommandSyntax("box open wide", summary: "open it wide"),
            CommandSyntax("box shut", summary: "shut a box", operands: ["NAME"]),
        ])
}
