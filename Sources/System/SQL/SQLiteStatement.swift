// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// A prepared statement, which is finalised before its connection is closed.
// SAFETY: `handle` is valid from `init` to `deinit`; used by its connection's thread only.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    /// The index of the value for each parameter of the statement: 0 for `$1`.
    private let places: [Int]

    /// Takes ownership of a statement from sqlite3_prepare_v3.
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
        let count = unsafe sqlite3_bind_parameter_count(handle)
        places = (0..<count).map { index in
            guard let name = unsafe sqlite3_bind_parameter_name(handle, index + 1) else {
                return -1
            }
            return unsafe (Int(String(cString: name).dropFirst()) ?? 0) - 1
        }
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Runs the statement to its end and resets it; `fault` translates an error code.
    ///
    /// - Throws: `.broken` if the values do not match the parameters, or a column has an unknown
    ///   type.
    func run(
        _ values: [Value], _ fault: (Int32) -> DatabaseFault
    ) throws(DatabaseFault) -> [Row] {
        guard places.count == values.count, places.allSatisfy(values.indices.contains) else {
            throw .broken("a statement has \(places.count) parameters, not \(values.count)")
        }
        defer {
            unsafe sqlite3_reset(handle)
            if !places.isEmpty { unsafe sqlite3_clear_bindings(handle) }
        }
        for (index, place) in places.enumerated() {
            let code = try bind(values[place], at: Int32(index + 1))
            guard code == SQLITE_OK else { throw fault(code) }
        }
        var rows: [Row] = []
        while true {
            switch unsafe sqlite3_step(handle) {
            case SQLITE_ROW: rows.append(try row())
            case SQLITE_DONE: return rows
            case let code: throw fault(code)
            }
        }
    }

    private func bind(_ value: Value, at index: Int32) throws(DatabaseFault) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            guard !text.utf8.contains(0) else { throw .broken("a text contains a NUL") }
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                    // An empty text may have no address, which SQLite would bind as NULL.
                    guard let start = bytes.baseAddress, bytes.count > 0 else {
                        return unsafe sqlite3_bind_text(handle, index, "", 0, Self.copied)
                    }
                    return unsafe sqlite3_bind_text64(
                        handle, index, start, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
                }
            }
        case .bytes(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, bytes.count > 0 else {
                    return unsafe sqlite3_bind_zeroblob(handle, index, 0)
                }
                return unsafe sqlite3_bind_blob64(
                    handle, index, start, UInt64(bytes.count), Self.copied)
            }
        }
    }

    private func row() throws(DatabaseFault) -> Row {
        let count = unsafe sqlite3_data_count(handle)
        var values: [Value] = []
        values.reserveCapacity(Int(count))
        for column in 0..<count { values.append(try value(column)) }
        return Row(values)
    }

    private func value(_ column: Int32) throws(DatabaseFault) -> Value {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, column))
        case SQLITE_TEXT:
            let start = unsafe UnsafeRawPointer(sqlite3_column_text(handle, column))
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            guard let text = unsafe checkedText(start, count: count) else {
                throw .broken("column \(column) of an answer is not UTF-8")
            }
            return .text(text)
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            return .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: count)))
        default:
            throw .broken("column \(column) of an answer is not a whole number, text or bytes")
        }
    }

    // SAFETY: SQLITE_TRANSIENT, which the importer cannot express: a value that SQLite compares
    // with and never calls; it copies what is bound.
    private static var copied: sqlite3_destructor_type? {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}
