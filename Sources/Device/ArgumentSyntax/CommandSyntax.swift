// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// One way to call a command: what it takes beside the options of every form.
///
/// A form is selected by its first required option, or by the word that it begins with; a form
/// without either is the one that is meant where nothing selects another.
package struct FormSyntax: Sendable {
    /// The word that it begins with, for example `migrate`.
    package let word: String?
    /// Options without which this form is not meant or not complete; the first selects it.
    package let required: [OptionSyntax]
    package let operands: [OperandSyntax]
    /// Options that may be given with this form, and not with every other.
    package let options: [OptionSyntax]
    /// Says that the operands do not fit, where the parser's own words would say too little.
    let misuse: Text?
    /// Whether only root may call it.
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

    /// The option that selects it; nil if none does.
    package var selector: OptionSyntax? { required.first }

    /// What names it in a message: its option, its word, or its first operand.
    package var label: String { selector?.long ?? word ?? operands.first?.value.name ?? "" }

    func takes(_ name: String) -> Bool { (required + options).contains { $0.name == name } }
}

/// One command of a program: what it is called with, and what it is for.
package struct CommandSyntax: Sendable {
    /// The words that name it, for example `secret set`; empty for a program without commands.
    package let name: String
    /// What it does, in one line.
    package let summary: Text
    /// The ways to call it: at least one.
    package let forms: [FormSyntax]
    /// The options of every form, without `--help`.
    package let options: [OptionSyntax]
    /// Says that the operands do not fit, for forms that have no words of their own for it.
    let misuse: Text?

    /// A command with several forms.
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

    /// A command with one form.
    package init(
        _ name: String, summary: Text, operands: [OperandSyntax] = [], options: [OptionSyntax] = []
    ) {
        self.init(name, summary: summary, forms: [FormSyntax(operands: operands)], options: options)
    }

    /// The words that name it.
    package var words: [String] { name.split(separator: " ").map(String.init) }

    /// The options of all forms in the order of the help, each once; `--help` is the last.
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

/// Commands whose names begin with the same words.
package struct GroupSyntax: Sendable {
    /// The words that they share, for example `secret`.
    package let name: String
    /// What they are for, in one line.
    package let summary: Text
    /// Options of all of them, which may also stand before the rest of a command's name.
    package let options: [OptionSyntax]

    package init(_ name: String, summary: Text, options: [OptionSyntax] = []) {
        self.name = name
        self.summary = summary
        self.options = options
    }
}

/// A program: everything that its command line may have.
///
/// Parser, help, completions for shells, the SYNOPSIS of manual pages and the tables of commands
/// follow from this alone. Each program has `--version`, and each command `--help`.
package struct ProgramSyntax: Sendable {
    package let name: String
    /// What the program does, in one line.
    package let summary: Text
    package let groups: [GroupSyntax]
    /// All commands, in the order of the help. One without a name is the program's own work.
    package let commands: [CommandSyntax]
    /// The command that shows help, as `--help` does; nil if there is none.
    package let helpCommand: String?
    /// What the help of the program and of its groups ends with.
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

    /// A program without commands.
    package init(
        _ name: String, summary: Text, operands: [OperandSyntax] = [],
        options: [OptionSyntax] = [], notes: [Text] = []
    ) {
        let work = CommandSyntax("", summary: summary, operands: operands, options: options)
        self.init(name, summary: summary, commands: [work], notes: notes)
    }

    /// The command of this name; nil if there is none.
    package func command(_ words: [String]) -> CommandSyntax? {
        commands.first { $0.words == words }
    }

    /// The commands whose names have these words in front, and more behind.
    package func commands(below words: [String]) -> [CommandSyntax] {
        commands.filter { $0.words.count > words.count && $0.words.starts(with: words) }
    }

    /// All that a command takes: its own options, and those of its groups.
    package func options(of command: CommandSyntax) -> [OptionSyntax] {
        let own = command.allOptions
        let shared = groupOptions(at: command.words)
        return own.dropLast() + shared + (command.name.isEmpty ? [.version] : []) + own.suffix(1)
    }

    /// The options that may stand behind these words of a command's name.
    package func groupOptions(at words: [String]) -> [OptionSyntax] {
        groups.filter { words.starts(with: $0.name.split(separator: " ").map(String.init)) }
            .flatMap(\.options)
    }

    /// What to type for a command, for example `signet secret set`.
    package func call(_ words: [String]) -> String {
        ([name] + words).joined(separator: " ")
    }
}

extension String {
    /// The UTF-8 bytes.
    var bytes: Bytes { Bytes(utf8) }

    /// The bytes for a message, at most 200 characters of them.
    var shown: Bytes {
        unicodeScalars.count <= 200
            ? bytes
            : Bytes(String(String.UnicodeScalarView(unicodeScalars.prefix(200))).utf8) + "…".utf8
    }

    /// The string as a text, with characters escaped that must not stand in a line.
    var text: Text { Text(escaping: bytes) }
}
