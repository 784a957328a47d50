// SPDX-License-Identifier: Apache-2.0

/// The text of a template: what is shown, with `{name}` where a value goes.
///
/// A value is put in as it is and never looked through again: one that holds `{other}` shows just
/// that. Nothing but the template itself begins a line, hides, or changes the direction of writing.
struct TemplateText: Equatable, Sendable {
    /// The longest text, filled or not, in bytes: what a statement can carry.
    static let maximumLength = 4_096
    private static let mostPlaceholders = 16
    private static let longestValue = 1_024

    private enum Part: Equatable, Sendable {
        case literal([UInt8])
        case placeholder(String)
    }

    private let parts: [Part]

    /// From what an administrator wrote; says what is wrong with it.
    init(_ text: String) throws(FieldFault) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else {
            throw FieldFault(text: "the text is not 1 to \(Self.maximumLength) bytes")
        }
        guard Self.isVisible(text.replacing("\n", with: "")) else {
            throw FieldFault(text: "the text holds characters that cannot be seen")
        }
        parts = try Self.parts(of: text)
        guard placeholders.count <= Self.mostPlaceholders else {
            throw FieldFault(text: "the text has more than \(Self.mostPlaceholders) placeholders")
        }
    }

    /// Whether a text is shown just as it is.
    static func isVisible(_ text: String) -> Bool {
        visible([UInt8](text.utf8)) == [UInt8](text.utf8)
    }

    /// The names of the values that are wanted.
    var placeholders: Set<String> {
        var names: Set<String> = []
        for part in parts {
            if case .placeholder(let name) = part { names.insert(name) }
        }
        return names
    }

    /// The text as a person is shown it; refused unless there is one value for each placeholder and
    /// none besides.
    func filled(with values: [String: String]) throws(Problem) -> String {
        for name in placeholders.sorted() where values[name] == nil {
            throw .malformed("'data' has no '\(name)', which the template wants")
        }
        guard values.count == placeholders.count else {
            throw .malformed("'data' has values that the template does not show")
        }
        var text: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .placeholder(let name): text += try Self.shownValue(values[name] ?? "", name)
            }
        }
        guard text.count <= Self.maximumLength else {
            throw .malformed("'data' makes the text longer than \(Self.maximumLength) bytes")
        }
        guard !text.isEmpty else { throw .malformed("'data' leaves nothing to be shown") }
        return String(decoding: text, as: UTF8.self)
    }

    /// Not cut where it is too long: a cut amount is another amount.
    private static func shownValue(_ value: String, _ name: String) throws(Problem) -> [UInt8] {
        let bytes = [UInt8](value.utf8)
        guard bytes.count <= longestValue else {
            throw .malformed("'\(name)' is longer than \(longestValue) bytes")
        }
        return visible(bytes)
    }

    /// By bytes: a brace with an accent on it is a brace.
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
                    text: "a brace in the text is no part of a placeholder such as {amount}")
            }
            parts.append(.placeholder(String(decoding: inside[..<end], as: UTF8.self)))
            rest = inside[(end + 1)...]
        }
        if !rest.isEmpty { parts.append(.literal([UInt8](rest))) }
        return parts
    }

    /// 1 to 32 of ASCII letters, digits, hyphens and underscores.
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
