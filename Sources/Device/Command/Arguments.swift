// SPDX-License-Identifier: Apache-2.0
import CommandMessages

/// A parsed command line.
///
/// Only options that the command takes are accepted, each at most once. A value follows `=` or is
/// the next argument; `--` ends the options.
struct Arguments {
    let command: any Command.Type
    private(set) var operands: [String] = []
    private var values: [Option: String] = [:]

    /// Parses the arguments after the program's name; throws `.usage` for anything unknown.
    init(_ words: [String]) throws(CommandFault) {
        guard let first = words.first else { throw .usage(CommandText.noAction) }
        if !Commands.group(first).isEmpty {
            self = try Arguments(ofGroup: first, words.dropFirst())
            return
        }
        let name = first == "--help" || first == "-h" ? HelpCommand.description.name : first
        guard let command = Commands.named(name) else {
            throw .usage(
                first.hasPrefix("-")
                    ? CommandText.earlyOption(first.bytes)
                    : CommandText.unknownAction(first.bytes))
        }
        try self.init(command, words.dropFirst())
    }

    /// Parses the arguments after the first word of a two-word command.
    private init(ofGroup group: String, _ words: ArraySlice<String>) throws(CommandFault) {
        let word = words.first ?? ""
        if ["--help", "-h"].contains(word) {
            try self.init(HelpCommand.self, [group])
            return
        }
        guard let command = Commands.named("\(group) \(word)") else {
            throw .usage(CommandSecrets.choose)
        }
        try self.init(command, words.dropFirst())
    }

    private init(
        _ command: any Command.Type, _ words: ArraySlice<String>
    ) throws(CommandFault) {
        self.command = command
        try read(words)
        let most = command.description.operands.most
        guard operands.count <= most || has(.help) else {
            throw .usage(
                CommandText.unwantedWord(
                    operands[most].bytes, action: name))
        }
    }

    /// Whether an option is present.
    func has(_ option: Option) -> Bool { values[option] != nil }

    /// The value of an option that takes one; nil if the option is absent.
    func value(_ option: Option) -> String? { values[option] }

    /// The short options and their long forms.
    private static let long = ["-h": Option.help.name, "-n": Option.noNewline.name]

    /// The command's name.
    var name: [UInt8] { command.description.name.bytes }

    private mutating func read(_ words: ArraySlice<String>) throws(CommandFault) {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            try readOption(Arguments.long[word] ?? word, &rest)
        }
    }

    private mutating func readOption(
        _ typed: String, _ rest: inout ArraySlice<String>
    ) throws(CommandFault) {
        let parts = typed.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let word = String(parts[0])
        let taken = command.description.options.map(\.option)
        guard let option = taken.first(where: { $0.name == word }) else {
            throw .usage(CommandText.unknownOption(word.bytes, action: name))
        }
        guard values[option] == nil else {
            throw .usage(CommandText.repeatedOption(option.name.bytes))
        }
        guard option.value != nil else {
            guard parts.count == 1 else {
                throw .usage(CommandText.unwantedValue(option.name.bytes))
            }
            values[option] = ""
            return
        }
        let value = parts.count == 2 ? String(parts[1]) : rest.popFirst()
        guard let value, !value.isEmpty else {
            throw .usage(
                CommandText.missingValue(option.name.bytes, action: name))
        }
        values[option] = value
    }
}

extension String {
    /// The UTF-8 bytes.
    var bytes: [UInt8] { Array(utf8) }
}
