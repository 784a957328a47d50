// SPDX-License-Identifier: Apache-2.0
/// A row of a result, with its columns in the order of the query.
package struct Row: Equatable, Sendable {
    /// The values of the columns.
    package let values: [Value]

    /// Creates a row from its values.
    package init(_ values: [Value]) {
        self.values = values
    }

    /// Returns an integer column; throws `.broken` if it is absent, null or of another type.
    package func integer(_ column: Int) throws(DatabaseFault) -> Int64 {
        guard case .integer(let number) = try value(column) else {
            throw unexpected(column, wanted: "a number")
        }
        return number
    }

    /// Returns a text column; throws `.broken` if it is absent, null or of another type.
    package func text(_ column: Int) throws(DatabaseFault) -> String {
        guard case .text(let text) = try value(column) else {
            throw unexpected(column, wanted: "a text")
        }
        return text
    }

    /// Splits a text column into words at spaces; throws `.broken` if it is not a text.
    package func words(_ column: Int) throws(DatabaseFault) -> [String] {
        let text = try text(column)
        return text.isEmpty ? [] : text.split(separator: " ").map(String.init)
    }

    /// Returns a bytes column; throws `.broken` if it is absent, null or of another type.
    package func bytes(_ column: Int) throws(DatabaseFault) -> [UInt8] {
        guard case .bytes(let bytes) = try value(column) else {
            throw unexpected(column, wanted: "bytes")
        }
        return bytes
    }

    /// Returns an integer column, or nil for null; throws `.broken` if it is absent or of another
    /// type.
    package func optionalInteger(_ column: Int) throws(DatabaseFault) -> Int64? {
        try isNull(column) ? nil : integer(column)
    }

    /// Returns a text column, or nil for null; throws `.broken` if it is absent or of another type.
    package func optionalText(_ column: Int) throws(DatabaseFault) -> String? {
        try isNull(column) ? nil : text(column)
    }

    /// Returns a bytes column, or nil for null; throws `.broken` if it is absent or of another
    /// type.
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

    // The message does not contain the value, which may be a secret.
    private func unexpected(_ column: Int, wanted: String) -> DatabaseFault {
        .broken("column \(column) of an answer is not \(wanted)")
    }
}

/// Reads a text of `count` bytes from a library that appends a NUL.
///
/// The result is nil if the text is not UTF-8 or contains a NUL. The conversion from C strings is
/// used, because the generic one that takes a count is three times slower.
func checkedText(_ start: UnsafeRawPointer?, count: Int) -> String? {
    guard let start = unsafe start,
        let text = unsafe String(validatingCString: start.assumingMemoryBound(to: CChar.self)),
        text.utf8.count == count
    else { return nil }
    return text
}
