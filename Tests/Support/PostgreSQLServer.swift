import Glibc
import Synchronization

/// A PostgreSQL server of a test's own, on a socket in a private directory and nowhere else; it and
/// its data end with this object. Several processes may use it.
///
/// It runs as an account without rights, since it refuses root. A commit is not flushed to the disk:
/// it holds when the server is killed, not when the machine is.
package final class PostgreSQLServer: Sendable {
    /// `nobody`: initdb wants an account that has a name.
    private static let uid: UInt32 = 65_534

    private let scratch: Scratch
    private let data: String
    private let isDurable: Bool
    private let process = Mutex<Program?>(nil)
    private let made = Mutex(0)

    /// Makes and starts one (about 1.5 s). With `isDurable` its data are on the disk, below
    /// `directory`, and commits are flushed: for measuring.
    package init(isDurable: Bool = false, below directory: String? = nil) throws(TestFault) {
        scratch = try Scratch()
        self.isDurable = isDurable
        data = directory.map { "\($0)/postgresql-\(getpid())" } ?? scratch.at("data")
        for path in [scratch.path, data] {
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw .system(call: "mkdir", subject: path, code: errno)
            }
            guard unsafe chown(path, Self.uid, Self.uid) == 0 else {
                throw .system(call: "chown", subject: path, code: errno)
            }
        }
        try finish([
            "initdb", "--pgdata=\(data)", "--username=signet", "--auth=trust", "--no-sync",
            "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=\(isDurable ? 16 : 1)",
        ])
        try start()
    }

    deinit {
        stop()
        if isDurable { _ = try? Program(Command(["rm", "-rf", data])).expectEnd() }
    }

    /// A connection string for `database`, as whoever owns everything there.
    package func connection(_ database: String = "postgres") -> String {
        "host=\(scratch.path) user=signet dbname=\(database)"
    }

    /// Makes an empty database; gives its connection string.
    package func makeDatabase() throws(TestFault) -> String {
        let number = made.withLock { made in
            made += 1
            return made
        }
        let name = "test_\(getpid())_\(number)"
        try finish([
            "createdb", "--host=\(scratch.path)", "--username=signet", "--maintenance-db=postgres",
            name,
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
            "listen_addresses=", "unix_socket_directories=\(scratch.path)",
            "unix_socket_permissions=0777", "fsync=\(flushes)", "full_page_writes=\(flushes)",
            "shared_buffers=\(isDurable ? "128MB" : "16MB")", "max_connections=300",
            "dynamic_shared_memory_type=mmap", "autovacuum=\(flushes)",
            "max_wal_size=\(isDurable ? "1GB" : "64MB")",
            "min_wal_size=\(isDurable ? "80MB" : "2MB")", "jit=off", "logging_collector=off",
        ]
        let program = try run(["postgres", "-D", data] + settings.flatMap { ["-c", $0] })
        try program.expectError(
            "database system is ready to accept connections", within: .seconds(30))
        process.withLock { $0 = program }
    }

    /// Ends it in order.
    package func stop() { end(SIGINT) }

    /// Ends it at once: connections break, and the next start recovers from its log.
    package func crash() { end(SIGQUIT) }

    /// Lets it stand still: nothing is answered.
    package func suspend() { process.withLock { $0 }?.suspend() }

    /// Lets a suspended one go on.
    package func resume() { process.withLock { $0 }?.signal(SIGCONT) }

    private func end(_ signal: Int32) {
        let program = process.withLock { $0.take() }
        guard let program else { return }
        program.signal(SIGCONT)
        program.signal(signal)
        if (try? program.expectEnd(within: .seconds(20))) == nil {
            program.signal(SIGKILL)
            _ = try? program.expectEnd()
        }
    }

    // MARK: Programs

    @discardableResult
    private func finish(_ arguments: [String]) throws(TestFault) -> Outcome {
        let outcome = try run(arguments).expectEnd(within: .seconds(60))
        guard outcome.succeeded else {
            throw .closed(
                awaited: arguments.first ?? "", transcript: outcome.output + outcome.errors)
        }
        return outcome
    }

    /// Starts one of PostgreSQL's programs, as unpacked by `Tests/Stage/programs`. It may look
    /// everywhere, as the project may be in a private directory, and do nothing more than others.
    private func run(_ arguments: [String]) throws(TestFault) -> Program {
        let programs = "\(Layout.package)/.build/programs"
        let directory = try Layout.directory(
            of: Layout.matching("\(programs)/usr/lib/postgresql/*/bin/postgres"))
        // /usr/lib/x86_64-linux-gnu, for example.
        let libraries = Layout.directory(of: try Layout.moduleDirectory())
        let ids = ["--reuid=\(Self.uid)", "--regid=\(Self.uid)", "--clear-groups"]
        let rights = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"]
        return try Program(
            Command(
                ["setpriv"] + ids + rights + ["\(directory)/\(arguments[0])"]
                    + arguments.dropFirst(),
                environment: [
                    "LD_LIBRARY_PATH": programs + libraries,
                    "PGTZ": "UTC", "HOME": scratch.path,
                ]))
    }
}
