// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import SQL
import SignedFormats
import TestSupport

/// One of several processes that serve calls on one PostgreSQL.
enum ServerWorker {
    /// The bench is called with it to be one.
    static let word = "server-worker"
    /// So many that what PostgreSQL plans at first on each connection does not count.
    private static let callsOfEach = 6_000
    private static let callers = 16

    /// Starts 1, 2 and 4 of them, and prints what they did together.
    static func measure(in directory: String) throws {
        let server = try PostgreSQLServer(isDurable: true, below: directory)
        let postmaster = try Self.postmaster(below: directory)
        print(
            "| PostgreSQL, processes | call | a second | CPU of each | and PostgreSQL's | p50 | p99 |"
        )
        print("|---|---|---|---|---|---|---|")
        for count in [1, 2, 4] {
            let connection = try server.makeDatabase()
            let master = String(decoding: Hexadecimal.encode(try randomBytes(32)), as: UTF8.self)
            // The first one makes the tables and keys that the others find.
            var workers: [Program] = []
            for number in 0..<count {
                let words = ["\(Layout.products)/bench", word, connection, master, "shop\(number)"]
                let worker = try Program(Command(words))
                try worker.expect("ready\n", within: .seconds(120))
                workers.append(worker)
            }
            func have(all word: String, _ step: Int) throws {
                for worker in workers { worker.signal(SIGUSR1) }
                for worker in workers {
                    try worker.expect("\(word)\n", times: step + 1, within: .seconds(120))
                }
            }
            var database: [Double] = []
            for step in ServerSite.Kind.measured.indices {
                try have(all: "prepared", step)
                let before = databaseWork(of: postmaster)
                try have(all: "done", step)
                let calls = Double(count * callsOfEach)
                database.append((databaseWork(of: postmaster) - before) * 1e3 / calls)
            }
            for worker in workers { worker.signal(SIGUSR1) }
            for line in try summary(of: workers, database: database) {
                print("| \(count) | \(line) |")
            }
            fflush(nil)
        }
        print()
    }

    /// Serves: says when it is ready, begins at each signal, and says what it took.
    static func run(_ words: ArraySlice<String>) throws {
        guard words.count == 3, let connection = words.first, let name = words.last,
            var master = Hexadecimal.decode([UInt8](words[words.startIndex + 1].utf8))
        else { throw BenchFault.unexpected("\(word) wants a connection, a secret and a name") }
        // Before there is any other thread: they all inherit it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGUSR1)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let secret = try SecretBytes(moving: &master)
        try waitFor {
            let database = try PostgreSQLDatabase(connection: connection, connections: 8)
            let site = try await ServerSite(
                on: database, devices: 200, application: name, master: secret)
            print("ready")
            fflush(nil)
            for kind in ServerSite.Kind.measured {
                waitForSignal()
                let calls = try await site.prepare(kind, callsOfEach)
                print("prepared")
                fflush(nil)
                waitForSignal()
                let figure = try await Crowd.send(calls, to: site.dispatcher, by: callers)
                let quantiles = [0.5, 0.99].map { figure.samples.quantile($0) ?? 0 }
                let numbers = [figure.perSecond, figure.microseconds] + quantiles
                print("figure \(numbers.map { "\($0)" }.joined(separator: " "))")
                print("done")
                fflush(nil)
            }
            // PostgreSQL's processes for this one end with it, and are looked at before.
            waitForSignal()
            await database.close()
        }
    }

    private static func waitForSignal() {
        var signals = sigset_t()
        var number: Int32 = 0
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGUSR1)
        unsafe sigwait(&signals, &number)
    }

    /// The process that all of PostgreSQL's others are children of.
    private static func postmaster(below directory: String) throws -> Int32 {
        let path = "\(directory)/postgresql-\(getpid())/postmaster.pid"
        let text = String(decoding: try Layout.read(path), as: UTF8.self)
        guard let pid = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw BenchFault.unexpected(path)
        }
        return pid
    }

    /// Milliseconds that PostgreSQL's processes have worked until now.
    private static func databaseWork(of postmaster: Int32) -> Double {
        let path = "/proc/\(postmaster)/task/\(postmaster)/children"
        let text = String(decoding: (try? Layout.read(path)) ?? [], as: UTF8.self)
        let children = text.split(separator: " ").compactMap { Int32($0) }
        // One that cleans up may have ended meanwhile.
        return children.reduce(0) { $0 + ((try? Accounting.work($1)) ?? 0) }
    }

    /// What all did, a line for each kind: their rates together, the means of CPU time and p50, and
    /// the worst p99; between them, the microseconds of each call in the database.
    private static func summary(of workers: [Program], database: [Double]) throws -> [String] {
        let kinds = ServerSite.Kind.measured
        var sums = [[Double]](repeating: [0, 0, 0, 0], count: kinds.count)
        for worker in workers {
            let lines = try worker.expectEnd(within: .seconds(30)).output.split(separator: "\n")
                .filter { $0.hasPrefix("figure ") }
            guard lines.count == kinds.count else {
                throw BenchFault.unexpected("a worker said \(lines)")
            }
            for (place, line) in lines.enumerated() {
                let numbers = line.split(separator: " ").compactMap { Double($0) }
                guard numbers.count == 4 else { throw BenchFault.unexpected(String(line)) }
                sums[place][0] += numbers[0]
                sums[place][1] += numbers[1] / Double(workers.count)
                sums[place][2] += numbers[2] / Double(workers.count)
                sums[place][3] = max(sums[place][3], numbers[3])
            }
        }
        return zip(zip(kinds, sums), database).map { line, database in
            let (kind, sum) = line
            return [
                kind.rawValue, "\(Int(sum[0]))", "\(Int(sum[1].rounded())) µs",
                "\(Int(database.rounded())) µs", Unit.milliseconds.text(sum[2]),
                Unit.milliseconds.text(sum[3]),
            ].joined(separator: " | ")
        }
    }
}

extension ServerSite.Kind {
    /// Those that several processes are measured by.
    static let measured: [ServerSite.Kind] = [.login, .signed, .mac]
}
