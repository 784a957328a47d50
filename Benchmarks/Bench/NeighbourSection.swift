// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import Posix
import RelyingParty
import SQL
import Synchronization
import TestSupport

/// Logins of registered devices, challenges included, beside a neighbour at the same address who
/// sends a hundred challenges a second for a device that does not exist.
struct NeighbourSection {
    let workshop: Workshop
    private static let devices = 500
    /// The pause after each login and between two calls of the neighbour.
    private static let pause = Duration.milliseconds(10)

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures, and prints the table.
    func run() throws {
        print(
            """
            | logins at the standard rate, SQLite | neighbour | challenges for the neighbour \
            | CPU of each that is refused | logins that succeed | p50 | p99 |
            """)
        print("|---|---|---|---|---|---|---|")
        let directory = "\(workshop.directory)/neighbour-\(getpid())"
        guard unsafe mkdir(directory, 0o700) == 0 else { throw BenchFault.unexpected(directory) }
        defer { _ = try? Program(Command(["rm", "-rf", directory])).expectEnd() }
        // The first round warms up code and disk, and is not shown.
        for (round, isBeside) in [false, false, true].enumerated() {
            try waitFor {
                let cells = try await Self.measure("\(directory)/\(round).db", isBeside)
                if round > 0 { print("| \(cells.joined(separator: " | ")) |") }
            }
        }
    }

    private static func measure(_ path: String, _ hasNeighbour: Bool) async throws -> [String] {
        let database = try SQLiteDatabase(path: path)
        let site = try await ServerSite(
            on: database, devices: devices, rates: NetworkRates(standard: 120))
        let neighbour = Neighbour(of: site)
        // The neighbour has used up the address before the first login.
        if hasNeighbour { for _ in 0..<200 { await neighbour.ask() } }
        let work = Task {
            while hasNeighbour && !Task.isCancelled {
                await neighbour.ask()
                try? await Task.sleep(for: pause)
            }
        }
        var samples = Samples()
        var accepted = 0
        for index in 0..<devices {
            let begun = monotonicNow()
            if try await site.logIn(index) { accepted += 1 }
            let time = monotonicNow() - begun
            samples.take { Double(time) / 1e6 }
            try await Task.sleep(for: pause)
        }
        work.cancel()
        await work.value
        let cost = hasNeighbour ? "\(Int(await neighbour.costOfRefusal())) µs" : "–"
        await database.close()
        return [
            "challenge and login, one after the other", hasNeighbour ? "100 challenges/s" : "none",
            "\(neighbour.answered) of \(neighbour.asked)", cost, "\(accepted) of \(devices)",
            Unit.milliseconds.text(samples.quantile(0.5) ?? 0),
            Unit.milliseconds.text(samples.quantile(0.99) ?? 0),
        ]
    }
}

/// Who asks for challenges and answers none.
private final class Neighbour: Sendable {
    private let site: ServerSite
    private let counts = Mutex((asked: 0, answered: 0))

    var asked: Int { counts.withLock { $0.asked } }
    var answered: Int { counts.withLock { $0.answered } }

    init(of site: ServerSite) {
        self.site = site
    }

    /// The CPU time of a call that is refused, in microseconds.
    func costOfRefusal() async -> Double {
        let calls = 2_000
        let begun = Crowd.processorNow()
        for _ in 0..<calls { _ = await site.askAsStranger() }
        return Double(Crowd.processorNow() - begun) / 1e3 / Double(calls)
    }

    func ask() async {
        let isAnswered = await site.askAsStranger()
        counts.withLock { counts in
            counts.asked += 1
            if isAnswered { counts.answered += 1 }
        }
    }
}
