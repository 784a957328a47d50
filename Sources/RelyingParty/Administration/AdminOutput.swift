// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import SignedFormats

/// Prints the results of commands: lines and tables for people, or JSON for programs.
///
/// Characters that could control or mislead a terminal are replaced (`visible`).
struct AdminOutput: Sendable {
    let isJSON: Bool
    /// Writes a line, which is given without its line feed.
    let write: @Sendable (String) -> Void
    /// Whether writing has failed, so that long commands can end.
    var isLost: @Sendable () -> Bool = { false }

    /// Reports success with a line, which is not part of the JSON.
    func done(_ line: String) {
        write(isJSON ? "{\"done\":true}" : visible(line))
    }

    /// Prints a result: as JSON, or as `lines`.
    func show(_ value: some Encodable, lines: [String]) {
        if isJSON { return write(json(value)) }
        for line in lines { write(visible(line)) }
    }

    /// Prints a list as a table or as JSON.
    func list<Item: AdminListed>(_ items: [Item]) {
        if isJSON { return write(json(items)) }
        guard !items.isEmpty else { return write("none") }
        // Applications choose the names, which must not be able to control the administrator's
        // terminal.
        let rows = [Item.columns] + items.map { $0.cells.map { visible($0) } }
        let widths = Item.columns.indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        for row in rows {
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            write(withoutTail(cells.joined(separator: "  ")))
        }
    }

    private func withoutTail(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }

    private func json(_ value: some Encodable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }
}

/// A row of a table.
protocol AdminListed: Encodable {
    /// The headings.
    static var columns: [String] { get }
    /// The cells, as many as there are columns.
    var cells: [String] { get }
}

/// A time as tables show it, in UTC; `-` for nil.
func shown(_ seconds: Int64?) -> String {
    guard let seconds else { return "-" }
    return String(decoding: Instant(clamping: seconds).text, as: UTF8.self)
}

/// Words as tables show them; `-` for an empty list.
func shown(_ words: [String]) -> String {
    words.isEmpty ? "-" : words.joined(separator: ",")
}
