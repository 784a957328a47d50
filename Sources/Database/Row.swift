// SPDX-License-Identifier: Apache-2.0
/// A row of an answer, its columns in the order asked for.
package struct Row: Equatable, Sendable {
    /// Its values.
    package let values: [Value]

    /// From its values.
    package init(_ values: [Value]) {
        self.values = values
    }

    /// A whole number; `.broken` where the column is absent, null or of another type.
    package func integer(_ column: Int) throws(DatabaseFault) -> Int64 {
        guard case .integer(let number) = try value(column) else {
            throw unexpected(column, "a number")
        }
        return number
    }

    /// A text; `.broken` where the column is absent, null or of another type.
    package func text(_ column: Int) throws(DatabaseFault) -> String {
        guard case .text(let text) = try value(column) else { throw unexpected(column, "a text") }
        return text
    }

    /// The words of a text, with blanks between; `.broken` where the column is no text.
    package func words(_ column: Int) throws(DatabaseFault) -> [String] {
        let text = try text(column)
        return text.isEmpty ? [] : text.split(separator: " ").map(String.init)
    }

    /// Bytes; `.broken` where the column is absent, null or of another type.
    package func bytes(_ column: Int) throws(DatabaseFault) -> [UInt8] {
        guard case .bytes(let bytes) = try value(column) else { throw unexpected(column, "bytes") }
        return bytes
    }

    /// A whole number, or nil for null.
    package func optionalInteger(_ column: Int) throws(DatabaseFault) -> Int64? {
        try isNull(column) ? nil : integer(column)
    }

    /// A text, or nil for null.
    package func optionalText(_ column: Int) throws(DatabaseFault) -> String? {
        try isNull(column) ? nil : text(column)
    }

    /// Bytes, or nil for null.
    package func optionalBytes(_ column: Int) throws(DatabaseFault) -> [UInt8]? {
        try isNull(column) ? nil : bytes(column)
    }

    private func isNull(_ column: Int) throws(DatabaseFault) -> Bool {
        try value(column) == .null
    }

    private func value(_ column: Int) throws(DatabaseFault) -> Value {
        guard values.indices.contains(column) else {
            throw .broken("column \(column) of an answer is absent")
        }
        return values[column]
    }

    // The value itself is not told: it may be a secret.
    private func unexpected(_ column: Int, _ wanted: String) -> DatabaseFault {
        .broken("column \(column) of an answer is not \(wanted)")
    }
}

/// A text that a library gives, which puts a NUL behind it; nil where it is no UTF-8 or holds a NUL
/// itself.
///
/// As a C string: what takes a count is generic in the standard library, and three times as slow.
func checkedText(_ start: UnsafeRawPointer?, _ count: Int) -> String? {
    guard let start = unsafe start,
        let text = unsafe String(validatingCString: start.assumingMemoryBound(to: CChar.self)),
        text.utf8.count == count
    else { return nil }
    return text
}
