// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// A text for people: English, and what is needed to show it in another language.
///
/// What is filled in from outside cannot change how the line shows: controls, broken UTF-8 and what
/// cannot be seen in it become `\xNN`.
package struct Text: ExpressibleByStringInterpolation, Equatable, Sendable {
    /// The English text as the catalogues have it: `%1$s`, `%2$s`, … stand where something is filled
    /// in, `%%` for a percent sign.
    package let pattern: Bytes
    /// What is filled in, in the order of the English text.
    private let arguments: [Argument]

    fileprivate enum Argument: Sendable {
        /// Words that are the same in each language, made harmless.
        case words(Bytes)
        /// A text within the text.
        case text(Text)
        /// English words, made harmless, that the catalogue may have.
        case detail(Bytes)
        /// What depends on the language in another way, as the cell of a table does.
        case rendered(@Sendable ((Bytes) -> Bytes?) -> Bytes)
    }

    /// A text without anything filled in.
    @inline(never)
    package init(stringLiteral literal: StaticString) {
        var interpolation = Interpolation(literalCapacity: 0, interpolationCount: 0)
        interpolation.appendLiteral(literal)
        self.init(stringInterpolation: interpolation)
    }

    /// A text with things filled in.
    @inline(never)
    package init(stringInterpolation interpolation: Interpolation) {
        pattern = interpolation.pattern
        arguments = interpolation.arguments
    }

    private init(pattern: Bytes, arguments: [Argument]) {
        self.pattern = pattern
        self.arguments = arguments
    }

    /// A text that comes from outside, made harmless.
    @inline(never)
    package init(escaping outside: Bytes) {
        var interpolation = Interpolation(literalCapacity: 0, interpolationCount: 1)
        interpolation.appendInterpolation(outside)
        self.init(stringInterpolation: interpolation)
    }

    /// The English text, as UTF-8 without a line end.
    package var bytes: Bytes { rendered { _ in nil } }

    /// The text in the language of a catalogue, as UTF-8 without a line end.
    ///
    /// English where `translation` has nothing for a pattern, or nothing usable: controls in it, or
    /// other arguments than the pattern has.
    @inline(never)
    package func rendered(by translation: (Bytes) -> Bytes?) -> Bytes {
        var filled: [Bytes] = []
        for argument in arguments {
            let words =
                switch argument {
                case .words(let words): words
                case .text(let text): text.rendered(by: translation)
                case .detail(let words): Text.detail(words, by: translation)
                case .rendered(let render): render(translation)
                }
            filled.append(words)
        }
        if let own = translation(pattern), Text.escaped(own) == own,
            let text = Text.fill(own, with: filled)
        {
            return text
        }
        return Text.fill(pattern, with: filled) ?? []
    }

    /// Whether both are the same in English.
    package static func == (one: Text, other: Text) -> Bool { one.bytes == other.bytes }
}

extension Text {
    /// A pattern with its arguments in place; nil unless it has each of them and nothing else.
    private static func fill(_ pattern: Bytes, with arguments: [Bytes]) -> Bytes? {
        var text: Bytes = []
        var isMissing = [Bool](repeating: true, count: arguments.count)
        var index = 0
        while index < pattern.count {
            let byte = pattern[index]
            index += 1
            guard byte == UInt8(ascii: "%") else {
                text.append(byte)
                continue
            }
            guard let directive = directive(in: pattern, at: index) else { return nil }
            index += directive.length
            guard directive.number > 0 else {
                text.append(byte)
                continue
            }
            guard directive.number <= arguments.count else { return nil }
            text.append(contentsOf: arguments[directive.number - 1])
            isMissing[directive.number - 1] = false
        }
        return isMissing.contains(true) ? nil : text
    }

