// SPDX-License-Identifier: Apache-2.0
import CommandMessages

/// A command line that was understood.
struct Arguments {
    let action: Action
    private(set) var operands: [String] = []
    private var values: [Option: String] = [:]

    /// Reads the words after the program's name; throws `.usage` on anything that is not known.
    init(_ words: [String]) throws(CommandFault) {
        guard let first = words.first else { throw .usage(CommandText.noAction) }
        if first == Action.secret {
            self = try Arguments(ofSecret: words.dropFirst())
            return
        }
        guard let action = Arguments.action(first) else {
            throw .usage(
                first.hasPrefix("-")
                    ? CommandText.earlyOption(first.bytes)
                    : CommandText.unknownAction(first.bytes))
        }
        try self.init(action, words.dropFirst())
    }

    /// Reads what follows the word `secret`.
    private init(ofSecret words: ArraySlice<String>) throws(CommandFault) {
        let word = words.first ?? ""
        if ["--help", "-h"].contains(word) {
            try self.init(.help, [Action.secret])
            return
        }
        guard let action = Action(rawValue: "\(Action.secret) \(word)") else {
            throw .usage(CommandSecrets.choose)
        }
        try self.init(action, words.dropFirst())
    }

    private init(_ action: Action, _ words: ArraySlice<String>) throws(CommandFault) {
        self.action = action
        try read(words)
        guard operands.count <= action.operands.most || has(.help) else {
            throw .usage(
                CommandText.unwantedWord(
                    operands[action.operands.most].bytes, action: action.rawValue.bytes))
        }
    }

    /// Whether an option was given.
    func has(_ option: Option) -> Bool { values[option] != nil }

    /// The value of an option that takes one.
    func value(_ option: Option) -> String? { values[option] }

    /// The options that have a short form.
    private static let long = ["-h": Option.help.name, "-n": Option.noNewline.name]

    private static func action(_ word: String) -> Action? {
        word == "--help" || word == "-h" ? .help : Action(rawValue: word)
    }

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
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(CommandFault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = action.options.first(where: { $0.name == name })
        else { throw .usage(CommandText.unknownOption(name.bytes, action: action.rawValue.bytes)) }
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
                CommandText.missingValue(option.name.bytes, action: action.rawValue.bytes))
        }
        values[option] = value
    }
}

extension String {
    /// The UTF-8 bytes.
    var bytes: [UInt8] { Array(utf8) }
}
