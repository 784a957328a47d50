// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("refused attempts") struct RefusalTests {
        private static let name = Person.daemon.account
        private static let verify = Request.verify(account: name, timeoutMilliseconds: 20_000)

        private func enrolled(_ configuration: String = "") throws -> DaemonFixture {
            let fixture = try DaemonFixture([.text], configuration: configuration)
            try fixture.enrol(.daemon, as: "one")
            return fixture
        }

        private func refusals(_ fixture: DaemonFixture) throws -> [Refusal] {
            let sent = try fixture.receipts(of: .daemon)
            try sent.verify()
            return sent.refusals
        }

        @Test("show in the account's own log, with service, terminal, reason and number")
        func shown() throws {
            let fixture = try enrolled()
            #expect(try refusals(fixture).isEmpty)
            for _ in 0..<2 {
                #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.touch(Self.verify, with: ["two"]).reason == .noMatch)
            var found = try refusals(fixture)
            #expect(found.map(\.verb) == [AuthenticateRequest.verb, VerifyRequest.verb])
            #expect(found.map(\.count) == [2, 1])
            #expect(found.map(\.reason) == [.noMatch, .noMatch])
            #expect(found.first?.service == "sudo")
            #expect(found.first?.terminal == Bytes("/dev/pts/3".utf8))
            #expect(found.last?.service == ServiceName.none && found.last?.terminal == [])
            #expect(found.allSatisfy { $0.since <= $0.until && $0.since > 1_700_000_000 })
            try fixture.restart()
            #expect(try refusals(fixture) == found)
            // They count for nothing: what is decided is what it would be without them.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.receipts(of: .daemon).verify() == 2)
            found = try refusals(fixture)
            #expect(found.count == 2)
        }

        @Test("show a lockout, a closed lid, a remote session and a proof that came too late")
        func reasons() throws {
            let fixture = try enrolled()
            #expect(try fixture.ask(.login(.daemon, remoteHost: "h")).reason == .remoteSession)
            try fixture.setLid("state:      closed\n")
            #expect(try fixture.ask(.login(.daemon)).reason == .lidClosed)
            try fixture.setLid("state:      open\n")
            try fixture.setFailures(20, of: .daemon)
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try fixture.ask(.unlock(account: Self.name))
            let client = try fixture.client()
            #expect(
                try fixture.touch(.login(.daemon), with: ["one"], client: client).assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
            let found = try refusals(fixture)
            #expect(
                found.map(\.reason) == [
                    .remoteSession, .lidClosed, .lockedUntilPassword, .answerTooLate,
                ])
            #expect(found.last?.verb == ConfirmRequest.verb)
        }

        @Test("of another user name that user, who displaces no entry by asking often")
        func others() throws {
            let fixture = try enrolled()
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            let client = try fixture.client(.bin)
            for index in 0..<40 {
                let request = Request.login(.daemon, service: "s\(index)")
                #expect(try client.ask(request) == .denial(Denial(.notPermitted)))
            }
            let found = try refusals(fixture)
            #expect(found.first?.reason == .noMatch && found.first?.service == "sudo")
            let theirs = found.dropFirst()
            #expect(theirs.allSatisfy { $0.requester == Person.bin.account })
            #expect(theirs.allSatisfy { $0.reason == .notPermitted })
            // What they say of it is not repeated.
            #expect(theirs.map(\.service) == [ServiceName.none] && theirs.map(\.count) == [40])
            // They learn nothing of it.
            let log = Request.log(LogRequest(account: Self.name))
            #expect(try client.ask(log) == .denial(Denial(.notPermitted)))
        }

        @Test("are not kept where they mean nothing, or the account has nothing here")
        func unkept() throws {
            let fixture = try enrolled()
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.ask(.login(.bin)).reason == .notEnrolled)
            #expect(try fixture.client(.sys).ask(.login(.bin)).reason == .notPermitted)
            // What needs no touch.
            #expect(
                try fixture.client(.bin).ask(.status(account: Self.name)).reason == .notPermitted)
            #expect(try refusals(fixture).isEmpty)
            #expect(Layout.entries(of: fixture.file("", of: .bin)).isEmpty)
        }

        @Test("a finger that did not match is recorded, whatever ended the request afterwards")
        func cancelled() throws {
            let fixture = try enrolled()
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 3))
            try client.wait(for: .touch)
            try fixture.text.send(.scan("two"))
            try client.wait(for: .noMatch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try refusals(fixture).map(\.reason) == [.noMatch])
        }

        @Test("with a damaged record lock no account out, and the next one starts a new record")
        func damaged() throws {
            let fixture = try enrolled()
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            let path = fixture.file("refusals", of: .daemon)
            for damage in ["", "signet-refusals: 9\n", String(repeating: "x", count: 300_000)] {
                try DaemonFixture.write(damage, to: path, mode: 0o600)
                #expect(try refusals(fixture).isEmpty)
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
                #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
                #expect(try refusals(fixture).map(\.count) == [1])
            }
            #expect(unsafe unlink(path) == 0)
            #expect(try refusals(fixture).isEmpty)
        }
    }
}
