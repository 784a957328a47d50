// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// One way to call a command, with its own operands and options.
///
/// A form is selected by its first required option, or by the word that it begins with. A form
/// without either applies when no other form is selected.
package struct FormSyntax: Sendable {
    /// The word that the form begins with, for example `migrate`.
    package let word: String?
    /// The options that the form must have; the first of them selects it.
    package let required: [OptionSyntax]
    package let operands: [OperandSyntax]
    /// The options that this form takes, and that not every form takes.
    package let options: [OptionSyntax]
    /// The message for operands that do not fit, where the parser's own would say too little.
    let misuse: Text?
    /// Whether only root may use this form.
    package let isForRoot: Bool

    package init(
        word: String? = nil, _ required: OptionSyntax..., operands: [OperandSyntax] = [],
        options: [OptionSyntax] = [], misuse: Text? = nil, isForRoot: Bool = false
    ) {
        self.word = word
        self.required = required
        self.operands = operands
        self.options = options
        self.misuse = misuse
        self.isForRoot = isForRoot
    }

    /// The option that selects the form; nil if none does.
    package var selector: OptionSyntax? { required.first }

    /// The name of the form in messages: its option, its word, or its first operand.
    package var label: String { selector?.long ?? word ?? operands.first?.value.name ?? "" }

    func takes(_ name: String) -> Bool { (required + options).contains { $0.name == name } }
}

/// One command of a program: its name, its purpose, and the ways to call it.
package struct CommandSyntax: Sendable {
    /// The words of its name, for example `secret set`; empty for a program without commands.
    package let name: String
    /// The purpose in one line.
    package let summary: Text
    /// The ways to call the command, at least one.
    package let forms: [FormSyntax]
    /// The options of every form, without `--help`.
    package let options: [OptionSyntax]
    /// The message for operands that do not fit, for forms without a message.
    let misuse: Text?

    /// Declares a command with several forms.
    package init(
        _ name: String, summary: Text, forms: [FormSyntax], options: [OptionSyntax] = [],
        misuse: Text? = nil
    ) {
        self.name = name
        self.summary = summary
        self.forms = forms.isEmpty ? [FormSyntax()] : forms
        self.options = options
        self.misuse = misuse
    }

    /// Declares a command with one form.
    package init(
        _ name: String, summary: Text, operands: [OperandSyntax] = [], options: [OptionSyntax] = []
    ) {
        self.init(name, summary: summary, forms: [FormSyntax(operands: operands)], options: options)
    }

    /// The words of its name.
    package var words: [String] { name.split(separator: " ").map(String.init) }

    /// The options of all forms in the order of the help, each of them once, with `--help` as the
    /// last.
    package var allOptions: [OptionSyntax] {
        var all: [OptionSyntax] = []
        let own = forms.flatMap { $0.required + $0.options }
        for option in own + options + [.help] where !all.contains(where: { $0.name == option.name })
        {
            all.append(option)
        }
        return all
    }
}

/// A group of commands whose names begin with the same words.
package struct GroupSyntax: Sendable {
    /// The words that they share, for example `secret`.
    package let name: String
    /// The purpose of the group in one line.
    package let summary: Text
    /// The options of all of its commands, which may also precede the rest of a command's name.
    package let options: [OptionSyntax]

    package init(_ name: String, summary: Text, options: [OptionSyntax] = []) {
        self.name = name
        self.summary = summary
        self.options = options
    }
}

/// The declaration of a program's whole command line.
///
/// The parser, the help, the completions for shells, the SYNOPSIS of manual pages and the tables of
/// commands are all derived from it. Each program has `--version`, and each command `--help`.
package struct ProgramSyntax: Sendable {
    package let name: String
    /// The purpose of the program in one line.
    package let summary: Text
    package let groups: [GroupSyntax]
    /// All commands, in the order of the help; one without a name is the program itself.
    package let commands: [CommandSyntax]
    /// The command that shows help, as `--help` does; nil if there is none.
    package let helpCommand: String?
    /// The last lines in the help of the program and of its groups.
    let notes: [Text]

    package init(
        _ name: String, summary: Text, groups: [GroupSyntax] = [], commands: [CommandSyntax],
        helpCommand: String? = nil, notes: [Text] = []
    ) {
        self.name = name
        self.summary = summary
        self.groups = groups
        self.commands = commands
        self.helpCommand = helpCommand
        self.notes = notes
    }

    /// Declares a program without commands.
    package init(
        _ name: String, summary: Text, operands: [OperandSyntax] = [],
        options: [OptionSyntax] = [], notes: [Text] = []
    ) {
        let work = CommandSyntax("", summary: summary, operands: operands, options: options)
        self.init(name, summary: summary, commands: [work], notes: notes)
    }

    /// Returns the command of this name; nil if there is none.
    package func command(_ words: [String]) -> CommandSyntax? {
        commands.first { $0.words == words }
    }

    /// Returns the commands whose names begin with these words and are longer.
    package func commands(below words: [String]) -> [CommandSyntax] {
        commands.filter { $0.words.count > words.count && $0.words.starts(with: words) }
    }

    /// Returns all options that a command takes: its own, and those of its groups.
    package func options(of command: CommandSyntax) -> [OptionSyntax] {
        let own = command.allOptions
        let shared = groupOptions(at: command.words)
        return own.dropLast() + shared + (command.name.isEmpty ? [.version] : []) + own.suffix(1)
    }

    /// Returns the options that may follow these words of a command's name.
    package func groupOptions(at words: [String]) -> [OptionSyntax] {
        groups.filter { words.starts(with: $0.name.split(separator: " ").map(String.init)) }
            .flatMap(\.options)
    }

    /// Returns the command as the user types it, for example `signet secret set`.
    package func call(_ words: [String]) -> String {
        ([name] + words).joined(separator: " ")
    }
}

extension String {
    /// The string in UTF-8.
    var bytes: Bytes { Bytes(utf8) }

    /// The bytes for a message, at most 200 characters and an ellipsis.
    var shown: Bytes {
        unicodeScalars.count <= 200
            ? bytes
            : Bytes(String(String.UnicodeScalarView(unicodeScalars.prefix(200))).utf8) + "…".utf8
    }

    /// The string as a text, in which characters that may not be shown in a line are escaped.
    var text: Text { Text(escaping: bytes) }
}
