// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A PostgreSQL server of a test's own, on a socket in a private directory and nowhere else; it and
/// its data end with this object. Several processes may use it.
///
/// It runs as an account without rights, since it refuses root. A commit is not flushed to the disk:
/// it holds when the server is killed, not when the machine is.
package final class PostgreSQLServer: Sendable {
    /// `nobody`: initdb wants an account that has a name.
    static let uid: UInt32 = 65_534

    private let scratch: Scratch
    private let data: String
    private let isDurable: Bool
    /// Where it listens by TLS beside its socket; nil where it does not.
    private let ownPort: UInt16?
    private let process = Mutex<Program?>(nil)
    private let made = Mutex(0)

    /// What initdb makes, which takes a second: other servers of this process begin with a copy.
    private static let pristine = Result<Scratch, TestFault> { () throws(TestFault) in
        let scratch = try Scratch()
        let data = scratch.at("data")
        for path in [scratch.path, data] { try makeDirectory(path) }
        try initialise(data, walSegment: 1, home: scratch.path)
        return scratch
    }

    /// Makes and starts one. With `isDurable` its data are on the disk, below
    /// `directory`, and commits are flushed: for measuring. With an identity, PEM bytes of a
    /// certificate and its key, it also listens on `tlsPort` of 127.0.0.1, by TLS.
    package init(
        isDurable: Bool = false, below directory: String? = nil,
        identity: (certificate: [UInt8], key: [UInt8])? = nil
    ) throws(TestFault) {
        scratch = try Scratch()
        self.isDurable = isDurable
        ownPort = try identity.map { _ throws(TestFault) in try freePort() }
        data = directory.map { "\($0)/postgresql-\(getpid())" } ?? scratch.at("data")
        try makeDirectories()
        if isDurable {
            try Self.initialise(data, walSegment: 16, home: scratch.path)
        } else {
            let pristine = try Self.pristine.get().at("data")
            try finish(
                ["cp", "--archive", "--no-target-directory", pristine, data], isOwn: false)
        }
        try use(identity)
        try start()
    }

    /// Makes and starts a standby, which follows `primary` and serves readers.
    package init(standbyOf primary: PostgreSQLServer) throws(TestFault) {
        scratch = try Scratch()
        isDurable = false
        ownPort = nil
        data = scratch.at("data")
        try makeDirectories()
        try finish([
            "pg_basebackup", "--dbname=\(primary.connection())", "--pgdata=\(data)",
            "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
        ])
        try start()
    }

    /// Makes the standby the primary. Returns when it is.
    package func promote() throws(TestFault) { try query("SELECT pg_promote()") }

    /// The directory of the socket.
    package var socketDirectory: String { scratch.path }

    private func makeDirectories() throws(TestFault) {
        for path in [scratch.path, data] { try Self.makeDirectory(path) }
    }

    private static func makeDirectory(_ path: String) throws(TestFault) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(call: "mkdir", subject: path, code: errno)
        }
        guard unsafe chown(path, uid, uid) == 0 else {
            throw .system(call: "chown", subject: path, code: errno)
        }
    }

    /// Makes the files of a server; `walSegment` in MiB.
    private static func initialise(
        _ data: String, walSegment: Int, home: String
    ) throws(TestFault) {
        let program = try run(
            "\(programs())/initdb",
            [
                "--pgdata=\(data)", "--username=signet", "--auth=trust", "--no-sync",
                "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=\(walSegment)",
            ], home: home)
        try succeed(program, "initdb")
    }

    /// The directory of PostgreSQL's programs.
    private static func programs() throws(TestFault) -> String {
        try Layout.directory(
            of: Layout.matching("\(Layout.unpacked)/usr/lib/postgresql/*/bin/postgres"))
    }

    @discardableResult
    private static func succeed(
        _ program: Program, _ name: String
    ) throws(TestFault) -> Outcome {
        let outcome = try program.expectEnd()
        guard outcome.succeeded else {
            throw .closed(awaited: name, transcript: outcome.output + outcome.errors)
        }
        return outcome
    }

    /// Has it ask a role for its password, and no other, from its next start or `reload` on.
    package func demandPassword(of role: String) throws(TestFault) {
        let lines = "local all \(role) scram-sha-256\nlocal all all trust\n"
        try keep(Array(lines.utf8), "pg_hba.conf")
    }

    /// Has it read its files again.
    package func reload() throws(TestFault) { try query("SELECT pg_reload_conf()") }

    /// Ends all connections of the programs under test.
    package func endConnections() throws(TestFault) {
        try query(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE application_name = 'signet-server'
            """)
    }

    /// Has it present a certificate from its next start or `reload` on.
    package func use(_ identity: (certificate: [UInt8], key: [UInt8])?) throws(TestFault) {
        if let identity {
            try keep(identity.certificate, "server.crt")
            try keep(identity.key, "server.key")
        }
    }

    /// Where it listens by TLS, if it does.
    package var tlsPort: UInt16 { ownPort ?? 0 }

    /// The port that its socket is named after.
    package var port: UInt16 { ownPort ?? 5432 }

    private func keep(_ bytes: [UInt8], _ name: String) throws(TestFault) {
        try scratch.write(name, bytes)
        try finish(["mv", scratch.at(name), "\(data)/\(name)"], isOwn: false)
        guard unsafe chown("\(data)/\(name)", Self.uid, Self.uid) == 0 else {
            throw .system(call: "chown", subject: name, code: errno)
        }
    }

    deinit {
        stop()
        if isDurable { _ = try? Program(Command(["rm", "-rf", data])).expectEnd() }
    }

    /// A connection string for `database`, as the owner of everything there.
    package func connection(_ database: String = "postgres") -> String {
        "host=\(scratch.path) port=\(port) user=signet dbname=\(database)"
    }

    /// Makes an empty database, or a copy of that of another connection string, which nothing is
    /// connected to; gives its connection string.
    package func makeDatabase(like other: String? = nil) throws(TestFault) -> String {
        let number = made.withLock { made in
            made += 1
            return made
        }
        let name = "test_\(getpid())_\(number)"
        let template = other.flatMap { $0.split(separator: "dbname=").last } ?? "template1"
        // Copying the files takes a third of the time that writing them into the log takes.
        try finish([
            "createdb", "--host=\(scratch.path)", "--port=\(port)", "--username=signet",
            "--maintenance-db=postgres", "--strategy=file_copy", "--template=\(template)", name,
        ])
        return connection(name)
    }

    /// Runs statements as an administrator would, with psql; gives what it says, unadorned.
    @discardableResult
    package func query(_ sql: String, in database: String = "postgres") throws(TestFault) -> String
    {
        try finish([
            "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
            "--dbname=\(connection(database))", "--command=\(sql)",
        ]).output
    }

    /// Has pg_dump write all of a database, and pg_restore put it into an empty one; gives that one's
    /// connection string.
    package func copyByDump(_ connection: String) throws(TestFault) -> String {
        let file = scratch.at("dump")
        let empty = try makeDatabase()
        try finish(["pg_dump", "--format=custom", "--file=\(file)", "--dbname=\(connection)"])
        try finish(["pg_restore", "--no-owner", "--exit-on-error", "--dbname=\(empty)", file])
        return empty
    }

    // MARK: Its life

    /// Starts it after a stop or a crash. Returns when it answers.
    package func start() throws(TestFault) {
        let flushes = isDurable ? "on" : "off"
        let settings = [
            "listen_addresses=\(ownPort == nil ? "" : "127.0.0.1")", "port=\(port)",
            "ssl=\(ownPort == nil ? "off" : "on")", "unix_socket_directories=\(scratch.path)",
            "unix_socket_permissions=0777", "fsync=\(flushes)", "full_page_writes=\(flushes)",
            "shared_buffers=\(isDurable ? "128MB" : "16MB")", "max_connections=300",
            "dynamic_shared_memory_type=mmap", "autovacuum=\(flushes)",
            "max_wal_size=\(isDurable ? "1GB" : "64MB")",
            "min_wal_size=\(isDurable ? "80MB" : "2MB")", "jit=off", "logging_collector=off",
        ]
        let program = try run(["postgres", "-D", data] + settings.flatMap { ["-c", $0] })
        try program.expectError(
            "database system is ready to accept ")
        process.withLock { $0 = program }
    }

    /// Ends it in order.
    package func stop() { end(SIGINT) }

    /// Ends it at once: connections break, and the next start recovers from its log.
    package func crash() { end(SIGQUIT) }

    /// Lets it stand still, with the processes that serve its connections: nothing is answered.
    package func suspend() {
        guard let program = process.withLock({ $0 }) else { return }
        program.suspend()
        for child in children(of: program.pid) { kill(child, SIGSTOP) }
    }

    /// Lets a suspended one go on.
    package func resume() {
        guard let program = process.withLock({ $0 }) else { return }
        for child in children(of: program.pid) { kill(child, SIGCONT) }
        program.signal(SIGCONT)
    }

    private func children(of pid: Int32) -> [Int32] {
        let bytes = try? Layout.read("/proc/\(pid)/task/\(pid)/children")
        return String(decoding: bytes ?? [], as: UTF8.self).split(separator: " ").compactMap {
            Int32($0)
        }
    }

    private func end(_ signal: Int32) {
        resume()
        let program = process.withLock { $0.take() }
        guard let program else { return }
        program.signal(signal)
        if (try? program.expectEnd()) == nil {
            program.signal(SIGKILL)
            _ = try? program.expectEnd()
        }
    }

    // MARK: Programs

    @discardableResult
    private func finish(
        _ arguments: [String], isOwn: Bool = true
    ) throws(TestFault) -> Outcome {
        let program = isOwn ? try run(arguments) : try Program(Command(arguments))
        return try Self.succeed(program, arguments.first ?? "")
    }

    /// Starts one of PostgreSQL's programs.
    private func run(_ arguments: [String]) throws(TestFault) -> Program {
        try Self.run(
            "\(Self.programs())/\(arguments[0])", arguments.dropFirst(), home: scratch.path)
    }

    /// Starts a program that `Tests/HostFixture/programs` unpacked. It may look everywhere, as the
    /// project may be in a private directory, and do nothing more than others.
    static func run(
        _ program: String, _ arguments: some Sequence<String>, home: String
    ) throws(TestFault) -> Program {
        let ids = ["--reuid=\(Self.uid)", "--regid=\(Self.uid)", "--clear-groups"]
        let rights = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"]
        return try Program(
            Command(
                ["setpriv"] + ids + rights + [program] + arguments,
                environment: [
                    "LD_LIBRARY_PATH": try Layout.unpackedLibraries(), "PGTZ": "UTC", "HOME": home,
                ]))
    }
}
