// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// HTML that is safe to build from untrusted values.
///
/// A value interpolated into a literal is escaped unless it is `HTML` itself, so a value from
/// outside cannot become markup by mistake.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The markup as it is sent.
    private(set) var text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
    }

    /// Concatenates parts.
    init(_ parts: [HTML]) {
        text = parts.map(\.text).joined()
    }

    /// Builds the text of an interpolated literal.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends markup unchanged.
        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        /// Appends a value, escaped, with misleading and invisible characters replaced.
        mutating func appendInterpolation(_ value: String) { text += escaped(value) }

        mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
    }

    /// Escapes a text of several lines, which are separated by line feeds only.
    static func lines(_ text: String) -> HTML {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var all: HTML = ""
        for (index, line) in lines.enumerated() {
            if index > 0 { all.text += "\n" }
            all.text += escaped(String(line))
        }
        return all
    }
}

/// Escapes a value for use in text and in quoted attributes.
///
/// Characters that end a line, show nothing or change the writing direction become U+FFFD.
private func escaped(_ value: String) -> String {
    let shown = Printable.escaping([UInt8](value.utf8), invisible: true) { byte, shown in
        // One replacement per character: skip UTF-8 continuation bytes.
        if byte & 0xC0 != 0x80 { shown += "\u{FFFD}".utf8 }
    }
    var text: [UInt8] = []
    text.reserveCapacity(shown.count)
    for byte in shown {
        switch byte {
        case UInt8(ascii: "&"): text += "&amp;".utf8
        case UInt8(ascii: "<"): text += "&lt;".utf8
        case UInt8(ascii: ">"): text += "&gt;".utf8
        case UInt8(ascii: "\""): text += "&quot;".utf8
        case UInt8(ascii: "'"): text += "&#39;".utf8
        default: text.append(byte)
        }
    }
    return String(decoding: text, as: UTF8.self)
}
