import CPostgreSQL
import Glibc

/// A connection to PostgreSQL; closed with this object. One thread at a time uses it.
// SAFETY: `handle` is open from `init` to `deinit`, and used by the one thread that has it.
@safe final class PostgreSQLConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let parameters: ConnectionParameters
    /// How long a statement may take, in nanoseconds; the server's own limit is below it.
    private let patience: Int64
    /// Names of the statements that this connection has prepared.
    private var statements: [StatementKey: String] = [:]

    /// Connects; waits a few seconds at most for each address, and `patience` for each statement.
    init(
        _ parameters: ConnectionParameters, patience: Duration
    ) throws(PostgreSQLFault) {
        let opened = unsafe withCStrings(parameters.keywords) { keywords in
            unsafe withCStrings(parameters.values) { values in
                unsafe PQconnectdbParams(keywords, values, 0)
            }
        }
        guard let opened = unsafe opened else { throw .lost("no memory for a connection") }
        unsafe handle = opened
        self.parameters = parameters
        self.patience = patience.components.seconds * 1_000_000_000
        // Otherwise they go to standard error.
        unsafe PQsetNoticeProcessor(opened, { _, _ in }, nil)
        guard unsafe PQstatus(opened) == CONNECTION_OK else {
            throw .lost(parameters.redact(unsafe String(cString: PQerrorMessage(opened))))
        }
        try execute(Self.settings)
        // A server that is alive says itself that a statement took too long.
        try execute("SET statement_timeout = '\(max(1, patience.components.seconds * 4 / 5))s'")
    }

    deinit { unsafe PQfinish(handle) }

    /// Whatever is set for the account or the database, a commit is on disk when it is answered.
    private static let settings = """
        SET client_min_messages = warning;
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
            _ = try answer(to: unsafe PQsendPrepare(handle, name, text, 0, nil), within: patience)
            statements[key] = name
        }
        let sent = unsafe parameters.withPointers { count, pointers, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
        }
        return try answer(to: sent, within: patience).rows()
    }

    /// Runs several statements without values, and forgets what they answer; gives the tag of the
    /// last one.
    @discardableResult
    func execute(
        _ script: String, within limit: Duration? = nil
    ) throws(PostgreSQLFault) -> String {
        let nanoseconds = limit.map { $0.components.seconds * 1_000_000_000 } ?? patience
        return try answer(to: unsafe PQsendQuery(handle, script), within: nanoseconds).tag
    }

    /// The last answer to what was sent, or the first that says no. A server that stands still, as
    /// its machine may, does not end the connection: after the time limit it is given up.
    private func answer(
        to sent: Int32, within limit: Int64
    ) throws(PostgreSQLFault) -> PostgreSQLResult {
        guard sent == 1 else { throw .lost(lastError) }
        let deadline = monotonicNanoseconds() + limit
        try wait(until: deadline)
        guard let first = unsafe PQgetResult(handle) else { throw .lost(lastError) }
        var result = unsafe PostgreSQLResult(owning: first)
        while true {
            try wait(until: deadline)
            guard let next = unsafe PQgetResult(handle) else { break }
            let later = unsafe PostgreSQLResult(owning: next)
            if result.succeeded { result = later }
        }
        guard result.succeeded else {
            if unsafe PQstatus(handle) != CONNECTION_OK { throw .lost(lastError) }
            throw result.fault
        }
        return result
    }

    /// Waits until the next answer, or that there is none, is there.
    private func wait(until deadline: Int64) throws(PostgreSQLFault) {
        while unsafe PQisBusy(handle) == 1 {
            let left = (deadline - monotonicNanoseconds()) / 1_000_000
            guard left > 0 else { throw .lost("PostgreSQL does not answer") }
            var waiting = pollfd(
                fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Int32(clamping: left))
            guard ready >= 0 || errno == EINTR else { throw .lost("poll: error \(errno)") }
            if ready > 0, unsafe PQconsumeInput(handle) == 0 { throw .lost(lastError) }
        }
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
