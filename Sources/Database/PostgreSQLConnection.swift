import CPostgreSQL

/// A connection to PostgreSQL; closed with this object. One thread at a time uses it.
// SAFETY: `handle` is open from `init` to `deinit`, and used by the one thread that has it.
@safe final class PostgreSQLConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let parameters: ConnectionParameters
    /// Names of the statements that this connection has prepared.
    private var statements: [StatementKey: String] = [:]

    /// Connects; waits a few seconds at most for each address.
    init(_ parameters: ConnectionParameters) throws(PostgreSQLFault) {
        let opened = unsafe withCStrings(parameters.keywords) { keywords in
            unsafe withCStrings(parameters.values) { values in
                unsafe PQconnectdbParams(keywords, values, 0)
            }
        }
        guard let opened = unsafe opened else { throw .lost("no memory for a connection") }
        unsafe handle = opened
        self.parameters = parameters
        // Otherwise they go to standard error.
        unsafe PQsetNoticeProcessor(opened, { _, _ in }, nil)
        guard unsafe PQstatus(opened) == CONNECTION_OK else {
            throw .lost(parameters.redact(unsafe String(cString: PQerrorMessage(opened))))
        }
        try execute(Self.settings)
    }

    deinit { unsafe PQfinish(handle) }

    /// Whatever is set for the account or the database, a commit is on disk when it is answered.
    private static let settings = """
        SET client_min_messages = warning;
        SET statement_timeout = '30s';
        SET idle_in_transaction_session_timeout = '60s';
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local');
        """

    /// Runs one statement, prepared when it comes for the first time.
    func run(_ sql: StaticString, _ values: [Value]) throws(PostgreSQLFault) -> [Row] {
        let key: StatementKey
        let parameters: PostgreSQLParameters
        do throws(DatabaseFault) {
            key = try StatementKey(sql)
            parameters = try PostgreSQLParameters(values)
        } catch {
            throw .fault(error)
        }
        let name: String
        if let known = statements[key] {
            name = known
        } else {
            name = "s\(statements.count)"
            let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
            _ = try unsafe check(PQprepare(handle, name, text, 0, nil))
            statements[key] = name
        }
        let result = unsafe parameters.withPointers { count, pointers, lengths, formats in
            unsafe PQexecPrepared(handle, name, count, pointers, lengths, formats, 1)
        }
        return try unsafe check(result).rows()
    }

    /// Runs several statements without values, and forgets what they answer; gives the tag of the
    /// last one.
    @discardableResult
    func execute(_ script: String) throws(PostgreSQLFault) -> String {
        try unsafe check(PQexec(handle, script)).tag
    }

    private func check(_ pointer: OpaquePointer?) throws(PostgreSQLFault) -> PostgreSQLResult {
        guard let pointer = unsafe pointer else { throw .lost(lastError) }
        let result = unsafe PostgreSQLResult(owning: pointer)
        guard result.succeeded else {
            if unsafe PQstatus(handle) != CONNECTION_OK { throw .lost(lastError) }
            throw result.fault
        }
        return result
    }

    private var lastError: String {
        parameters.redact(unsafe String(cString: PQerrorMessage(handle)))
    }
}

/// What a connection met, and whether trying again helps.
enum PostgreSQLFault: Error {
    /// As it is.
    case fault(DatabaseFault)
    /// Another transaction was in the way: the same may work when it is run again.
    case conflict(String)
    /// The connection is of no use any more.
    case lost(String)

    /// For whoever asked.
    var plain: DatabaseFault {
        switch self {
        case .fault(let fault): fault
        case .conflict(let text), .lost(let text): .unavailable(text)
        }
    }
}

/// Runs `body` with C strings, and a null pointer at their end.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    let bytes = strings.flatMap { Array($0.utf8CString) }
    var offset = 0
    let offsets = strings.map { string in
        defer { offset += string.utf8CString.count }
        return offset
    }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        var pointers = unsafe offsets.map { offset in
            unsafe bytes.baseAddress.map { start in unsafe start + offset }
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
            unsafe body(pointers.baseAddress)
        }
    }
}
