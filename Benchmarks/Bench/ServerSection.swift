// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import HTTPServer
import Posix
import RelyingParty
import SQL
import Synchronization
import TestSupport

/// Logins and requests' codes at the server, without its sockets, on SQLite on the disk.
struct ServerSection {
    let workshop: Workshop
    private static let devices = 1_000
    /// How many callers at once, and how many calls of each kind they send.
    private static let crowds: [(callers: Int, calls: Int)] = [
        (1, 1_000), (16, 10_000), (64, 20_000), (256, 20_000),
    ]

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures, and prints the table.
    func run() throws {
        let floor = try ECDSAFloor()
        print("verifications of ECDSA P-256 alone, `openssl speed`: \(floor.text)")
        print()
        print(
            """
            | server, SQLite | callers | a second | of the floor | CPU of each \
            | of the floor, by CPU | p50 | p99 |
            """)
        print("|---|---|---|---|---|---|---|---|")
        let directory = "\(workshop.directory)/server-\(getpid())"
        guard unsafe mkdir(directory, 0o700) == 0 else { throw BenchFault.unexpected(directory) }
        defer { _ = try? Program(Command(["rm", "-rf", directory])).expectEnd() }
        let path = "\(directory)/server.db"
        try waitFor { try await Self.measure(path, against: floor) }
        print()
        try ServerTraffic(floor: floor).run(in: directory)
    }

    private static func measure(_ path: String, against floor: ECDSAFloor) async throws {
        let database = try SQLiteDatabase(path: path)
        let site = try await ServerSite(on: database, devices: devices)
        for crowd in crowds {
            for kind in ServerSite.Kind.allCases {
                // What is prepared is signed: a code holds for half a minute.
                let count = crowd.calls / (kind == .login ? 4 : 1)
                let calls = try await site.prepare(kind, count)
                let figure = try await Crowd.send(calls, to: site.dispatcher, by: crowd.callers)
                show(kind.rawValue, crowd.callers, figure, floor)
            }
        }
        await database.close()
    }

    private static func show(
        _ name: String, _ callers: Int, _ figure: Crowd.Figure, _ floor: ECDSAFloor
    ) {
        let share = (figure.perSecond / floor.perSecond * 100).rounded()
        let cells = [
            name, "\(callers)", "\(Int(figure.perSecond))", "\(Int(share)) %",
            "\(Int(figure.microseconds.rounded())) µs",
            "\(Int((floor.microseconds / figure.microseconds * 100).rounded())) %",
            Unit.milliseconds.text(figure.samples.quantile(0.5) ?? 0),
            Unit.milliseconds.text(figure.samples.quantile(0.99) ?? 0),
        ]
        print("| \(cells.joined(separator: " | ")) |")
        fflush(nil)
    }
}

/// How many signatures OpenSSL alone verifies on these cores.
struct ECDSAFloor {
    private let one: Double
    /// On all cores at once.
    let perSecond: Double
    private let cores: Int
    /// CPU time of one, in microseconds: on one core OpenSSL counts by that.
    var microseconds: Double { 1e6 / one }

    /// Measures for some seconds.
    init() throws {
        cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        one = try Self.measure([])
        perSecond = try Self.measure(["-multi", "\(cores)"])
    }

    /// Both figures.
    var text: String { "\(Int(one))/s on one core, \(Int(perSecond))/s on all \(cores)" }

    private static func measure(_ options: [String]) throws -> Double {
        let command = ["openssl", "speed", "-seconds", "3"] + options + ["ecdsap256"]
        let outcome = try Program(Command(command)).expectEnd(within: .seconds(60))
        guard let line = outcome.output.split(separator: "\n").last,
            let figure = line.split(separator: " ").last.flatMap({ Double($0) })
        else { throw BenchFault.unexpected("openssl speed: \(outcome.errors)") }
        return figure
    }
}

/// Callers that each send the next call when the last one was answered.
enum Crowd {
    /// What came of it.
    struct Figure: Sendable {
        let perSecond: Double
        /// CPU time of this process for each call.
        let microseconds: Double
        /// Milliseconds.
        let samples: Samples
    }

    /// Sends all calls once; each must be accepted.
    static func send(
        _ calls: [HTTPRequest], to dispatcher: Dispatcher, by callers: Int
    ) async throws -> Figure {
        let next = Counter()
        let start = monotonicNow()
        let used = processorNow()
        let times = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<callers {
                group.addTask {
                    var times: [Int64] = []
                    times.reserveCapacity(calls.count / callers + 1)
                    while true {
                        let index = next.next()
                        guard index < calls.count else { return times }
                        let begun = monotonicNow()
                        let answer = await dispatcher.answer(calls[index])
                        times.append(monotonicNow() - begun)
                        guard answer.isAcceptance else {
                            throw BenchFault.unexpected(
                                String(decoding: answer.body, as: UTF8.self))
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let seconds = Double(monotonicNow() - start) / 1e9
        let microseconds = Double(processorNow() - used) / 1e3 / Double(calls.count)
        var samples = Samples()
        for time in times { samples.take { Double(time) / 1e6 } }
        return Figure(
            perSecond: Double(calls.count) / seconds, microseconds: microseconds,
            samples: samples)
    }

    /// Nanoseconds that all threads of this process have run.
    static func processorNow() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}

extension HTTPResponse {
    /// Whether the body, an object with its names in order, ends with `"valid":true`.
    fileprivate var isAcceptance: Bool { status == 200 && body.ends(with: "\"valid\":true}") }
}

extension [UInt8] {
    fileprivate func ends(with text: StaticString) -> Bool {
        suffix(text.utf8CodeUnitCount).elementsEqual(text.description.utf8)
    }
}

/// Waits on this thread for work that goes on on others.
func waitFor(_ work: @escaping @Sendable () async throws -> Void) throws {
    let end = DispatchSemaphore(value: 0)
    let outcome = Failure()
    Task {
        do { try await work() } catch { outcome.fault.withLock { $0 = error } }
        end.signal()
    }
    end.wait()
    if let fault = outcome.fault.withLock({ $0 }) { throw fault }
}

private final class Failure: Sendable {
    let fault = Mutex<(any Error)?>(nil)
}
