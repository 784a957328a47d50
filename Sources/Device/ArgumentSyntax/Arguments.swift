// SPDX-License-Identifier: Apache-2.0

/// A command line that was checked against the declaration of its command.
///
/// Every option in it is one that its form takes, each value is of the declared kind, and the
/// number of operands is one that the form allows.
package struct Arguments: Sendable {
    package let command: CommandSyntax
    /// The operands in order, beginning with the word that selects a form, if there is one.
    package let operands: [String]
    /// The values of each option, in order; a flag has one empty value.
    private let values: [String: [String]]

    init(_ command: CommandSyntax, operands: [String], _ values: [String: [String]]) {
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

/// The action that a command line requests.
package enum CommandLineReading: Sendable {
    /// Run the command.
    case run(Arguments)
    /// Show the help of the command or group that these words name; empty for the program.
    case help(of: [String])
    case version
}

extension ProgramSyntax {
    /// Parses the words after the program's name.
    ///
    /// - Throws: why the command line is rejected.
    package func read(_ words: [String]) throws(UsageFault) -> CommandLineReading {
        var parser = ArgumentParser(self, words: words)
        return try parser.read()
    }
}

/// Parses a command line from left to right.
///
/// `--option value` and `--option=value` mean the same; `--` ends the options. Words are taken as a
/// command's name for as long as some command's name begins with them.
private struct ArgumentParser {
    private let program: ProgramSyntax
    private var rest: ArraySlice<String>
    /// The words of the command's name.
    private var path: [String] = []
    private var values: [String: [String]] = [:]
    private var operands: [String] = []

    init(_ program: ProgramSyntax, words: [String]) {
        self.program = program
        rest = words[...]
    }

    private var call: String { program.call(path) }
    /// The name of the command in messages.
    private var title: String { path.isEmpty ? program.name : path.joined(separator: " ") }
    /// The command that lists all commands.
    private var help: String {
        program.helpCommand.map { program.call([$0]) } ?? "\(call) --help"
    }

    mutating func read() throws(UsageFault) -> CommandLineReading {
        try readName()
        let isEarlyHelp = takeFlag(.help)
        if isEarlyHelp, let name = program.helpCommand {
            // `signet --help secret` is `signet help secret`.
            var parser = ArgumentParser(program, words: [name] + path + rest)
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
        try command.check(operands, given: Set(values.keys), call: call)
        return .run(Arguments(command, operands: operands, values))
    }

    /// The help for a command: the program's own help command, if there is one, shows it.
    private func help(of command: CommandSyntax) -> CommandLineReading {
        guard let name = program.helpCommand, let shown = program.command([name]) else {
            return .help(of: path)
        }
        let taken = shown.allOptions.map(\.name)
        return .run(Arguments(shown, operands: path, values.filter { taken.contains($0.key) }))
    }

    /// Reads the words of the command's name, and the options that may be among them.
    private mutating func readName() throws(UsageFault) {
        while let word = rest.first, word != "--" {
            if word.hasPrefix("-"), word != "-" {
                var early = program.groupOptions(at: path) + [.help]
                if path.isEmpty { early.append(.version) }
                let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
                guard early.contains(where: { $0.spellings.contains(name) }) else { return }
                rest.removeFirst()
                try readOption(word, options: early)
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
                try readOption(word, options: options)
            } else {
                operands.append(word)
            }
        }
    }

    private mutating func readOption(
        _ word: String, options: [OptionSyntax]
    ) throws(UsageFault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let typed = String(parts[0])
        guard let option = options.first(where: { $0.spellings.contains(typed) }) else {
            let nearest = typed.nearest(among: options.map(\.long))
            throw .unknownOption(typed, nearest: nearest, of: title, call: call)
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

    /// Whether a flag was given; it is then removed from `values`.
    private mutating func takeFlag(_ option: OptionSyntax) -> Bool {
        values.removeValue(forKey: option.name) != nil
    }

    /// Why the words so far, followed by this one, name no command.
    private func fault(at word: String?) -> UsageFault {
        let next = program.commands(below: path).map { $0.words[path.count] }
        guard path.isEmpty else {
            var words: [String] = []
            for word in next where !words.contains(word) { words.append(word) }
            return .incompleteCommand(title, words, help: help)
        }
        guard let word, word != "--" else { return .noCommand(help: help) }
        guard !word.hasPrefix("-") else { return .earlyOption(word, help: help) }
        let nearest = word.nearest(among: next)
        return .unknownCommand(word, nearest: nearest.map { program.call([$0]) }, help: help)
    }
}
