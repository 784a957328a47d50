// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("limits") struct LimitTests {
        @Test("a user has so many connections; others and root have theirs all the same")
        func connections() throws {
            let bench = try DaemonBench(
                configuration: "[daemon]\nconnections = 8\nconnections-per-user = 2\n")
            var clients: [TestClient] = []
            for person in [Person.daemon, .bin, .sys] {
                for _ in 0..<2 { clients.append(try bench.client(person)) }
                // Accepted before the next one comes.
                #expect(try #require(clients.last).ask(.readers).done != nil)
                let refused = try bench.client(person)
                #expect(try refused.end().map(\.reason) == [.tooManyRequests])
            }
            let games = try bench.client(.games)
            #expect(try games.end().map(\.reason) == [.tooManyRequests], "all but root's are taken")
            #expect(try bench.ask(.readers).done != nil)
            clients = []
            // The daemon hears of their end in its own time.
            while (try? bench.client(.games).ask(.readers).done) == nil {}
        }

        @Test("a user may ask so often and no more, and holds up nobody")
        func rate() throws {
            let bench = try DaemonBench()
            let hasty = try bench.client(.daemon)
            var refused = 0
            for _ in 0..<200 {
                if try hasty.ask(.configuration).reason == .tooManyRequests { refused += 1 }
            }
            #expect(refused > 50)
            #expect(try bench.client(.bin).ask(.configuration).done != nil)
            // Each second allows some more: a slow machine may have had one go by.
            let another = try bench.client(.daemon)
            let isRefused = try (0..<100).contains { _ in
                try another.ask(.configuration).reason == .tooManyRequests
            }
            #expect(isRefused)
            let entries = bench.program.errors.split(separator: "\n")
            #expect(entries.count { $0.contains("asks too often") } < 20)
            #expect(!entries.contains { $0.contains("tooManyRequests") })
        }

        @Test("clients that connect and go in a loop keep nobody out")
        func hammering() throws {
            let bench = try DaemonBench()
            for _ in 0..<50 {
                let crowd = (0..<20).compactMap { _ in try? bench.client(.daemon) }
                #expect(!crowd.isEmpty)
                #expect(try bench.ask(.configuration).done != nil)
            }
        }

        @Test("no descriptor is left behind by clients that hang up anywhere")
        func descriptors() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            _ = try bench.status(of: .daemon)
            let before = bench.descriptors
            for round in 0..<40 {
                let client = try bench.client(.daemon)
                switch round % 4 {
                case 0: try client.send(.login(.daemon))
                case 1:
                    try client.send(.enable(account: Person.daemon.bytes))
                    try #require(try client.next() != nil)
                case 2:
                    try client.send(.enable(account: Person.daemon.bytes))
                    try #require(try client.next() != nil)
                    try client.send(.password(Bytes("slow".utf8)))
                default: try client.send([1])
                }
            }
            // Root's login has its turn when all those before have been given up.
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            let deadline = ContinuousClock.now + .seconds(20)
            while bench.descriptors > before, ContinuousClock.now < deadline {
                _ = try bench.status(of: .daemon)
            }
            #expect(bench.descriptors <= before)
            #expect(try bench.ownChildren.isEmpty)
            #expect(bench.threads <= 5)
        }

        @Test("the log of one who does not read is not kept in memory, and holds up nobody")
        func slowReader() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try bench.addReceipts(1_200, of: .daemon)
            let slow = try bench.client(.daemon)
            try slow.send(.log(LogRequest(account: Person.daemon.bytes)))
            try #require(try slow.next() != nil)
            #expect(try bench.client(.bin).ask(.status(account: Person.bin.bytes)).status != nil)
            // After five seconds the daemon lets it go; what was sent can still be read.
            while true {
                guard let answer = try slow.next() else { break }
                if answer.isLast { break }
            }
        }
    }
}

extension DaemonBench {
    /// The daemon's open descriptors.
    var descriptors: Int { Layout.entries(of: "/proc/\(program.pid)/fd").count }
}
