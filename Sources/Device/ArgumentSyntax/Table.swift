// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// A table of aligned columns, in the language in which it is shown.
package enum Table {
    /// Formats the rows as lines; the last cell of a row is not padded.
    package static func lines(_ rows: [[Text]]) -> [Text] {
        var columns: [[Text]] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if columns.count == index { columns.append([]) }
                columns[index].append(cell)
            }
        }
        return rows.map { line($0, columns: columns) }
    }

    private static func line(_ row: [Text], columns: [[Text]]) -> Text {
        var line: Text = ""
        for (index, cell) in row.enumerated() {
            let isLast = index == row.count - 1
            line = isLast ? "\(line)\(cell)" : "\(line)\(cell: cell, column: columns[index])"
        }
        return line
    }
}
