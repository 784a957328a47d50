// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL
import Glibc

/// A connection to PostgreSQL; closed with this object. One thread at a time uses it.
// SAFETY: `handle` is open from `init` to `deinit`, and used by the one thread that has it.
@safe final class PostgreSQLConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let parameters: ConnectionParameters
    /// Until when everything is answered, by the monotonic clock, in nanoseconds; then the connection
    /// is given up. It is the whole transaction's: many statements have no more time than one.
    private var deadline: Int64
    /// Names of the statements that the server has said to have prepared: they stay, whatever becomes
    /// of the transaction.
    private var statements: [StatementKey: String] = [:]
    /// Those that were sent to be prepared.
    private var fresh: [StatementKey: String] = [:]
    private var named = 0
    /// What answers are to come to, in their order: a statement that is to be prepared, or another.
    private var awaited: [StatementKey?] = []
    /// Whether nothing of this transaction was answered yet: then the server may be gone since the
    /// one before, and nothing of this one has happened.
    private(set) var isUntried = true

    /// Connects; waits a few seconds at most for each address, and `patience` for the settings.
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
        deadline = monotonicNanoseconds() + patience.nanoseconds
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

    /// Sends one statement, prepared when it comes for the first time; `settle` tells what came of it.
    ///
    /// Statements that nobody has to wait for go together with the next that somebody does.
    func send(_ sql: StaticString, _ values: [Value]) throws(PostgreSQLFault) {
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
            // No name twice: a statement whose answer was not good may be there or not.
            named += 1
            name = "s\(named)"
            let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
            try sent(key) { unsafe PQsendPrepare(handle, name, text, 0, nil) }
            fresh[key] = name
        }
        try sent {
            unsafe parameters.withPointers { count, pointers, lengths, formats in
                unsafe PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
            }
        }
    }

    /// Sends `BEGIN`, with which a transaction starts that has time until then.
    func begin(_ words: String, until deadline: Int64) throws(PostgreSQLFault) {
        self.deadline = deadline
        try send(words)
    }

    /// Sends `COMMIT` or the like.
    func send(_ words: String) throws(PostgreSQLFault) {
        if awaited.isEmpty { isUntried = true }
        try sent { unsafe PQsendQueryParams(handle, words, 0, nil, nil, nil, nil, 1) }
    }

    /// Waits for the answers to all that was sent, and gives the last; throws what the first that was
    /// not good says. PostgreSQL does nothing of what was sent after that one.
    @discardableResult
    func settle() throws(PostgreSQLFault) -> PostgreSQLResult {
        guard unsafe PQpipelineSync(handle) == 1 else { throw .lost(lastError) }
        var fault: PostgreSQLFault?
        var result = try next()
        for (place, prepared) in awaited.enumerated() {
            if result.succeeded {
                // Whatever fails after it: asked to prepare it again, the server would have it twice.
                if let prepared { statements[prepared] = fresh[prepared] }
            } else if fault == nil {
                fault = result.fault
            }
            // Each answer has an end of its own.
            try wait()
            guard unsafe PQgetResult(handle) == nil else { throw .lost("an answer too many") }
            let later = try next()
            // What follows the last one ends them all.
            let isLast = place == awaited.count - 1
            guard later.isEnd == isLast else { throw .lost("answers out of order") }
            if !isLast { result = later }
        }
        awaited.removeAll(keepingCapacity: true)
        fresh.removeAll(keepingCapacity: true)
        isUntried = false
        if unsafe PQstatus(handle) != CONNECTION_OK { throw .lost(lastError) }
        if let fault { throw fault }
        return result
    }

    /// Ends a transaction without keeping anything, whatever state it is in.
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

    /// Runs several statements without values, and forgets what they answer. With a limit, the
    /// transaction has at least so long from now on.
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

    /// Notes that one more answer will come to what `send` sends: that `prepared` is, or another.
    private func sent(
        _ prepared: StatementKey? = nil, _ send: () -> Int32
    ) throws(PostgreSQLFault) {
        guard unsafe PQenterPipelineMode(handle) == 1, send() == 1 else { throw .lost(lastError) }
        awaited.append(prepared)
    }

    /// The next answer. A server that stands still, as its machine may, does not end the
    /// connection: after the time limit it is given up.
    private func next() throws(PostgreSQLFault) -> PostgreSQLResult {
        try wait()
        guard let answer = unsafe PQgetResult(handle) else { throw .lost(lastError) }
        return unsafe PostgreSQLResult(owning: answer)
    }

    /// Waits until the next answer, or that there is none, is there.
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

/// What a connection met, and whether trying again helps.
enum PostgreSQLFault: Error {
    /// As it is.
    case fault(DatabaseFault)
    /// Another transaction was in the way: the same may work when it is run again.
    case conflict(String)
    /// There is a row of the same key. Another may have kept it since this transaction looked: run
    /// again, it sees that; met a second time, it is the program's own fault.
    case double(String)
    /// The connection is of no use any more.
    case lost(String)
    /// The time is over, and the connection of no use. Asked again, a server that cannot cope would
    /// have twice as much to do.
    case late

    /// For whoever asked.
    var plain: DatabaseFault {
        switch self {
        case .fault(let fault): fault
        case .conflict(let text), .lost(let text): .unavailable(text)
        case .double(let text): .broken(text)
        case .late: .unavailable("PostgreSQL does not answer in time")
        }
    }

    /// Whether there is nothing left to be rolled back.
    var endsConnection: Bool {
        switch self {
        case .fault, .conflict, .double: false
        case .lost, .late: true
        }
    }
}

extension Duration {
    /// Whole seconds of it, in nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 }
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
