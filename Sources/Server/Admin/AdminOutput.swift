// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Where an administrator's answers go: a line or a table for a person, or JSON for a program.
struct AdminOutput: Sendable {
    let isJSON: Bool
    /// Takes a line without its end.
    let write: @Sendable (String) -> Void

    /// Says that something was done.
    func done(_ line: String) {
        write(isJSON ? "{\"done\":true}" : visible(line))
    }

    /// Shows one value; `lines` are for a person.
    func show(_ value: some Encodable, _ lines: [String]) {
        if isJSON { return write(json(value)) }
        for line in lines { write(visible(line)) }
    }

    /// Shows a list.
    func list<Item: AdminListed>(_ items: [Item]) {
        if isJSON { return write(json(items)) }
        guard !items.isEmpty else { return write("none") }
        // Names are an application's choice, and the terminal is the administrator's.
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

/// A row of a list.
protocol AdminListed: Encodable {
    /// The headings.
    static var columns: [String] { get }
    /// As many texts.
    var cells: [String] { get }
}

/// A moment as tables show it; `-` for none.
func shown(_ seconds: Int64?) -> String {
    guard let seconds else { return "-" }
    return String(decoding: instant(seconds).text, as: UTF8.self)
}

/// Words as tables show them; `-` for none.
func shown(_ words: [String]) -> String {
    words.isEmpty ? "-" : words.joined(separator: ",")
}
