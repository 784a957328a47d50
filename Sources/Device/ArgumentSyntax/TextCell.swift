// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import SignedFormats

extension Text.Interpolation {
    /// Appends a cell of a table: the text, padded to two columns more than the widest cell.
    ///
    /// The widths are measured in the language in which the text is shown.
    package mutating func appendInterpolation(cell text: Text, column: [Text]) {
        append { translation in
            let own = text.rendered(by: translation)
            let widths = column.map { Columns.count(of: $0.rendered(by: translation)) }
            let filler = max(0, (widths.max() ?? 0) - Columns.count(of: own)) + 2
            return own + Bytes(repeating: UInt8(ascii: " "), count: filler)
        }
    }

    /// Appends a text that continues in further lines, each indented as far as the first, rather
    /// than be broken by the terminal within a word.
    ///
    /// - Parameter column: The cells in front of it, which are indented by two columns themselves;
    ///   empty for a text at the beginning of the line.
    package mutating func appendInterpolation(wrapped text: Text, after column: [Text]) {
        append { translation in
            let widths = column.map { Columns.count(of: $0.rendered(by: translation)) }
            let indent = widths.max().map { $0 + 4 } ?? 0
            let lines = Columns.wrapped(
                text.rendered(by: translation), columns: max(Columns.ofHelp - indent, 20))
            let separator = [10] + Bytes(repeating: UInt8(ascii: " "), count: indent)
            return Bytes(lines.joined(separator: separator))
        }
    }
}
