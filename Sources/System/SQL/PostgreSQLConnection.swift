// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL
import Glibc

/// A connection to PostgreSQL in pipeline mode, for one thread at a time.
///
/// Statements are sent without waiting and answered together (`settle`), which saves round trips.
/// After a fault that ends the connection it must be discarded.
// SAFETY: `handle` is open from `init` to `deinit`, and used by one thread at a time.
@safe final class PostgreSQLConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let parameters: ConnectionParameters
    /// The time at which the connection is given up, in nanoseconds of CLOCK_MONOTONIC.
    ///
    /// It applies to a whole transaction, so that many statements have no more time than one.
    private var deadline: Int64
    /// The names of the statements that the server has confirmed as prepared; they survive a
    /// rollback.
    private var statements: [StatementKey: String] = [:]
    /// The names of the statements that were sent to be prepared and are not confirmed yet.
    private var fresh: [StatementKey: String] = [:]
    private var named = 0
    /// The beginning of the names, which no other client's statement has: a pooler may hand this
    /// client a session with the statements of others, and their names must not lead to them.
    private let prefix = "signet_" + String(UInt64.random(in: .min ... .max), radix: 16)
    /// The expected answers in order.
    private var awaited: [Awaited] = []
    /// The process that serves the session (pg_backend_pid); nil before it is known.
    private var backend: Value?
    /// Whether nothing of this transaction has been answered yet.
    ///
    /// If the connection turns out to be lost in this state, it may have broken before the
    /// transaction, so that none of the transaction has happened.
    private(set) var isUntried = true

    /// Connects, within a few seconds per address; `patience` is the time limit for the settings.
    ///
    /// A server that cannot write is not connected to. A pooler says what kind of server it had when it
    /// first connected, which may have become the primary since then: the server itself is asked.
    init(
        _ parameters: ConnectionParameters, patience: Duration
    ) throws(PostgreSQLFault) {
        var opened = unsafe Self.connect(parameters)
        if let first = unsafe opened, unsafe PQstatus(first) != CONNECTION_OK,
            parameters.namesOneServer,
            unsafe String(cString: PQerrorMessage(first)).contains("session is read-only")
        {
            unsafe PQfinish(first)
            unsafe opened = Self.connect(parameters.ofAnyKind)
        }
        guard let opened = unsafe opened else { throw .lost("no memory for a connection") }
        unsafe handle = opened
        self.parameters = parameters
        deadline = monotonicNanoseconds() + patience.nanoseconds
        // By default, libpq prints notices to standard error.
        unsafe PQsetNoticeProcessor(opened, { _, _ in }, nil)
        guard unsafe PQstatus(opened) == CONNECTION_OK else {
            throw .lost(parameters.redact(unsafe String(cString: PQerrorMessage(opened))))
        }
        try execute(Self.settings)
        // A server that works then reports a slow statement before the deadline passes.
        try execute("SET statement_timeout = '\(max(1, patience.components.seconds * 4 / 5))s'")
        try send(Self.kind, [])
        let values = try settle().rows().first?.values
        guard Self.isPrimary(values) else { throw Self.standby }
        backend = values?.first
    }

    private static func connect(_ parameters: ConnectionParameters) -> OpaquePointer? {
        unsafe withCStrings(parameters.keywords) { keywords in
            unsafe withCStrings(parameters.values) { values in
                unsafe PQconnectdbParams(keywords, values, 0)
            }
        }
    }

    /// Asks which process serves the session, and whether it is a standby's.
    private static let kind: StaticString =
        "SELECT pg_backend_pid(), CAST(pg_is_in_recovery() AS INTEGER)"

    private static func isPrimary(_ values: [Value]?) -> Bool {
        values?.count == 2 && values?.last == .integer(0)
    }

    private static let standby = PostgreSQLFault.lost("the server is a standby")

    /// Whether the session belongs to another process than the one that was connected to, as behind
    /// a connection pooler.
    var isPooled: Bool { backend != .integer(Int64(unsafe PQbackendPID(handle))) }

    /// Whether another connection, open at the same time, has the same session.
    func sharesSession(with other: PostgreSQLConnection) -> Bool { backend == other.backend }

    deinit { unsafe PQfinish(handle) }

    /// The settings of the session.
    ///
    /// A commit must be on disk when it is answered, whatever the configuration of the role or
    /// database.
    private static let settings = """
        SET client_min_messages = warning;
        SET idle_in_transaction_session_timeout = '60s';
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local');
        """

    /// Queues one statement, which is prepared on its first use; `settle` returns the result.
    ///
    /// Statements whose result is not needed are sent together with the next one that is waited
    /// for.
    func send(_ sql: StaticString, _ values: [Value]) throws(PostgreSQLFault) {
        try send(sql, values, as: .statement)
    }

    private func send(
        _ sql: StaticString, _ values: [Value], as kind: Awaited
    ) throws(PostgreSQLFault) {
        let key: StatementKey
        let parameters: PostgreSQLParameters
        do throws(DatabaseFault) {
            key = try StatementKey(sql)
            parameters = try PostgreSQLParameters(values)
        } catch {
            throw .fault(error)
        }
        let name: String
        if let known = statements[key] ?? fresh[key] {
            name = known
        } else {
            // The name is new each time: a statement whose preparation failed may or may not exist.
            named += 1
            name = "\(prefix)_\(named)"
            let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
            try sent(.preparation(key)) { unsafe PQsendPrepare(handle, name, text, 0, nil) }
            fresh[key] = name
        }
        try sent(kind) {
            unsafe parameters.withPointers { count, pointers, lengths, formats in
                unsafe PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
            }
        }
    }

    /// Queues `BEGIN`; `deadline` applies to the whole transaction.
    ///
    /// The transaction fails if it does not run in the session that was set up for it: a pooler in
    /// transaction mode gives each transaction any session, with the settings of others. It also fails
    /// on a standby, which a pooler may lead to and which reads from would succeed on.
    func begin(_ words: String, until deadline: Int64) throws(PostgreSQLFault) {
        self.deadline = deadline
        try send(words)
        try send(Self.kind, [], as: .session)
    }

    /// Queues `COMMIT` or another command without values.
    func send(_ words: String) throws(PostgreSQLFault) {
        if awaited.isEmpty { isUntried = true }
        try sent(.statement) { unsafe PQsendQueryParams(handle, words, 0, nil, nil, nil, nil, 1) }
    }

    /// Waits for all expected answers and returns the last one.
    ///
    /// - Throws: the first failure. PostgreSQL skips everything that was sent after a failed
    ///   statement.
    @discardableResult
    func settle() throws(PostgreSQLFault) -> PostgreSQLResult {
        try settle { _, _ in }
    }

    /// Waits for all expected answers, and returns what became of the last `count` statements.
    ///
    /// - Throws: as `settle()`.
    func settle(reading count: Int) throws(PostgreSQLFault) -> [StatementOutcome] {
        var outcomes: [StatementOutcome] = []
        outcomes.reserveCapacity(count)
        // Statements that were sent without waiting, and `BEGIN`, were sent before those.
        var before = awaited.count { !$0.isPreparation } - count
        let last = try settle { result, kind throws(PostgreSQLFault) in
            guard !kind.isPreparation else { return }
            before -= 1
            if before < 0 { outcomes.append(try result.outcome()) }
        }
        if count > 0 { outcomes.append(try last.outcome()) }
        return outcomes
    }

    /// Waits for all expected answers and returns the last one; `read` gets those before it that
    /// succeeded, each with what it answers.
    private func settle(
        _ read: (borrowing PostgreSQLResult, Awaited) throws(PostgreSQLFault) -> Void
    ) throws(PostgreSQLFault) -> PostgreSQLResult {
        guard unsafe PQpipelineSync(handle) == 1 else { throw .lost(lastError) }
        var fault: PostgreSQLFault?
        var result = try next()
        for (place, kind) in awaited.enumerated() {
            if !result.succeeded {
                fault = fault ?? result.fault
            } else {
                switch kind {
                case .statement: break
                // It is recorded even if a later statement fails, because preparing it again would
                // be an error.
                case .preparation(let key): statements[key] = fresh[key]
                case .session:
                    let values = try result.rows().first?.values
                    if values?.first != backend {
                        fault = fault ?? .unusable(.sharedSession)
                    } else if !Self.isPrimary(values) {
                        fault = fault ?? Self.standby
                    }
                }
            }
            // Each result is followed by a null result.
            try wait()
            guard unsafe PQgetResult(handle) == nil else { throw .lost("an answer too many") }
            let later = try next()
            // The result of the pipeline synchronisation follows the last one.
            let isLast = place == awaited.count - 1
            guard later.isEnd == isLast else { throw .lost("answers out of order") }
            if isLast { break }
            if result.succeeded, fault == nil {
                do throws(PostgreSQLFault) { try read(result, kind) } catch { fault = error }
            }
            result = later
        }
        awaited.removeAll(keepingCapacity: true)
        fresh.removeAll(keepingCapacity: true)
        isUntried = false
        if unsafe PQstatus(handle) != CONNECTION_OK { throw .lost(lastError) }
        if let fault { throw fault }
        return result
    }

    /// Rolls back the open transaction, if any, whatever its state.
    func rollBack() throws(PostgreSQLFault) {
        if !awaited.isEmpty {
            do throws(PostgreSQLFault) {
                try settle()
            } catch {
                if error.endsConnection { throw error }
            }
        }
        guard unsafe PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        try send("ROLLBACK")
        try settle()
    }

    /// Runs several statements without values, outside pipeline mode, and discards their results.
    ///
    /// `limit` extends the transaction's deadline to at least that long from now.
    func execute(_ script: String, within limit: Duration? = nil) throws(PostgreSQLFault) {
        if let limit { deadline = max(deadline, monotonicNanoseconds() + limit.nanoseconds) }
        if !awaited.isEmpty { try settle() }
        guard unsafe PQexitPipelineMode(handle) == 1, unsafe PQsendQuery(handle, script) == 1
        else { throw .lost(lastError) }
        var fault: PostgreSQLFault?
        while true {
            try wait()
            guard let answer = unsafe PQgetResult(handle) else { break }
            let result = unsafe PostgreSQLResult(owning: answer)
            if !result.succeeded, fault == nil { fault = result.fault }
        }
        if unsafe PQstatus(handle) != CONNECTION_OK { throw .lost(lastError) }
        if let fault { throw fault }
    }

    /// Calls `send`, and notes that one more answer is expected.
    private func sent(_ kind: Awaited, _ send: () -> Int32) throws(PostgreSQLFault) {
        guard unsafe PQenterPipelineMode(handle) == 1, send() == 1 else { throw .lost(lastError) }
        awaited.append(kind)
    }

    /// Returns the next answer, or throws `.late` at the deadline, because a server that hangs
    /// keeps the connection open.
    private func next() throws(PostgreSQLFault) -> PostgreSQLResult {
        try wait()
        guard let answer = unsafe PQgetResult(handle) else { throw .lost(lastError) }
        return unsafe PostgreSQLResult(owning: answer)
    }

    /// Waits until the next answer, or its absence, is known.
    private func wait() throws(PostgreSQLFault) {
        while unsafe PQisBusy(handle) == 1 {
            let left = (deadline - monotonicNanoseconds()) / 1_000_000
            guard left > 0 else { throw .late }
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

/// What an answer is expected to.
private enum Awaited {
    case statement
    /// The preparation of a statement.
    case preparation(StatementKey)
    /// The question which process serves the session.
    case session

    var isPreparation: Bool {
        if case .preparation = self { true } else { false }
    }
}

/// Why a transaction on PostgreSQL failed, which determines whether it is repeated.
enum PostgreSQLFault: Error {
    /// A fault of a statement that repeating does not change. The connection is as good as before.
    case fault(DatabaseFault)
    /// A conflict with another transaction; repeating may succeed.
    case conflict(String)
    /// A unique key exists already.
    ///
    /// Another transaction may have inserted it after this one looked. If repeating fails in the
    /// same way, the program has a fault.
    case double(String)
    /// The connection broke, or it leads to a server or session that cannot serve it; another one
    /// may be better.
    case ended(DatabaseFault)
    /// The connection cannot be used, and another one would not be better.
    case unusable(DatabaseFault)
    /// The deadline has passed, and the connection is unusable.
    ///
    /// The transaction is not repeated, because that would double the load of a server that is too
    /// slow.
    case late

    /// The connection broke.
    static func lost(_ text: String) -> PostgreSQLFault { .ended(.unavailable(text)) }

    /// The fault as reported to the caller.
    var plain: DatabaseFault {
        switch self {
        case .fault(let fault), .ended(let fault), .unusable(let fault): fault
        case .conflict(let text): .busy(text)
        case .double(let text): .broken(text)
        case .late: .unavailable("PostgreSQL does not answer in time")
        }
    }

    /// Whether the connection is gone, so that nothing can be rolled back.
    var endsConnection: Bool {
        switch self {
        case .fault, .conflict, .double: false
        case .ended, .unusable, .late: true
        }
    }
}

extension DatabaseFault {
    /// A pooler gives this client's transactions the sessions of other clients.
    static let sharedSession = DatabaseFault.broken(
        """
        the connection pooler gives one session to several clients: set it to session pooling \
        (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL itself
        """)
}

extension Duration {
    /// The whole seconds of the duration, in nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 }
}

/// Passes an array of C strings, terminated by a null pointer, to `body`.
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
