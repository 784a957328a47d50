// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The name that this one is probably a misspelling of; nil if there is none.
    ///
    /// At most two edits, and at most one for every three bytes, are allowed. Of several equally
    /// close names, the first one is returned.
    package func nearest(among names: [String]) -> String? {
        let most = min(2, utf8.count / 3)
        let found = names.map { ($0, distance(to: $0, atMost: most)) }.min { $0.1 < $1.1 }
        guard let found, found.1 <= most else { return nil }
        return found.0
    }

    /// The number of edits: bytes to insert, delete, replace, or swap with a neighbour.
    ///
    /// If the lengths alone differ by more than `most`, the result is `most + 1`.
    private func distance(to other: String, atMost most: Int) -> Int {
        let (one, two) = (Array(utf8), Array(other.utf8))
        guard abs(one.count - two.count) <= most else { return most + 1 }
        var rows = [Array(0...two.count)]
        for i in one.indices {
            var row = [i + 1]
            for j in two.indices {
                var least = min(row[j], rows[i][j + 1]) + 1
                least = min(least, rows[i][j] + (one[i] == two[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == two[j - 1], one[i - 1] == two[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][two.count]
    }
}
