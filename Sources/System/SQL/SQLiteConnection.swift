// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc

/// A connection to SQLite, which is closed when it is destroyed.
///
/// Only one thread at a time may use it, because it is opened without SQLite's own mutexes.
// SAFETY: `handle` is open from `init` to `deinit`, and used by one thread at a time.
@safe final class SQLiteConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    // SAFETY: every statement belongs to `handle` and is finalised before it is closed.
    private var statements: [StatementKey: SQLiteStatement] = [:]

    /// Opens an existing file.
    init(_ path: String) throws(DatabaseFault) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw .unavailable("\(path) cannot be opened: SQLite's error \(code)")
        }
        unsafe self.handle = handle
    }

    deinit {
        statements = [:]
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether no transaction is open; SQLite itself ends one after some errors, such as a full
    /// disk.
    private var isOutsideTransaction: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    /// Runs one statement, which is prepared once and cached.
    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row] {
        let key = try StatementKey(sql)
        let statement: SQLiteStatement
        if let known = statements[key] {
            statement = known
        } else {
            statement = try prepare(sql)
            statements[key] = statement
        }
        return try statement.run(values, fault)
    }

    /// Runs one statement that changes rows, and returns how many.
    func change(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> Int {
        _ = try run(sql, values)
        return Int(unsafe sqlite3_changes(handle))
    }

    /// Runs one statement, and returns its rows and how many rows it has changed.
    func outcome(of statement: BoundStatement) throws(DatabaseFault) -> StatementOutcome {
        let rows = try run(statement.sql, statement.values)
        return StatementOutcome(rows: rows, changes: Int(unsafe sqlite3_changes(handle)))
    }

    /// How many rows this connection has inserted, changed or deleted since it was opened.
    var changesInAll: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// Runs several statements and discards their results.
    func execute(_ script: String) throws(DatabaseFault) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault(code) }
    }

    /// Rolls back the open transaction, if there is one.
    func rollBack() {
        guard !isOutsideTransaction else { return }
        _ = try? run("ROLLBACK", [])
    }

    private func prepare(_ sql: StaticString) throws(DatabaseFault) -> SQLiteStatement {
        var prepared: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        let code = sql.withUTF8Buffer { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                unsafe sqlite3_prepare_v3(
                    handle, text.baseAddress, Int32(text.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                    &prepared, &rest)
            }
        }
        guard code == SQLITE_OK else { throw fault(code) }
        let end = unsafe UnsafeRawPointer(sql.utf8Start) + sql.utf8CodeUnitCount
        guard let prepared = unsafe prepared, unsafe UnsafeRawPointer(rest) == end else {
            unsafe sqlite3_finalize(prepared)
            throw .broken("not exactly one statement: \(sql)")
        }
        return unsafe SQLiteStatement(owning: prepared)
    }

    /// SQLITE_IOERR_CORRUPTFS, a macro that is not imported: the file system reports damage.
    private static let damagedFileSystem: Int32 = SQLITE_IOERR | (33 << 8)

    /// Translates an error code; SQLite's messages name tables, but no values.
    private func fault(_ code: Int32) -> DatabaseFault {
        let text = unsafe String(cString: sqlite3_errmsg(handle))
        let cause = unsafe sqlite3_system_errno(handle)
        if code == Self.damagedFileSystem { return .damaged("\(text) (\(code))") }
        switch code & 0xff {
        case SQLITE_FULL: return .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged("\(text) (\(code))")
        case SQLITE_IOERR:
            let isFull = cause == ENOSPC || cause == EDQUOT
            return isFull ? .full : .unavailable("\(text) (\(code), system error \(cause))")
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy("\(text) (\(code))")
        case SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_PERM, SQLITE_INTERRUPT, SQLITE_PROTOCOL:
            return .unavailable("\(text) (\(code))")
        default:
            return .broken("\(text) (\(code))")
        }
    }
}
