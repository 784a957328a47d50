// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// What an option or an operand takes: its placeholder, and which values are accepted.
///
/// The parser checks a value against its kind, so what reaches a program is of that kind.
package struct ValueSyntax: Sendable {
    package enum Kind: Equatable, Sendable {
        /// Anything that is not empty; the program checks the rest.
        case text
        /// Words with commas between them, or nothing; the program checks the words.
        case words
        /// A decimal number within bounds, without sign and leading zeros.
        case number(ClosedRange<Int64>)
        /// One of these words.
        case choice([String])
        /// Anything that is not empty; these words are common.
        case suggestion([String])
        /// The name of an account of this machine.
        case account
        /// The URL of a server, or a part of one.
        case url
        /// The path of a file.
        case file
        /// The path of a file that begins with a slash.
        case absoluteFile
        /// The path of a directory.
        case directory
        /// One of the program's commands.
        case command
        /// What a command of the program lists, in a member of its JSON: a completion may ask it.
        case listed(member: String, by: String)
    }

    /// The placeholder, for example `NAME`.
    package let name: String
    package let kind: Kind
    /// Says why a value is refused, where the kind's own words would say too little.
    private let refusal: (@Sendable (Bytes) -> Text)?

    package init(
        _ name: String, _ kind: Kind = .text, refusal: (@Sendable (Bytes) -> Text)? = nil
    ) {
        self.name = name
        self.kind = kind
        self.refusal = refusal
    }

    /// One of these words, shown as `one|several`.
    package static func choice(_ words: String...) -> ValueSyntax {
        ValueSyntax(words.joined(separator: "|"), .choice(words))
    }

    /// A number within bounds.
    package static func number(_ bounds: ClosedRange<Int64>) -> ValueSyntax {
        ValueSyntax("NUMBER", .number(bounds))
    }

    /// Throws unless the value is of this kind; `taker` is what takes it, for the message.
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

    /// A number in its only spelling: decimal digits without sign and leading zeros.
    static func number(_ text: String) -> Int64? {
        guard (1...19).contains(text.utf8.count), text == "0" || text.utf8.first != 0x30,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// An option of a command.
///
/// Two options of a program with one name either both take a value or neither does; what they take
/// and what they are for may depend on the command.
package struct OptionSyntax: Sendable {
    /// The name without hyphens, for example `account`.
    package let name: String
    /// The letter of the short form; nil if there is none.
    package let short: Character?
    /// What it takes; nil for a flag.
    package let value: ValueSyntax?
    /// What it is for, in one line.
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

    /// The option as typed, for example `--account`.
    package var long: String { "--\(name)" }

    /// All spellings of its name.
    package var spellings: [String] { [long] + (short.map { ["-\($0)"] } ?? []) }

    /// The option with its placeholder, as help shows it.
    package var shown: String { value.map { "\(long) \($0.name)" } ?? long }

    /// Every command takes it.
    package static let help = OptionSyntax(
        "help", short: "h", summary: "show what the command takes")
    /// Every program takes it in the place of a command.
    package static let version = OptionSyntax(
        "version", summary: "show the version of this program")
}

/// A word that a command takes by its position.
package struct OperandSyntax: ExpressibleByStringLiteral, Sendable {
    package let value: ValueSyntax
    /// How many words it stands for.
    package let minimum: Int
    package let maximum: Int
    /// Says that it is missing, where the parser's own words would say too little.
    let missing: Text?

    package init(_ value: ValueSyntax, count: ClosedRange<Int> = 1...1, missing: Text? = nil) {
        self.value = value
        (minimum, maximum) = (count.lowerBound, count.upperBound)
        self.missing = missing
    }

    /// One word of any text; the literal is the placeholder.
    package init(stringLiteral name: String) { self.init(ValueSyntax(name)) }
}
