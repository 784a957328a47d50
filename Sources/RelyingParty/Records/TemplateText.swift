// SPDX-License-Identifier: Apache-2.0

/// The text of a template, parsed into literals and `{name}` placeholders.
///
/// Values are inserted once and not scanned again, so a value that contains `{other}` is shown as
/// it is. Only the template itself can begin a new line. Characters that are invisible or change
/// the writing direction are refused in the template and replaced by U+FFFD in values.
struct TemplateText: Equatable, Sendable {
    /// The maximum length in bytes, before and after filling, which is what a statement can carry.
    static let maximumLength = 4_096
    private static let mostPlaceholders = 16
    private static let longestValue = 1_024

    private enum Part: Equatable, Sendable {
        case literal([UInt8])
        case placeholder(String)
    }

    private let parts: [Part]

    /// Parses the administrator's text; throws a fault that says what is wrong with it.
    init(_ text: String) throws(FieldFault) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else {
            throw FieldFault(text: "the text is not 1 to \(Self.maximumLength) bytes")
        }
        guard Self.isVisible(text.replacing("\n", with: "")) else {
            throw FieldFault(text: "the text contains characters that cannot be seen")
        }
        parts = try Self.parts(of: text)
        guard placeholders.count <= Self.mostPlaceholders else {
            throw FieldFault(text: "the text has more than \(Self.mostPlaceholders) placeholders")
        }
    }

    /// Whether every character of a text is shown as it is.
    static func isVisible(_ text: String) -> Bool {
        visible([UInt8](text.utf8)) == [UInt8](text.utf8)
    }

    /// The names of the values that must be given.
    var placeholders: Set<String> {
        var names: Set<String> = []
        for part in parts {
            if case .placeholder(let name) = part { names.insert(name) }
        }
        return names
    }

    /// Returns the text with the values filled in.
    ///
    /// - Throws: `.malformed` unless there is exactly one value for each placeholder, each of at
    ///   most 1,024 bytes, and the result has 1 to `maximumLength` bytes.
    func filled(with values: [String: String]) throws(Problem) -> String {
        for name in placeholders.sorted() where values[name] == nil {
            throw .malformed("'data' has no '\(name)', which the template requires")
        }
        guard values.count == placeholders.count else {
            throw .malformed("'data' has values that the template does not show")
        }
        var text: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .placeholder(let name): text += try Self.shownValue(values[name] ?? "", name: name)
            }
        }
        guard text.count <= Self.maximumLength else {
            throw .malformed("'data' makes the text longer than \(Self.maximumLength) bytes")
        }
        guard !text.isEmpty else { throw .malformed("'data' leaves the text empty") }
        return String(decoding: text, as: UTF8.self)
    }

    /// Refuses a long value instead of cutting it: a truncated amount is a different amount.
    private static func shownValue(_ value: String, name: String) throws(Problem) -> [UInt8] {
        let bytes = [UInt8](value.utf8)
        guard bytes.count <= longestValue else {
            throw .malformed("'\(name)' is longer than \(longestValue) bytes")
        }
        return visible(bytes)
    }

    /// Works on bytes: as a Character, a brace with a combining accent would not equal a brace.
    private static func parts(of text: String) throws(FieldFault) -> [Part] {
        var parts: [Part] = []
        var rest = [UInt8](text.utf8)[...]
        let (opening, closing) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        while let brace = rest.firstIndex(where: { $0 == opening || $0 == closing }) {
            if brace > rest.startIndex { parts.append(.literal([UInt8](rest[..<brace]))) }
            let inside = rest[(brace + 1)...]
            guard rest[brace] == opening, let end = inside.firstIndex(of: closing),
                isName(inside[..<end])
            else {
                throw FieldFault(
                    text: "a brace in the text does not belong to a placeholder such as {amount}")
            }
            parts.append(.placeholder(String(decoding: inside[..<end], as: UTF8.self)))
            rest = inside[(end + 1)...]
        }
        if !rest.isEmpty { parts.append(.literal([UInt8](rest))) }
        return parts
    }

    /// 1 to 32 ASCII letters, digits, hyphens or underscores.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        (1...32).contains(text.count)
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