    private static func detail(
        _ words: Bytes, by translation: (Bytes) -> Bytes?
    ) -> Bytes {
        let whole = Text(pattern: pattern(of: words), arguments: [])
        guard translation(whole.pattern) == nil else { return whole.rendered(by: translation) }
        var head: Bytes = []
        for byte in words {
            if byte == UInt8(ascii: " "), head.last == UInt8(ascii: ":") {
                let rest = Bytes(words.dropFirst(head.count + 1))
                let text = Text(
                    pattern: pattern(of: head) + StaticString(" %1$s").bytes,
                    arguments: [.words(rest)])
                return text.rendered(by: translation)
            }
            head.append(byte)
        }
        return words
    }

    /// Words as they stand in a pattern.
    private static func pattern(of words: Bytes) -> Bytes {
        var pattern: Bytes = []
        for byte in words {
            pattern.append(byte)
            if byte == UInt8(ascii: "%") { pattern.append(byte) }
        }
        return pattern
    }

    /// What follows a percent sign: another one (number 0), or `N$s`; nil if it is neither.
    private static func directive(in pattern: Bytes, at start: Int) -> (number: Int, length: Int)? {
        var number = 0
        var index = start
        while index < pattern.count {
            let byte = pattern[index]
            index += 1
            switch byte {
            case UInt8(ascii: "%"):
                return index == start + 1 ? (0, 1) : nil
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                // No text has as many, so nothing that was written so far can overflow.
                guard number > 0, number < 1_000 else { return nil }
            case UInt8(ascii: "$"):
                guard number > 0, index < pattern.count, pattern[index] == UInt8(ascii: "s") else {
                    return nil
                }
                return (number, index + 1 - start)
            default: return nil
            }
        }
        return nil
    }

    private static func escaped(_ outside: Bytes) -> Bytes {
        Printable.escaping(outside, invisible: true) { byte, text in
            text += [UInt8(ascii: "\\"), UInt8(ascii: "x")] + Hexadecimal.encode([byte])
        }
    }
}

extension Text {
    /// The type of interpolations.
    package typealias StringInterpolation = Interpolation

    /// Collects the pieces of a text.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var pattern: Bytes = []
        fileprivate var arguments: [Argument] = []

        /// Begins an empty text.
        @inline(never)
        package init(literalCapacity: Int, interpolationCount: Int) {
            pattern.reserveCapacity(literalCapacity + interpolationCount * 4)
        }

        /// Appends the program's own words.
        @inline(never)
        package mutating func appendLiteral(_ literal: StaticString) {
            pattern.append(contentsOf: Text.pattern(of: literal.bytes))
        }

        /// Appends words from outside, made harmless.
        @inline(never)
        package mutating func appendInterpolation(_ outside: Bytes) {
            append(.words(Text.escaped(outside)))
        }

        /// Appends a name from outside, made harmless.
        package mutating func appendInterpolation(_ name: EntityName<some Any>) {
            appendInterpolation(name.bytes)
        }

        /// Appends another text.
        @inline(never)
        package mutating func appendInterpolation(_ text: Text) {
            append(.text(text))
        }

        /// Appends what the daemon says more, in English, made harmless; it is shown in the language of
        /// the text if the catalogue has it whole, or with what follows a colon as it is.
        @inline(never)
        package mutating func appendInterpolation(detail: Bytes) {
            append(.detail(Text.escaped(detail)))
        }

        /// Appends a number in decimal.
        @inline(never)
        package mutating func appendInterpolation(number: some UnsignedInteger) {
            append(.words(Decimal.encode(UInt64(number))))
        }

        /// Appends what a function makes of the words of a language.
        package mutating func append(
            rendering render: @escaping @Sendable ((Bytes) -> Bytes?) -> Bytes
        ) {
            append(.rendered(render))
        }

        private mutating func append(_ argument: Argument) {
            arguments.append(argument)
            pattern.append(UInt8(ascii: "%"))
            pattern.append(contentsOf: Decimal.encode(UInt64(arguments.count)))
            pattern.append(UInt8(ascii: "$"))
            pattern.append(UInt8(ascii: "s"))
        }
    }
}
