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
}
