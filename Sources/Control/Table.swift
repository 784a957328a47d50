import Texts

/// Rows whose columns stand below each other.
enum Table {
    /// The lines; the last column is not filled up.
    static func lines(_ rows: [[Text]]) -> [Text] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if widths.count == column { widths.append(0) }
                widths[column] = max(widths[column], cell.string.count)
            }
        }
        return rows.map { line($0, widths) }
    }

    private static func line(_ row: [Text], _ widths: [Int]) -> Text {
        var line: Text = ""
        for (column, cell) in row.enumerated() {
            let isLast = column == row.count - 1
            let filler = isLast ? 0 : widths[column] - cell.string.count + 2
            line = "\(line)\(cell)\(String(repeating: " ", count: filler).text)"
        }
        return line
    }
}

extension String {
    /// As a text; what is no part of a line in it is escaped.
    var text: Text { Text(escaping: bytes) }
}
