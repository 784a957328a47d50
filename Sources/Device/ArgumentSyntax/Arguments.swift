// SPDX-License-Identifier: Apache-2.0

/// A command line that fits the declaration of its command.
///
/// Every option in it is one that the form takes, its value is of the declared kind, and there are
/// as many operands as the form has.
package struct Arguments: Sendable {
    package let command: CommandSyntax
    /// The operands in order; the word that selects a form is the first of them.
    package let operands: [String]
    /// The values of each option, in order; a flag has an empty one.
    private let values: [String: [String]]

    init(_ command: CommandSyntax, _ operands: [String], _ values: [String: [String]]) {
        self.command = command
        self.operands = operands
        self.values = values
    }

    /// Whether an option is present.
    package func has(_ option: OptionSyntax) -> Bool { values[option.name] != nil }

    /// The value of an option that takes one; nil if the option is absent.
    package func value(_ option: OptionSyntax) -> String? { values[option.name]?.first }

    /// The values of an option that may be given several times.
    package func values(_ option: OptionSyntax) -> [String] { values[option.name] ?? [] }

    /// The value of an option that takes a number; nil if the option is absent.
    package func number(_ option: OptionSyntax) -> Int64? {
        value(option).flatMap(ValueSyntax.number)
    }
}

/// What a command line asks for.
package enum CommandLineReading: Sendable {
    /// Do what the command does.
    case run(Arguments)
    /// Show the help of the command or group that these words name; empty for the program.
    case help(of: [String])
    case version
}

extension ProgramSyntax {
    /// Reads the words after the program's name.
    package func read(_ words: [String]) throws(UsageFault) -> CommandLineReading {
        var parser = ArgumentParser(self, words)
        return try parser.read()
    }
}

/// Reads a command line from left to right.
///
/// `--option value` and `--option=value` are the same; `--` ends the options. Words select a command
/// as long as one has a name that begins with them.
private struct ArgumentParser {
    private let program: ProgramSyntax
    private var rest: ArraySlice<String>
    /// The words that name the command.
    private var path: [String] = []
    private var values: [String: [String]] = [:]
    private var operands: [String] = []

    init(_ program: ProgramSyntax, _ words: [String]) {
        self.program = program
        rest = words[...]
    }

    private var call: String { program.call(path) }
    /// What messages call the command.
    private var title: String { path.isEmpty ? program.name : path.joined(separator: " ") }
    /// What lists the commands.
    private var help: String {
        program.helpCommand.map { program.call([$0]) } ?? "\(call) --help"
    }

    mutating func read() throws(UsageFault) -> CommandLineReading {
        try readName()
        let isEarlyHelp = takeFlag(.help)
        if isEarlyHelp, let name = program.helpCommand {
            // `signet --help secret` is `signet help secret`.
            var parser = ArgumentParser(program, [name] + path + rest)
            return try parser.read()
        }
        guard let command = program.command(path) else {
            if takeFlag(.version) {
                guard let word = rest.first else { return .version }
                throw .unwantedWord(word, of: "--version", call: program.name)
            }
            guard isEarlyHelp, rest.isEmpty else { throw fault(at: rest.first) }
            return .help(of: path)
        }
        try readRest(program.options(of: command))
        if takeFlag(.help) || isEarlyHelp { return help(of: command) }
        if values[OptionSyntax.version.name] != nil {
            guard operands.isEmpty, values.count == 1, path.isEmpty else {
                throw .unwantedWord(
                    path.first ?? operands.first ?? "--\(values.keys.sorted()[0])",
                    of: "--version", call: program.name)
            }
            return .version
        }
        try command.check(operands, Set(values.keys), call)
        return .run(Arguments(command, operands, values))
    }

    /// The help for a command, by the program's own command if it has one for that.
    private func help(of command: CommandSyntax) -> CommandLineReading {
        guard let name = program.helpCommand, let shown = program.command([name]) else {
            return .help(of: path)
        }
        let taken = shown.allOptions.map(\.name)
        return .run(Arguments(shown, path, values.filter { taken.contains($0.key) }))
    }

    /// Reads the words of the command's name, and the options that may stand among them.
    private mutating func readName() throws(UsageFault) {
        while let word = rest.first, word != "--" {
            if word.hasPrefix("-"), word != "-" {
                var early = program.groupOptions(at: path) + [.help]
                if path.isEmpty { early.append(.version) }
                let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
                guard early.contains(where: { $0.spellings.contains(name) }) else { return }
                rest.removeFirst()
                try readOption(word, early)
            } else if program.command(path + [word]) != nil
                || !program.commands(below: path + [word]).isEmpty
            {
                path.append(word)
                rest.removeFirst()
            } else {
                return
            }
        }
    }

    private mutating func readRest(_ options: [OptionSyntax]) throws(UsageFault) {
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            if word.hasPrefix("-"), word != "-" {
                try readOption(word, options)
            } else {
                operands.append(word)
            }
        }
    }

    private mutating func readOption(
        _ word: String, _ options: [OptionSyntax]
    ) throws(UsageFault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let typed = String(parts[0])
        guard let option = options.first(where: { $0.spellings.contains(typed) }) else {
            throw .unknownOption(typed, of: title, call: call)
        }
        guard option.isRepeatable || values[option.name] == nil else {
            throw .repeatedOption(option.long)
        }
        guard let syntax = option.value else {
            guard parts.count == 1 else { throw .unwantedValue(option.long) }
            values[option.name] = [""]
            return
        }
        let value = parts.count == 2 ? String(parts[1]) : rest.popFirst()
        guard let value, !value.isEmpty || syntax.kind == .words else {
            throw .missingValue(option.long, call: call)
        }
        try syntax.check(value, of: option.long)
        values[option.name, default: []].append(value)
    }

    /// Whether a flag was read; it is then forgotten.
    private mutating func takeFlag(_ option: OptionSyntax) -> Bool {
        values.removeValue(forKey: option.name) != nil
    }

    /// Why no command is named by the words so far and this one.
    private func fault(at word: String?) -> UsageFault {
        let next = program.commands(below: path).map { $0.words[path.count] }
        guard path.isEmpty else {
            var words: [String] = []
            for word in next where !words.contains(word) { words.append(word) }
            return .incompleteCommand(title, words, help: help)
        }
        guard let word, word != "--" else { return .noCommand(help: help) }
        return word.hasPrefix("-")
            ? .earlyOption(word, help: help) : .unknownCommand(word, help: help)
    }
}
