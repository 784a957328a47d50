// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the hint about enrolling") struct OfferTests {
        private func request(
            _ person: Person = .daemon, service: String = "login",
            presence: TerminalPosition = .foreground
        ) -> Request {
            .offer(
                OfferRequest(
                    account: person.account, service: ServiceName(service),
                    presence: presence))
        }

        /// Whether the person is told; nil where the request was refused.
        private func isTold(_ fixture: DaemonFixture, _ request: Request) throws -> Bool? {
            let client = try fixture.client()
            guard try client.ask(request).done != nil else { return nil }
            return client.heard.contains(.notice(Notice(.offer)))
        }

        private func file(_ fixture: DaemonFixture) -> String { fixture.state + "/private/offers" }

        @Test("is sent once a day for each account, over restarts too")
        func daily() throws {
            let fixture = try DaemonFixture([.text])
            #expect(try isTold(fixture, request()) == true)
            #expect(try isTold(fixture, request()) == false)
            #expect(try isTold(fixture, request(.bin)) == true)
            try fixture.restart()
            #expect(try isTold(fixture, request()) == false)
            // As it is a day later.
            let text = String(decoding: try Layout.read(file(fixture)), as: UTF8.self)
            let said = try #require(text.firstMatch(of: #/uid: 1\nsaid: (\d+)/#)?.1)
            let earlier = try #require(UInt64(said)) - 86_400
            try DaemonFixture.write(
                text.replacing(said, with: "\(earlier)"), to: file(fixture), mode: 0o600)
            #expect(try isTold(fixture, request()) == true)
            try DaemonFixture.write("damage", to: file(fixture), mode: 0o600)
            #expect(try isTold(fixture, request()) == true)
            #expect(try isTold(fixture, request()) == false)
            // Nothing is made for an account that has nothing here.
            #expect(Layout.entries(of: fixture.file("", of: .daemon)).isEmpty)
        }

        @Test("is for accounts without a finger, and not for root")
        func fingers() throws {
            let fixture = try DaemonFixture([.text])
            #expect(try isTold(fixture, request(.root)) == false)
            try fixture.enrol(.daemon, as: "one")
            #expect(try isTold(fixture, request()) == false)
            _ = try fixture.ask(.disable(account: Person.daemon.account))
            #expect(try isTold(fixture, request()) == false)
            _ = try fixture.ask(.delete(account: Person.daemon.account, finger: nil))
            #expect(try isTold(fixture, request()) == true)
        }

        @Test("is not sent where no finger would be asked for, and then nothing is noted")
        func refusals() throws {
            let fixture = try DaemonFixture(
                [.text], configuration: "[login]\nservices = !su\naccounts = !bin\n")
            try fixture.setLid("state:      closed\n")
            #expect(try fixture.ask(request()).reason == .lidClosed)
            try fixture.setLid("state:      open\n")
            #expect(try fixture.ask(request(presence: .background)).reason == .inBackground)
            #expect(try fixture.ask(request(presence: .noTerminal)).reason == .inBackground)
            #expect(try fixture.ask(request(service: "su")).reason == .notServed)
            #expect(try fixture.ask(request(.bin)).reason == .notServed)
            let nobody = Person(name: "no-such-account", uid: 1)
            #expect(try fixture.ask(request(nobody)).reason == .unknownAccount)
            #expect(try fixture.client(.daemon).ask(request()).reason == .notPermitted)
            #expect(Layout.entries(of: fixture.state + "/private").contains("offers") == false)
            #expect(try isTold(fixture, request()) == true)
            let readerless = try DaemonFixture([])
            #expect(try readerless.ask(request()).reason == .noReader)
        }
    }
}
