// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("the way of a secret") struct SecretDeliveryTests {
        private static let name = Person.daemon.account

        @Test("sizes and names out of bounds are refused before anything is asked for")
        func bounds() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            for size in [0, UInt32(Limit.secret) + 1, .max] {
                #expect(try client.ask(.set("mail", size)) == .denial(Denial(.badRequest)))
            }
            let names: [Bytes] = [
                Bytes("-n".utf8), Bytes("a\nb".utf8), [0], [0xFF], Bytes("a\u{202E}b".utf8),
            ]
            for name in names {
                let request = Request.secretSet(
                    SecretSetRequest(account: Self.name, size: 1, name: name, replaces: false))
                #expect(try client.ask(request) == .denial(Denial(.badRequest)))
            }
            #expect(!client.heard.contains(.secretWanted))
            #expect(try client.keep([1], "mail") == .done(DoneAnswer()))
        }

        @Test("parts that are not as announced end the connection, and nothing is kept")
        func parts() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let full = Bytes(repeating: 1, count: Limit.secretPart)
            let announced = UInt32(Limit.secretPart) + 10
            let wrong: [[Request]] = [
                [.secretPart([])], [.secretPart(Bytes(full.dropLast()))],
                [.secretPart(full), .secretPart([])],
                [.secretPart(full), .secretPart(Bytes(repeating: 1, count: 9))],
                [.secretPart(full), .secretPart(Bytes(repeating: 1, count: 11))],
                [.secretPart(full), .secretPart(full)],
                [.secretPart(full), .password([1])],
                [.secretPart(full), .status(account: Self.name)],
                [.secretPart(full), .set("other", 1)],
            ]
            for frames in wrong {
                let client = try fixture.client(.daemon)
                try client.send(.set("mail", announced))
                #expect(try client.next() == .secretWanted)
                for frame in frames { try client.send(frame) }
                #expect(try client.end().first == .denial(Denial(.badRequest)), "\(frames)")
            }
            for frame in [[1, 17], [1, 17, 18, 0, 2, 7], [1, 17, 10, 0, 0]] as [Bytes] {
                let client = try fixture.client(.daemon)
                try client.send(.set("mail", 1))
                #expect(try client.next() == .secretWanted)
                try client.send(frame)
                #expect(try client.end().first == .denial(Denial(.badRequest)))
            }
            #expect(try fixture.list().isEmpty && fixture.secretFiles.isEmpty)
        }

        @Test("an unexpected part ends the connection")
        func unasked() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let alone = try fixture.client(.daemon)
            try alone.send(.secretPart([1]))
            #expect(try alone.end() == [.denial(Denial(.badRequest))])
            let touching = try fixture.client(.daemon)
            try touching.send(.login(.daemon, service: "i3lock"))
            try touching.wait(for: .touch)
            try touching.send(.secretPart([1]))
            #expect(try touching.end().contains(.denial(Denial(.badRequest))))
            let early = try fixture.client(.daemon)
            #expect(try early.keep([1], "mail").done != nil)
            try early.send(.secretPart([1]))
            #expect(try early.end() == [.denial(Denial(.badRequest))])
        }

        @Test("a cancel, or a hang-up in the middle, stores nothing and delays no other client")
        func given() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let part = Bytes(repeating: 1, count: Limit.secretPart)
            let client = try fixture.client(.daemon)
            try client.send(.set("mail", UInt32(Limit.secret)))
            #expect(try client.next() == .secretWanted)
            try client.send(.secretPart(part))
            try client.send(.cancel)
            #expect(try client.last() == .denial(Denial(.cancelled)))
            do {
                let gone = try fixture.client(.daemon)
                try gone.send(.set("mail", UInt32(Limit.secret)))
                #expect(try gone.next() == .secretWanted)
                try gone.send(.secretPart(part))
            }
            // The same connection goes on, when the place of the one that went is free.
            var answer = try client.keep([1, 2], "mail")
            while answer.reason == .tooManyRequests { answer = try client.keep([1, 2], "mail") }
            #expect(answer == .done(DoneAnswer()))
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2])
        }

        @Test("one that is not sent in its time ends the connection")
        func slow() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            try client.send(.set("mail", 5))
            #expect(try client.next() == .secretWanted)
            #expect(try client.end() == [.denial(Denial(.badRequest))])
            #expect(try fixture.list().isEmpty)
        }

        @Test("an account sends one at a time, others beside it; of two of one name one is kept")
        func oneAtATime() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two")
            let first = try fixture.client(.daemon)
            try first.send(.set("mail", 1))
            #expect(try first.next() == .secretWanted)
            #expect(try fixture.client(.daemon).keep([2], "more").reason == .tooManyRequests)
            #expect(try fixture.client().keep([2], "mail").reason == .tooManyRequests)
            #expect(try fixture.client(.bin).keep([3], "mail", of: .bin).done != nil)
            try first.send(.secretPart([1]))
            #expect(try first.last() == .done(DoneAnswer()))
            let second = try fixture.client(.daemon).keep([2], "mail")
            #expect(second == .denial(Denial(.secretExists, subject: Bytes("mail".utf8))))
            #expect(try fixture.get("mail", with: ["one"]) == [1])
        }

        @Test("two that ask at once have their turns, one touch each")
        func twoAtOnce() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep([1], "mail").done != nil)
            let (first, second) = (try fixture.client(), try fixture.client())
            try first.send(.get("mail"))
            try first.wait(for: .touch)
            try second.send(.get("mail"))
            let waiting = try second.wait(for: .waiting)
            #expect(waiting.subject == Bytes("signet secret get (daemon)".utf8))
            // Before a finger is taken, both prompts have to say that there are two.
            try first.wait(for: .contended)
            try first.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            #expect(try first.last() == .done(DoneAnswer()))
            try second.wait(for: .touch)
            #expect(second.parts.isEmpty)
            try fixture.text.send(.scan("one"))
            #expect(try second.last() == .done(DoneAnswer()))
            #expect(first.parts == [[1]] && second.parts == [[1]])
            #expect(try fixture.verifiedReceipts().count == 2)
        }

        @Test("a cancel or a hang-up while the finger is awaited releases nothing")
        func takenBack() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep([1], "mail").done != nil)
            let client = try fixture.client(.daemon)
            try client.send(.get("mail"))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last() == .denial(Denial(.cancelled)))
            do {
                let gone = try fixture.client(.daemon)
                try gone.send(.get("mail"))
                try gone.wait(for: .touch)
            }
            #expect(try fixture.get("mail", with: ["one"], client: client) == [1])
            #expect(try fixture.verifiedReceipts().count == 1)
        }

        @Test("a client that leaves during sending leaves the daemon as it was")
        func goneMeanwhile() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let content = Bytes(repeating: 7, count: Limit.secret)
            #expect(try fixture.client().keep(content, "mail").done != nil)
            for _ in 0..<5 {
                let client = try fixture.client(.daemon)
                try client.send(.get("mail"))
                try client.wait(for: .touch)
                try fixture.text.send(.scan("one"))
                while let answer = try client.next() {
                    if case .secretPart = answer { break }
                }
            }
            #expect(try fixture.get("mail", with: ["one"]) == content)
            #expect(try fixture.verifiedReceipts().count == 6)
        }

        @Test("no copy of a secret stays in the daemon's memory, kept, released, refused or half")
        func wiped() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let secret = "kestrel-\(getpid())-umbrella"
            let long = Bytes(String(repeating: secret + " ", count: 1_500).utf8)
            for round in 0..<2 {
                let own = try fixture.client(.daemon)
                #expect(try own.keep(Bytes(secret.utf8), "short\(round)").done != nil)
                #expect(try own.keep(long, "long\(round)").done != nil)
                #expect(try fixture.get("long\(round)", with: ["one"]) == long)
                #expect(
                    try fixture.get("short\(round)", with: ["two", "one"]) == Bytes(secret.utf8))
                #expect(
                    try fixture.touch(.get("long\(round)"), with: ["two", "two", "two"]).reason
                        != nil)
                #expect(try fixture.ask(.unlock(account: Self.name)).done != nil)
            }
            let half = try fixture.client(.daemon)
            try half.send(.set("half", UInt32(Limit.secret)))
            #expect(try half.next() == .secretWanted)
            try half.send(.secretPart(Bytes(long.prefix(Limit.secretPart))))
            try half.send(.secretPart(Bytes(long.prefix(100))))
            #expect(try half.end().last?.reason == .badRequest)
            let unasked = try fixture.client(.daemon)
            try unasked.send(.secretPart(Bytes(secret.utf8)))
            #expect(try unasked.end().last?.reason == .badRequest)
            _ = try fixture.status(of: .daemon)
            #expect(try !fixture.memoryHolds(secret))
            #expect(try fixture.memoryHolds("signet.conf"), "the search finds what is there")
            #expect(!fixture.program.errors.contains(secret))
        }
    }
}
