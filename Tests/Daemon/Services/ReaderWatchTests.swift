// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("watching a reader") struct ReaderWatchTests {
        private func watch(_ fixture: DaemonFixture, _ reader: Bytes? = nil) throws -> TestClient {
            let client = try fixture.client()
            try client.send(.watchReader(reader))
            return client
        }

        @Test("shows each event, and compares fingers with no account's")
        func events() throws {
            let fixture = try DaemonFixture()
            #expect(try fixture.enrol(.daemon, as: "one").done?.prints == 1)
            let client = try watch(fixture)
            guard case .reader(let reader) = try client.next() else {
                throw ClientFault.ended(client.heard)
            }
            #expect(reader.readerID == Bytes(DaemonFixture.storageID.utf8))
            for finger in ["one", "unknown"] {
                try client.wait(for: .touch)
                try fixture.storage.send(.retry(1))
                #expect(try client.wait(for: .retry).retry == .tooShort)
                try fixture.storage.send(.scan(finger))
                #expect(try client.wait(for: .noMatch) == Notice(.noMatch))
            }
            #expect(try client.ask(.cancel).reason == .cancelled)
            #expect(client.heard.allSatisfy { $0.assertion == nil })
            // Neither a failed match nor a receipt.
            #expect(try fixture.settledFailures() == 0)
            let log = try fixture.client()
            try log.send(.log(LogRequest(account: Person.daemon.account)))
            #expect(
                try log.rest().allSatisfy { answer in
                    if case .receipt = answer { false } else { true }
                })
        }

        @Test("only root may", arguments: [Person.daemon, .bin])
        func refused(person: Person) throws {
            let fixture = try DaemonFixture()
            #expect(try fixture.client(person).ask(.watchReader(nil)).reason == .notPermitted)
        }

        @Test("a missing reader, or one that cannot scan for an unknown finger, is refused")
        func unable() throws {
            let fixture = try DaemonFixture([.storage, .text])
            #expect(try fixture.ask(.watchReader([1])).reason == .noReader)
            let text = Bytes(DaemonFixture.textID.utf8)
            #expect(try fixture.ask(.watchReader(text)).reason == .readerFailed)
            #expect(try fixture.ask(.watchReader([])).reason == .noReader)
        }

        @Test("makes way for a login at once, and continues after it")
        func yields() throws {
            let fixture = try DaemonFixture()
            #expect(try fixture.enrol(.daemon, as: "one").done?.prints == 1)
            let client = try watch(fixture)
            try client.wait(for: .touch)
            let login = try fixture.begin()
            try client.wait(for: .waiting)
            try fixture.storage.send(.scan("one"))
            #expect(try fixture.conclude(login).assertion != nil)
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            try client.wait(for: .noMatch)
        }

        @Test("gives way to an enrolment, and ends with its client")
        func ends() throws {
            let fixture = try DaemonFixture()
            do {
                let client = try watch(fixture)
                try client.wait(for: .touch)
                #expect(try fixture.enrol(.daemon, as: "one").done?.prints == 1)
                try client.wait(for: .touch)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a second watch waits for the first")
        func two() throws {
            let fixture = try DaemonFixture()
            let first = try watch(fixture)
            try first.wait(for: .touch)
            let second = try watch(fixture)
            #expect(try second.wait(for: .waiting).subject != nil)
            #expect(try first.ask(.cancel).reason == .cancelled)
            try second.wait(for: .touch)
        }

        @Test("a reader that is unplugged and returns is shown; one that stays away ends it")
        func unplugged() throws {
            let fixture = try DaemonFixture()
            try fixture.restartWithPatience()
            let client = try watch(fixture)
            try client.wait(for: .touch)
            try fixture.unplug(fixture.storage)
            #expect(try client.wait(for: .retry).retry == .unplugged)
            fixture.plugIn(fixture.storage)
            try client.wait(for: .touch)
        }
    }
}
