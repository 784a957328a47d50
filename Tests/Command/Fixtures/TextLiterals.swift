// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A text in the program's sources, in the pieces between what is filled in.
struct TextLiteral: CustomStringConvertible {
    var pieces = [""]

    /// Letters and digits, what is filled in not counted.
    var size: Int { pieces.joined().count { $0.isLetter || $0.isNumber } }

    var description: String { pieces.joined(separator: "…") }

    /// Whether a line is this text with something filled in.
    func makes(_ line: String) -> Bool {
        var rest = Substring(line)
        for (index, piece) in trimmed.enumerated() {
            guard let range = piece.isEmpty ? rest.startIndex..<rest.startIndex : rest.range(piece)
            else { return false }
            guard index > 0 || range.lowerBound == line.startIndex else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.isEmpty || trimmed.last == "" || line.hasSuffix(trimmed[trimmed.count - 1])
    }

    /// Whether a line has this text in it, with something filled in.
    func isPart(of line: String) -> Bool {
        var rest = Substring(line)
        for piece in trimmed where !piece.isEmpty {
            guard let range = rest.range(piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    private var trimmed: [String] {
        var pieces = pieces
        pieces[0] = String(pieces[0].drop { $0 == " " })
        while pieces[pieces.count - 1].last == " " { pieces[pieces.count - 1].removeLast() }
        return pieces
    }

    /// Those of a source file below Sources; in the file of a command only its messages, and not
    /// what it shows as a result. What stands in interpolations is no text of its own.
    static func all(in file: String) throws -> [TextLiteral] {
        let bytes = try Layout.read("\(Layout.package)/Sources/\(file)")
        let source = String(decoding: bytes, as: UTF8.self)
        let messages = source.matches(of: #/\nenum \w+Messages \{\n(?:.*\n)*?\}\n/#).map(\.output)
            .filter { !$0.contains("ResultMessages {") }
        return (file.hasPrefix("Device/Command/") ? messages : [source[...]]).flatMap { text in
            var reader = SourceReader(rest: text)
            return reader.literals()
        }
    }
}

extension Substring {
    fileprivate func range(_ piece: String) -> Range<String.Index>? { firstRange(of: piece) }
}

/// Reads the string literals of Swift's sources, as far as this package writes them.
private struct SourceReader {
    var rest: Substring

    mutating func literals() -> [TextLiteral] {
        var literals: [TextLiteral] = []
        while let character = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { $0 != "\n" }
            } else if character == "\"" {
                literals.append(literal())
            } else {
                rest.removeFirst()
            }
        }
        return literals
    }

    /// The literal that begins here.
    private mutating func literal() -> TextLiteral {
        let mark = rest.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
        rest.removeFirst(mark.count)
        var literal = TextLiteral()
        while !rest.isEmpty, !rest.hasPrefix(mark) {
            let character = rest.removeFirst()
            let last = literal.pieces.count - 1
            switch (character, rest.first) {
            case ("\\", "("):
                skipInterpolation()
                literal.pieces.append("")
            case ("\\", "\n"?), ("\n", _):
                // The end of a line is none of the text's; nor is the indentation of the next.
                rest = rest.drop { $0 == "\n" || $0 == " " }
            case ("\\", let escaped?):
                literal.pieces[last].append(escaped)
                rest.removeFirst()
            default: literal.pieces[last].append(character)
            }
        }
        rest = rest.dropFirst(mark.count)
        return literal
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if rest.first == "\"" {
                _ = literal()
                continue
            }
            let character = rest.removeFirst()
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
        } while depth > 0 && !rest.isEmpty
    }
}
