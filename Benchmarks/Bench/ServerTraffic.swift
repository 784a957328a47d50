// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import Posix
import SQL
import TestSupport

/// Calls over HTTP to the server's own process, on connections that stay open.
struct ServerTraffic {
    let floor: ECDSAFloor
    private static let connections = 64
    private static let devices = 1_000
    private static let calls = 12_000

    /// Measures, and prints the table. What it costs is read from the process's own clock: whoever
    /// sends the calls shares the cores with it.
    func run(in directory: String) throws {
        print(
            """
            | signet-server over HTTP, SQLite | connections | a second | CPU of each \
            | of the floor, by CPU | p50 | p99 | memory then |
            """)
        print("|---|---|---|---|---|---|---|---|")
        let process = try BenchServer(in: directory)
        let master = try Layout.read(process.master)
        let server = try process.start()
        let connections = try (0..<Self.connections).map { _ in try process.connect(to: server) }
        defer { for connection in connections { close(connection) } }
        let floor = floor
        try waitFor {
            var master = master
            let database = try SQLiteDatabase(path: process.database)
            let site = try await ServerSite(
                on: database, devices: Self.devices, master: try SecretBytes(moving: &master))
            for kind in ServerSite.Kind.allCases {
                let count = Self.calls / (kind == .login ? 2 : 1)
                let calls = try await site.prepare(kind, count).map(\.bytes)
                let before = try Accounting.work(server.pid)
                let figure = try Self.send(calls, on: connections)
                let cost = (try Accounting.work(server.pid) - before) * 1e3 / Double(count)
                let memory = try Accounting.status(server.pid, "VmRSS")
                Self.show(kind, figure, cost, of: floor, memory)
            }
            await database.close()
        }
        try process.end(server)
    }

    private static func show(
        _ kind: ServerSite.Kind, _ figure: (perSecond: Double, samples: Samples), _ cost: Double,
        of floor: ECDSAFloor, _ memory: Int
    ) {
        let cells = [
            kind.rawValue, "\(connections)", "\(Int(figure.perSecond))",
            "\(Int(cost.rounded())) µs", "\(Int((floor.microseconds / cost * 100).rounded())) %",
            Unit.milliseconds.text(figure.samples.quantile(0.5) ?? 0),
            Unit.milliseconds.text(figure.samples.quantile(0.99) ?? 0), "\(memory) kB",
        ]
        print("| \(cells.joined(separator: " | ")) |")
        fflush(nil)
    }

    /// Sends all calls, the next on a connection when the last on it was answered.
    private static func send(
        _ calls: [[UInt8]], on connections: [Int32]
    ) throws -> (perSecond: Double, samples: Samples) {
        var waiting = connections.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var begun = [Int64](repeating: 0, count: connections.count)
        var samples = Samples()
        var next = 0
        var buffer = [UInt8](repeating: 0, count: 16_384)
        func send(on place: Int) throws {
            guard next < calls.count else { return }
            begun[place] = monotonicNow()
            let call = calls[next]
            next += 1
            guard unsafe write(waiting[place].fd, call, call.count) == call.count else {
                throw BenchFault.unexpected("a connection was closed")
            }
        }
        let start = monotonicNow()
        for place in waiting.indices { try send(on: place) }
        while samples.values.count < calls.count {
            guard unsafe poll(&waiting, nfds_t(waiting.count), 10_000) > 0 else {
                throw BenchFault.unexpected("no answer within 10 s")
            }
            for place in waiting.indices where waiting[place].revents != 0 {
                // Answers are shorter than what a socket gives at once.
                let count = unsafe read(waiting[place].fd, &buffer, buffer.count)
                guard count > 0, buffer[..<count].isAcceptance else {
                    let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
                    throw BenchFault.unexpected("an answer: \(text)")
                }
                samples.take { Double(monotonicNow() - begun[place]) / 1e6 }
                try send(on: place)
            }
        }
        return (Double(calls.count) / (Double(monotonicNow() - start) / 1e9), samples)
    }
}

extension HTTPRequest {
    /// As it is sent.
    fileprivate var bytes: [UInt8] {
        let lines =
            ["\(method) \(target) HTTP/1.1"] + headers.map { "\($0.name): \($0.value)" }
            + ["content-length: \(body.count)", "", ""]
        return [UInt8](lines.joined(separator: "\r\n").utf8) + body
    }
}

extension ArraySlice<UInt8> {
    /// Whether this is an answer 200 with a body that ends with `"valid":true`.
    fileprivate var isAcceptance: Bool {
        starts(with: "HTTP/1.1 200 ".utf8) && suffix(13).elementsEqual("\"valid\":true}".utf8)
    }
}
