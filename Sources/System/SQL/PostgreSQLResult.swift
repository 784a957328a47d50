// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL

/// PostgreSQL's result for one command (PGresult), which is cleared with the value.
// SAFETY: `handle` is valid from `init` to `deinit`, and owned by this value alone.
@safe struct PostgreSQLResult: ~Copyable {
    private let handle: OpaquePointer

    /// Takes ownership of a result from libpq.
    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    /// Whether the command succeeded.
    var succeeded: Bool {
        switch unsafe PQresultStatus(handle) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: true
        default: false
        }
    }

    /// Whether this is the pipeline's synchronisation point, not the result of a command.
    var isEnd: Bool { unsafe PQresultStatus(handle) == PGRES_PIPELINE_SYNC }

    /// The command tag, for example "COMMIT" or "ROLLBACK".
    var tag: String {
        guard let tag = unsafe PQcmdStatus(handle) else { return "" }
        return unsafe String(cString: tag)
    }

    /// The number of rows that were inserted, updated or deleted.
    var changes: Int {
        guard let count = unsafe PQcmdTuples(handle) else { return 0 }
        return Int(unsafe String(cString: count)) ?? 0
    }

    /// The rows of the answer, and how many rows the statement changed.
    func outcome() throws(PostgreSQLFault) -> StatementOutcome {
        StatementOutcome(rows: try rows(), changes: changes)
    }

    /// Why the command failed, by its SQLSTATE; the text names tables, but no values.
    ///
    /// Only what is known to be a fault of the statement leaves the connection in use. Anything else
    /// may be the server's or the session's, which a connection would keep: a standby stays one.
    var fault: PostgreSQLFault {
        let code = field("C")
        let text = "\(field("M")) (\(code))"
        // FATAL and PANIC: the server closes the connection.
        guard field("V") == "ERROR" else { return .lost(text) }
        switch code {
        // serialization_failure, deadlock_detected
        case "40001", "40P01": return .conflict(text)
        // unique_violation
        case "23505": return .double(text)
        // disk_full; a lack of other resources is temporary
        case "53100": return .fault(.full)
        // query_canceled (a time limit), lock_not_available
        case "57014", "55P03": return .fault(.busy(text))
        // data_corrupted, index_corrupted
        case "XX001", "XX002": return .fault(.damaged(text))
        // invalid_sql_statement_name, duplicate_prepared_statement: a connection pooler in between,
        // or something in the database, has discarded or mixed up the session's prepared
        // statements.
        case "26000", "42P05": return .ended(.sharedSession)
        default: break
        }
        switch code.prefix(2) {
        // Cardinality, data, constraints, syntax and rights, WITH CHECK OPTION, PL/pgSQL.
        case "21", "22", "23", "42", "44", "P0": return .fault(.broken(text))
        // No connection, insufficient resources, operator intervention, system error; a standby
        // (0A000, 25006); statements that are invalid because another process has migrated the
        // database (0A000).
        case "08" where code != "08P01", "0A", "25", "53", "57", "58", "": return .lost(text)
        default: return .ended(.broken(text))
        }
    }

    /// All rows.
    func rows() throws(PostgreSQLFault) -> [Row] {
        let columns = unsafe PQnfields(handle)
        let types = (0..<columns).map { unsafe PQftype(handle, $0) }
        var rows: [Row] = []
        let count = unsafe PQntuples(handle)
        rows.reserveCapacity(Int(count))
        for row in 0..<count {
            var values: [Value] = []
            values.reserveCapacity(types.count)
            for column in 0..<columns {
                values.append(try value(row, column: column, type: types[Int(column)]))
            }
            rows.append(Row(values))
        }
        return rows
    }

    private func value(
        _ row: Int32, column: Int32, type: UInt32
    ) throws(PostgreSQLFault) -> Value {
        guard unsafe PQgetisnull(handle, row, column) == 0 else { return .null }
        let start = unsafe PQgetvalue(handle, row, column)
        let length = unsafe Int(PQgetlength(handle, row, column))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
        switch (type, length) {
        // bool, int2, int4, int8: pg_type.dat
        case (16, 1), (21, 2), (23, 4), (20, 8):
            let first = unsafe bytes.first ?? 0
            let sign: Int64 = type != 16 && first >= 0x80 ? -1 : 0
            return unsafe .integer(bytes.reduce(sign) { $0 << 8 | Int64($1) })
        // bytea
        case (17, _): return unsafe .bytes(Array(bytes))
        // name, text, bpchar, varchar
        case (19, _), (25, _), (1042, _), (1043, _):
            guard let text = unsafe checkedText(bytes.baseAddress, count: bytes.count) else {
                throw .fault(.broken("column \(column) of an answer is not UTF-8"))
            }
            return .text(text)
        default:
            throw .fault(
                .broken("column \(column) of an answer is not a whole number, text or bytes"))
        }
    }

    private func field(_ code: Unicode.Scalar) -> String {
        guard let text = unsafe PQresultErrorField(handle, Int32(code.value)) else { return "" }
        return unsafe String(String(cString: text).prefix(200))
    }
}
