// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("refused attempts") struct RefusalTests {
        private static let name = Person.daemon.bytes
        private static let verify = Request.verify(account: name, timeoutMilliseconds: 20_000)

        private func enrolled(_ configuration: String = "") throws -> DaemonBench {
            let bench = try DaemonBench([.text], configuration: configuration)
            try bench.enrol(.daemon, as: "one")
            return bench
        }

        private func refusals(_ bench: DaemonBench) throws -> [Refusal] {
            let sent = try bench.receipts(of: .daemon)
            try sent.verify()
            return sent.refusals
        }

        @Test("show in the account's own log, with service, terminal, reason and number")
        func shown() throws {
            let bench = try enrolled()
            #expect(try refusals(bench).isEmpty)
            for _ in 0..<2 {
                #expect(try bench.login(.daemon, with: "two").reason == .noMatch)
            }
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.touch(Self.verify, with: ["two"]).reason == .noMatch)
            var found = try refusals(bench)
            #expect(found.map(\.verb) == [AuthenticateRequest.verb, VerifyRequest.verb])
            #expect(found.map(\.count) == [2, 1])
            #expect(found.map(\.reason) == [.noMatch, .noMatch])
            #expect(found.first?.service == Bytes("sudo".utf8))
            #expect(found.first?.terminal == Bytes("/dev/pts/3".utf8))
            #expect(found.last?.service == [] && found.last?.terminal == [])
            #expect(found.allSatisfy { $0.since <= $0.until && $0.since > 1_700_000_000 })
            try bench.restart()
            #expect(try refusals(bench) == found)
            // They count for nothing: what is decided is what it would be without them.
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.receipts(of: .daemon).verify() == 2)
            found = try refusals(bench)
            #expect(found.count == 2)
        }

        @Test("tell of a lockout, a closed lid, a remote session and a proof that came too late")
        func reasons() throws {
            let bench = try enrolled()
            #expect(try bench.ask(.login(.daemon, remoteHost: "h")).reason == .remoteSession)
            try bench.setLid("state:      closed\n")
            #expect(try bench.ask(.login(.daemon)).reason == .lidClosed)
            try bench.setLid("state:      open\n")
            try bench.setFailures(20, of: .daemon)
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try bench.ask(.unlock(account: Self.name))
            let client = try bench.client()
            #expect(
                try bench.touch(.login(.daemon), with: ["one"], client: client).assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
            let found = try refusals(bench)
            #expect(
                found.map(\.reason) == [
                    .remoteSession, .lidClosed, .lockedUntilPassword, .answerTooLate,
                ])
            #expect(found.last?.verb == ConfirmRequest.verb)
        }

        @Test("of another user name that user, who pushes out nothing however much they ask")
        func others() throws {
            let bench = try enrolled()
            #expect(try bench.login(.daemon, with: "two").reason == .noMatch)
            let client = try bench.client(.bin)
            for index in 0..<40 {
                let request = Request.login(.daemon, service: "s\(index)")
                #expect(try client.ask(request) == .denial(Denial(.notPermitted)))
            }
            let found = try refusals(bench)
            #expect(found.first?.reason == .noMatch && found.first?.service == Bytes("sudo".utf8))
            let theirs = found.dropFirst()
            #expect(theirs.allSatisfy { $0.requester == Person.bin.bytes })
            #expect(theirs.allSatisfy { $0.reason == .notPermitted })
            // What they say of it is not repeated.
            #expect(theirs.map(\.service) == [[]] && theirs.map(\.count) == [40])
            // They learn nothing of it.
            let log = Request.log(LogRequest(account: Self.name))
            #expect(try client.ask(log) == .denial(Denial(.notPermitted)))
        }

        @Test("are not kept where they mean nothing, or the account has nothing here")
        func unkept() throws {
            let bench = try enrolled()
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try bench.ask(.login(.bin)).reason == .notEnrolled)
            #expect(try bench.client(.sys).ask(.login(.bin)).reason == .notPermitted)
            // What needs no touch.
            #expect(
                try bench.client(.bin).ask(.status(account: Self.name)).reason == .notPermitted)
            #expect(try refusals(bench).isEmpty)
            #expect(Layout.entries(of: bench.file("", of: .bin)).isEmpty)
        }

        @Test("a finger that did not match is told whatever ended the request afterwards")
        func cancelled() throws {
            let bench = try enrolled()
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 3))
            try client.wait(for: .touch)
            try bench.text.send(.scan("two"))
            try client.wait(for: .noMatch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try refusals(bench).map(\.reason) == [.noMatch])
        }

        @Test("whose record is damaged keep nobody out, and the next begins it anew")
        func damaged() throws {
            let bench = try enrolled()
            #expect(try bench.login(.daemon, with: "two").reason == .noMatch)
            let path = bench.file("refusals", of: .daemon)
            for damage in ["", "signet-refusals: 9\n", String(repeating: "x", count: 300_000)] {
                try DaemonBench.write(damage, to: path, mode: 0o600)
                #expect(try refusals(bench).isEmpty)
                #expect(try bench.login(.daemon, with: "one").assertion != nil)
                #expect(try bench.login(.daemon, with: "two").reason == .noMatch)
                #expect(try refusals(bench).map(\.count) == [1])
            }
            #expect(unsafe unlink(path) == 0)
            #expect(try refusals(bench).isEmpty)
        }
    }
}
