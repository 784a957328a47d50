// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("limits") struct LimitTests {
        @Test("a user has so many connections; other users and root still get theirs")
        func connections() throws {
            let fixture = try DaemonFixture(
                configuration: "[daemon]\nconnections = 8\nconnections-per-user = 2\n")
            var clients: [TestClient] = []
            for person in [Person.daemon, .bin, .sys] {
                for _ in 0..<2 { clients.append(try fixture.client(person)) }
                // Accepted before the next one comes.
                #expect(try #require(clients.last).ask(.readers).done != nil)
                let refused = try fixture.client(person)
                #expect(try refused.end().map(\.reason) == [.tooManyRequests])
            }
            let games = try fixture.client(.games)
            #expect(try games.end().map(\.reason) == [.tooManyRequests], "all but root's are taken")
            #expect(try fixture.ask(.readers).done != nil)
            clients = []
            // The daemon hears of their end in its own time.
            while (try? fixture.client(.games).ask(.readers).done) == nil {}
        }

        @Test("a user may make so many requests and no more, and delays no other user")
        func rate() throws {
            let fixture = try DaemonFixture()
            let hasty = try fixture.client(.daemon)
            var refused = 0
            for _ in 0..<200 {
                if try hasty.ask(.configuration).reason == .tooManyRequests { refused += 1 }
            }
            #expect(refused > 50)
            #expect(try fixture.client(.bin).ask(.configuration).done != nil)
            // Each second allows some more: a slow machine may have had one go by.
            let another = try fixture.client(.daemon)
            let isRefused = try (0..<100).contains { _ in
                try another.ask(.configuration).reason == .tooManyRequests
            }
            #expect(isRefused)
            let entries = fixture.program.errors.split(separator: "\n")
            #expect(entries.count { $0.contains("sends too many requests") } < 20)
            #expect(!entries.contains { $0.contains("tooManyRequests") })
        }

        @Test("clients that connect and leave in a loop lock no other user out")
        func hammering() throws {
            let fixture = try DaemonFixture()
            for _ in 0..<50 {
                let crowd = (0..<20).compactMap { _ in try? fixture.client(.daemon) }
                #expect(!crowd.isEmpty)
                #expect(try fixture.ask(.configuration).done != nil)
            }
        }

        @Test("no descriptor is left behind by clients that hang up anywhere")
        func descriptors() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            _ = try fixture.status(of: .daemon)
            let before = fixture.descriptors
            for round in 0..<40 {
                let client = try fixture.client(.daemon)
                switch round % 4 {
                case 0: try client.send(.login(.daemon))
                case 1:
                    try client.send(.enable(account: Person.daemon.account))
                    try #require(try client.next() != nil)
                case 2:
                    try client.send(.enable(account: Person.daemon.account))
                    try #require(try client.next() != nil)
                    try client.send(.password(Bytes("slow".utf8)))
                default: try client.send([1])
                }
            }
            // Root's login has its turn when all those before have been given up.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            let deadline = ContinuousClock.now + .seconds(20)
            while fixture.descriptors > before, ContinuousClock.now < deadline {
                _ = try fixture.status(of: .daemon)
            }
            #expect(fixture.descriptors <= before)
            #expect(try fixture.ownChildren.isEmpty)
            #expect(fixture.threads <= 5)
        }

        @Test("the log for a client that does not read is not buffered, and delays no other client")
        func slowReader() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.addReceipts(1_200, of: .daemon)
            let slow = try fixture.client(.daemon)
            try slow.send(.log(LogRequest(account: Person.daemon.account)))
            try #require(try slow.next() != nil)
            #expect(
                try fixture.client(.bin).ask(.status(account: Person.bin.account)).status != nil)
            // After five seconds the daemon lets it go; what was sent can still be read.
            while true {
                guard let answer = try slow.next() else { break }
                if answer.isLast { break }
            }
        }
    }
}

extension DaemonFixture {
    /// The daemon's open descriptors.
    var descriptors: Int { Layout.entries(of: "/proc/\(program.pid)/fd").count }
}
