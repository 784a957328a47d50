// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("watching a reader") struct ReaderWatchTests {
        private func watch(_ bench: DaemonBench, _ reader: Bytes? = nil) throws -> TestClient {
            let client = try bench.client()
            try client.send(.watchReader(reader))
            return client
        }

        @Test("shows each event, and compares fingers with no account's")
        func events() throws {
            let bench = try DaemonBench()
            #expect(try bench.enrol(.daemon, as: "one").done?.prints == 1)
            let client = try watch(bench)
            guard case .reader(let reader) = try client.next() else {
                throw ClientFault.ended(client.heard)
            }
            #expect(reader.readerID == Bytes(DaemonBench.storageID.utf8))
            for finger in ["one", "unknown"] {
                try client.wait(for: .touch)
                try bench.storage.send(.retry(1))
                #expect(try client.wait(for: .retry).retry == .tooShort)
                try bench.storage.send(.scan(finger))
                #expect(try client.wait(for: .noMatch) == Notice(.noMatch))
            }
            #expect(try client.ask(.cancel).reason == .cancelled)
            #expect(client.heard.allSatisfy { $0.assertion == nil })
            // Neither a failed match nor a receipt.
            #expect(try bench.settledFailures() == 0)
            let log = try bench.client()
            try log.send(.log(LogRequest(account: Person.daemon.bytes)))
            #expect(
                try log.rest().allSatisfy { answer in
                    if case .receipt = answer { false } else { true }
                })
        }

        @Test("only root may", arguments: [Person.daemon, .bin])
        func refused(person: Person) throws {
            let bench = try DaemonBench()
            #expect(try bench.client(person).ask(.watchReader(nil)).reason == .notPermitted)
        }

        @Test("a reader that is not there, or cannot scan for an unknown finger, is refused")
        func unable() throws {
            let bench = try DaemonBench([.storage, .text])
            #expect(try bench.ask(.watchReader([1])).reason == .noReader)
            let text = Bytes(DaemonBench.textID.utf8)
            #expect(try bench.ask(.watchReader(text)).reason == .readerFailed)
            #expect(try bench.ask(.watchReader([])).reason == .noReader)
        }

        @Test("gives way to a login at once, and goes on after it")
        func yields() throws {
            let bench = try DaemonBench()
            #expect(try bench.enrol(.daemon, as: "one").done?.prints == 1)
            let client = try watch(bench)
            try client.wait(for: .touch)
            let login = try bench.begin()
            try client.wait(for: .waiting)
            try bench.storage.send(.scan("one"))
            #expect(try bench.conclude(login).assertion != nil)
            try client.wait(for: .touch)
            try bench.storage.send(.scan("one"))
            try client.wait(for: .noMatch)
        }

        @Test("gives way to an enrolment, and ends with its client")
        func ends() throws {
            let bench = try DaemonBench()
            do {
                let client = try watch(bench)
                try client.wait(for: .touch)
                #expect(try bench.enrol(.daemon, as: "one").done?.prints == 1)
                try client.wait(for: .touch)
            }
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a second watch waits for the first")
        func two() throws {
            let bench = try DaemonBench()
            let first = try watch(bench)
            try first.wait(for: .touch)
            let second = try watch(bench)
            #expect(try second.wait(for: .waiting).subject != nil)
            #expect(try first.ask(.cancel).reason == .cancelled)
            try second.wait(for: .touch)
        }

        @Test("a reader that is unplugged and comes back is shown; one that stays away ends it")
        func unplugged() throws {
            let bench = try DaemonBench()
            try bench.restartWithPatience()
            let client = try watch(bench)
            try client.wait(for: .touch)
            try bench.unplug(bench.storage)
            #expect(try client.wait(for: .retry).retry == .unplugged)
            bench.plugIn(bench.storage)
            try client.wait(for: .touch)
        }
    }
}
