// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Testing

extension DaemonTests {
    @Suite("frames") struct FrameTests {
        private static let status = try? Request.status(account: Person.daemon.account).encoded()
        private static let good = status ?? []

        /// Packets that are no request, and what they are.
        static let bad: [(String, Bytes)] = [
            ("one byte", [1]),
            ("truncated", Bytes(good.dropLast())),
            ("trailing", good + [0]),
            ("a field twice", good + good.dropFirst(2)),
            ("an unknown verb", [1, 99]),
            ("an answer's kind", [1, 132]),
            ("another version", [2] + good.dropFirst()),
            ("an empty name", [1, 8, 1, 0, 0]),
            ("a name with a newline", [1, 8, 1, 0, 2, 0x61, 0x0a]),
            ("a length over the cap", [1, 8, 1, 255, 255]),
            ("the longest frame, full of nothing", Bytes(repeating: 0, count: 16_384)),
            ("a longer packet", Bytes(repeating: 1, count: 16_385)),
            ("an unexpected password", [1, 14, 10, 0, 1, 0x78]),
            ("a malformed password", [1, 14, 10, 0, 9, 0x78]),
            ("a cancel without a request", [1, 15]),
        ]

        @Test("an invalid request ends that connection and no other")
        func refusals() throws {
            let fixture = try DaemonFixture()
            let witness = try fixture.client(.bin)
            for (what, packet) in Self.bad {
                let client = try fixture.client(.daemon)
                try client.send(packet)
                let answers = try client.end()
                #expect(answers.map(\.reason) == [.badRequest], "\(what)")
                #expect(try witness.ask(.status(account: Person.bin.account)).status != nil)
            }
        }

        @Test("a second request before the first has ended ends the connection and the first")
        func secondRequest() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            try client.send(.login(.daemon, service: "i3lock"))
            try client.wait(for: .touch)
            try client.send(.status(account: Person.daemon.account))
            #expect(try client.end().last?.reason == .badRequest)
            // The reader is free again.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a password while a touch is awaited, which asks for none, ends the connection")
        func passwordOutOfTurn() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            try client.send(.login(.daemon, service: "i3lock"))
            try client.wait(for: .touch)
            try client.send(.password(Bytes("right".utf8)))
            #expect(try client.end().last?.reason == .badRequest)
        }

        @Test("one connection serves requests one after the other, up to a limit")
        func requestLimit() throws {
            let fixture = try DaemonFixture()
            let client = try fixture.client(.root)
            for _ in 0..<256 {
                #expect(try client.ask(.status(account: Person.bin.account)).status != nil)
            }
            try client.send(.status(account: Person.bin.account))
            #expect(try client.end().map(\.reason) == [.badRequest])
        }
    }
}
