// SPDX-License-Identifier: Apache-2.0
import Glibc
import SQL
import TestSupport

/// How the server bears numbers: of registrations, of processes, of connections, of starts.
struct ScaleSection {
    /// How far it is driven; all of it takes long.
    struct Scale: Sendable {
        /// Registrations in the database.
        var sizes = [1_000, 1_000_000]
        /// Idle connections.
        var connections = 10_000

        /// Takes its options out of the words of the command line.
        init(taking words: inout [String]) throws {
            if let text = try Self.take("--sizes", from: &words) {
                sizes = text.split(separator: ",").compactMap { Int($0) }
                guard !sizes.isEmpty, sizes.allSatisfy({ (1...10_000_000).contains($0) }) else {
                    throw BenchFault.unexpected("--sizes wants numbers with commas between")
                }
            }
            if let text = try Self.take("--connections", from: &words) {
                guard let count = Int(text), (1...50_000).contains(count) else {
                    throw BenchFault.unexpected("--connections wants a number up to 50000")
                }
                connections = count
            }
        }

        private static func take(_ name: String, from words: inout [String]) throws -> String? {
            guard let place = words.firstIndex(of: name) else { return nil }
            guard words.indices.contains(place + 1) else {
                throw BenchFault.unexpected("\(name) wants a value")
            }
            defer { words.removeSubrange(place...(place + 1)) }
            return words[place + 1]
        }
    }

    let workshop: Workshop
    let scale: Scale
    /// Devices that call, all over the registrations: more than the server keeps keys of.
    private static let callers = 5_000

    /// Measures, and prints the tables.
    func run() throws {
        let directory = "\(workshop.directory)/scale-\(getpid())"
        guard unsafe mkdir(directory, 0o755) == 0 else { throw BenchFault.unexpected(directory) }
        defer { _ = try? Program(Command(["rm", "-rf", directory])).expectEnd() }
        try measureSizes(in: directory)
        try ServerWorker.measure(in: directory)
        try ServerProcessFigures(directory: directory).measure(connections: scale.connections)
    }

    private func measureSizes(in directory: String) throws {
        print("| SQLite, registrations | logins a second, 16 callers | CPU of each | p50 | p99 |")
        print("|---|---|---|---|---|")
        for size in scale.sizes {
            try waitFor {
                let database = try SQLiteDatabase(path: "\(directory)/\(size).db")
                let site = try await ServerSite(
                    on: database, devices: size, callers: Self.callers)
                let calls = try await site.prepare(.login, 4_000)
                let figure = try await Crowd.send(calls, to: site.dispatcher, by: 16)
                print("| \(size) | \(figure.cells) |")
                fflush(nil)
                await database.close()
            }
        }
        print()
    }
}

extension Crowd.Figure {
    /// A second, CPU of each, p50 and p99, as tables have them.
    var cells: String {
        [
            "\(Int(perSecond))", "\(Int(microseconds.rounded())) µs",
            Unit.milliseconds.text(samples.quantile(0.5) ?? 0),
            Unit.milliseconds.text(samples.quantile(0.99) ?? 0),
        ].joined(separator: " | ")
    }
}
