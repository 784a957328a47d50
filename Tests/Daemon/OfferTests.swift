// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the word on enrolling") struct OfferTests {
        private func request(
            _ person: Person = .daemon, service: String = "login",
            presence: TerminalPosition = .foreground
        ) -> Request {
            .offer(
                OfferRequest(
                    account: person.bytes, service: Bytes(service.utf8),
                    presence: presence))
        }

        /// Whether the person is told; nil where the request was refused.
        private func isTold(_ bench: DaemonBench, _ request: Request) throws -> Bool? {
            let client = try bench.client()
            guard try client.ask(request).done != nil else { return nil }
            return client.heard.contains(.notice(Notice(.offer)))
        }

        private func file(_ bench: DaemonBench) -> String { bench.state + "/private/offers" }

        @Test("is sent once a day for each account, over restarts too")
        func daily() throws {
            let bench = try DaemonBench([.text])
            #expect(try isTold(bench, request()) == true)
            #expect(try isTold(bench, request()) == false)
            #expect(try isTold(bench, request(.bin)) == true)
            try bench.restart()
            #expect(try isTold(bench, request()) == false)
            // As it is a day later.
            let text = String(decoding: try Layout.read(file(bench)), as: UTF8.self)
            let said = try #require(text.firstMatch(of: #/uid: 1\nsaid: (\d+)/#)?.1)
            let earlier = try #require(UInt64(said)) - 86_400
            try DaemonBench.write(
                text.replacing(said, with: "\(earlier)"), to: file(bench), mode: 0o600)
            #expect(try isTold(bench, request()) == true)
            try DaemonBench.write("damage", to: file(bench), mode: 0o600)
            #expect(try isTold(bench, request()) == true)
            #expect(try isTold(bench, request()) == false)
            // Nothing is made for an account that has nothing here.
            #expect(Layout.entries(of: bench.file("", of: .daemon)).isEmpty)
        }

        @Test("is for accounts without a finger, and not for root")
        func fingers() throws {
            let bench = try DaemonBench([.text])
            #expect(try isTold(bench, request(.root)) == false)
            try bench.enrol(.daemon, as: "one")
            #expect(try isTold(bench, request()) == false)
            _ = try bench.ask(.disable(account: Person.daemon.bytes))
            #expect(try isTold(bench, request()) == false)
            _ = try bench.ask(.delete(account: Person.daemon.bytes, finger: nil))
            #expect(try isTold(bench, request()) == true)
        }

        @Test("is not sent where no finger would be asked for, and then nothing is noted")
        func refusals() throws {
            let bench = try DaemonBench(
                [.text], configuration: "[login]\nservices = !sshd\naccounts = !bin\n")
            try bench.setLid("state:      closed\n")
            #expect(try bench.ask(request()).reason == .lidClosed)
            try bench.setLid("state:      open\n")
            #expect(try bench.ask(request(presence: .background)).reason == .inBackground)
            #expect(try bench.ask(request(presence: .noTerminal)).reason == .inBackground)
            #expect(try bench.ask(request(service: "sshd")).reason == .notServed)
            #expect(try bench.ask(request(.bin)).reason == .notServed)
            let nobody = Person(name: "no-such-account", uid: 1)
            #expect(try bench.ask(request(nobody)).reason == .unknownAccount)
            #expect(try bench.client(.daemon).ask(request()).reason == .notPermitted)
            #expect(Layout.entries(of: bench.state + "/private").contains("offers") == false)
            #expect(try isTold(bench, request()) == true)
            let readerless = try DaemonBench([])
            #expect(try readerless.ask(request()).reason == .noReader)
        }
    }
}
