// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The values that an option or an operand takes: their placeholder and their kind.
///
/// The parser checks each value against its kind, so a program only receives values of that kind.
package struct ValueSyntax: Sendable {
    package enum Kind: Equatable, Sendable {
        /// Any text that is not empty; the program checks it further.
        case text
        /// Words separated by commas, or an empty text; the program checks the words.
        case words
        /// A decimal number within bounds, without a sign and leading zeros.
        case number(ClosedRange<Int64>)
        /// One of these words.
        case choice([String])
        /// Any text that is not empty; completions suggest these words.
        case suggestion([String])
        /// The name of an account on this machine.
        case account
        /// The URL of a server, or a part of one.
        case url
        /// The path of a file.
        case file
        /// The path of a file, which must begin with a slash.
        case absoluteFile
        /// The path of a directory.
        case directory
        /// One of the program's commands.
        case command
        /// A value that a command of the program lists in a member of its JSON, which completions
        /// may run.
        case listed(member: String, by: String)
    }

    /// The placeholder, for example `NAME`.
    package let name: String
    package let kind: Kind
    /// Makes the message for a value that is rejected, where the kind's own would say too little.
    private let refusal: (@Sendable (Bytes) -> Text)?

    package init(
        _ name: String, kind: Kind = .text, refusal: (@Sendable (Bytes) -> Text)? = nil
    ) {
        self.name = name
        self.kind = kind
        self.refusal = refusal
    }

    /// Takes one of these words; the placeholder is `one|several`.
    package static func choice(_ words: String...) -> ValueSyntax {
        ValueSyntax(words.joined(separator: "|"), kind: .choice(words))
    }

    /// Takes a number within these bounds.
    package static func number(_ bounds: ClosedRange<Int64>) -> ValueSyntax {
        ValueSyntax("NUMBER", kind: .number(bounds))
    }

    /// Throws unless the value is of this kind; `taker` is the option or placeholder in the
    /// message.
    func check(_ value: String, of taker: String) throws(UsageFault) {
        let isGood =
            switch kind {
            case .number(let bounds): Self.number(value).map(bounds.contains) ?? false
            case .choice(let words): words.contains(value)
            case .absoluteFile: value.hasPrefix("/")
            case .words: true
            case .text, .suggestion, .account, .url, .file, .directory, .command, .listed:
                !value.isEmpty
            }
        guard !isGood else { return }
        if let refusal { throw .badValue(refusal(value.shown)) }
        switch kind {
        case .number(let bounds): throw .notInRange(taker, value, bounds)
        case .choice(let words): throw .notAChoice(taker, value, words)
        case .absoluteFile: throw .notAbsolute(taker, value)
        case .text, .words, .suggestion, .account, .url, .file, .directory, .command, .listed:
            throw .emptyValue(taker)
        }
    }

    /// Parses a number in its only spelling: decimal digits without a sign and leading zeros.
    static func number(_ text: String) -> Int64? {
        guard (1...19).contains(text.utf8.count), text == "0" || text.utf8.first != 0x30,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// An option of a command.
///
/// If several commands of a program have an option of the same name, either all of these take a
/// value or none does; the kind of value and the purpose may differ.
package struct OptionSyntax: Sendable {
    /// The name without hyphens, for example `account`.
    package let name: String
    /// The letter of the short form; nil if there is none.
    package let short: Character?
    /// The value that it takes; nil for a flag.
    package let value: ValueSyntax?
    /// The purpose in one line.
    package let summary: Text
    /// Whether it may be given several times.
    package let isRepeatable: Bool

    package init(
        _ name: String, _ value: ValueSyntax? = nil, short: Character? = nil,
        isRepeatable: Bool = false, summary: Text
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
        self.isRepeatable = isRepeatable
    }

    /// The option as the user types it, for example `--account`.
    package var long: String { "--\(name)" }

    /// All spellings of the option.
    package var spellings: [String] { [long] + (short.map { ["-\($0)"] } ?? []) }

    /// The option with its placeholder, as in the help.
    package var shown: String { value.map { "\(long) \($0.name)" } ?? long }

    /// The option `--help`, which every command takes.
    package static let help = OptionSyntax(
        "help", short: "h", summary: "show what the command takes")
    /// The option `--version`, which every program takes in place of a command.
    package static let version = OptionSyntax(
        "version", summary: "show the version of this program")
}

/// A word that a command takes by its position.
package struct OperandSyntax: ExpressibleByStringLiteral, Sendable {
    package let value: ValueSyntax
    /// The number of words that may take its place.
    package let minimum: Int
    package let maximum: Int
    /// The message if it is missing, where the parser's own would say too little.
    let missing: Text?

    package init(_ value: ValueSyntax, count: ClosedRange<Int> = 1...1, missing: Text? = nil) {
        self.value = value
        (minimum, maximum) = (count.lowerBound, count.upperBound)
        self.missing = missing
    }

    /// Takes one word of any text; the literal is the placeholder.
    package init(stringLiteral name: String) { self.init(ValueSyntax(name)) }
}
