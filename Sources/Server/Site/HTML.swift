// SPDX-License-Identifier: Apache-2.0
/// Text of HTML. What is put into a literal of it is escaped, unless it is of this type itself: so
/// a value from outside cannot become markup by being forgotten.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// As it is sent.
    private(set) var text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
    }

    /// Parts after each other.
    init(_ parts: [HTML]) {
        text = parts.map(\.text).joined()
    }

    /// How the parts of a literal are put together.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Markup, as it is.
        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        /// A value: escaped, and kept from changing the direction of what stands around it.
        mutating func appendInterpolation(_ value: String) { text += escaped(value) }

        mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
    }

    /// Lines of text, each as `init` has values; only line feeds end one.
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

/// A value as it may stand in text and in a quoted attribute: U+FFFD is in place of each character
/// that ends a line, shows nothing or changes the direction of writing.
private func escaped(_ value: String) -> String {
    let shown = visible([UInt8](value.utf8))
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
