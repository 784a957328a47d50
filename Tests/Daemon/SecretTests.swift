// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("secrets") struct SecretTests {
        private static let name = Person.daemon.bytes
        private static let mail = Bytes("mail".utf8)

        @Test(
            "what was kept is released to a touch, byte for byte, to the account and to root",
            arguments: [1, 2, Limit.secretPart, Limit.secretPart + 1, Limit.secret])
        func released(count: Int) throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let content = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let own = try bench.client(.daemon)
            #expect(try own.keep(content, "mail") == .done(DoneAnswer()))
            for person in [Person.daemon, .root] {
                let client = try bench.client(person)
                #expect(try bench.get("mail", with: ["one"], client: client) == content)
                #expect(client.notices.contains(.touch))
            }
            #expect(try bench.status(of: .daemon).secrets == 1)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("it is there after a restart, and after the credential was issued anew")
        func lasting() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.client().keep([1, 2], "mail").done != nil)
            try bench.restart(by: SIGKILL)
            #expect(try bench.get("mail", with: ["one"]) == [1, 2])
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.get("mail", with: ["one"]) == [1, 2])
            #expect(try bench.ask(.disable(account: Self.name)).done != nil)
            #expect(try bench.refusal("mail") == .notEnabled)
            #expect(try bench.client().keep([1], "more").reason == .notEnabled)
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.get("mail", with: ["one"]) == [1, 2])
        }

        @Test("each release leaves a receipt of its own kind in the chain, and nothing else does")
        func receipts() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let name = "100% mail"
            #expect(try bench.client().keep([1], name).done != nil)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.get(name, with: ["two", "one"]) == [1])
            #expect(try bench.touch(.get(name), with: ["two", "two", "two"]).reason == .noMatch)
            #expect(try bench.status(of: .daemon).secrets == 1)
            let receipts = try bench.verifiedReceipts()
            #expect(
                receipts.map(\.namespace)
                    == [SignatureNamespace.login.bytes, SignatureNamespace.secret.bytes])
            let statement = try #require(receipts.last?.statement)
            #expect(statement.service == Bytes("signet".utf8) && statement.terminal.isEmpty)
            #expect(statement.purpose == Bytes("secret \(name)".utf8))
            #expect(statement.audience == Audience.local && statement.account == Self.name)
            let text = String(decoding: statement.encoded(), as: UTF8.self)
            #expect(text.contains("\npurpose: secret 100%25 mail\n"))
        }

        @Test("no touch, a wrong finger, and a lockout release nothing")
        func untouched() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.client().keep([1, 2, 3], "mail").done != nil)
            let client = try bench.client()
            #expect(try client.ask(.get("mail", milliseconds: 300)).reason == .timedOut)
            #expect(try bench.failures(of: .daemon) == 0)
            let wrong = try bench.touch(
                .get("mail"), with: ["two", "two", "two"], client: client)
            #expect(wrong == .denial(Denial(.noMatch, mismatches: 3)))
            #expect(client.parts.isEmpty)
            #expect(try bench.failures(of: .daemon) == 3)
            #expect(
                try bench.touch(.get("mail"), with: ["two", "two"]).reason == .lockedForNow)
            #expect(try bench.refusal("mail") == .lockedForNow)
            try bench.setFailures(20, of: .daemon)
            #expect(try bench.refusal("mail") == .lockedUntilPassword)
            #expect(try bench.ask(.unlock(account: Self.name)).done != nil)
            #expect(try bench.get("mail", with: ["one"]) == [1, 2, 3])
        }

        @Test("another account asks in vain, and for its own it is unknown")
        func others() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try bench.enrol(.bin, as: "two")
            #expect(try bench.client().keep([1], "mail").done != nil)
            let bin = try bench.client(.bin)
            for request: Request in [
                .get("mail"), .set("more", 1), .secretList(account: Self.name),
                .secretDelete(account: Self.name, name: Self.mail),
            ] {
                #expect(try bin.ask(request) == .denial(Denial(.notPermitted)))
            }
            let own = Request.secretGet(
                account: Person.bin.bytes, name: Self.mail, timeoutMilliseconds: 1_000)
            #expect(try bin.ask(own) == .denial(Denial(.unknownSecret, subject: Self.mail)))
            #expect(try bin.ask(.secretList(account: Person.bin.bytes)) == .done(DoneAnswer()))
            #expect(try bench.client().ask(.get("mail", of: .sys)).reason == .notEnrolled)
            // Nor does the other's finger open it.
            #expect(try bench.touch(.get("mail"), with: ["two", "one"]).done != nil)
            #expect(try bench.verifiedReceipts().count == 1)
        }

        @Test("a change of fingers ends it for good, and both sides of the change say so")
        func changed() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.client().keep([1], "mail").done != nil)
            #expect(try bench.client().keep([2], "more").done != nil)
            #expect(try bench.ask(.list(account: Self.name)).done?.secrets == 2)
            #expect(try bench.enrol(.daemon, .leftIndex, as: "two").done?.secrets == 2)
            #expect(try bench.refusal("mail") == .secretStale)
            let deleted = try bench.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(deleted.done == DoneAnswer(finger: .leftIndex, prints: 1, state: .valid))
            #expect(try bench.refusal("mail") == .secretStale)
            #expect(try bench.list().map(\.state) == [.stale, .stale])
            #expect(try bench.status(of: .daemon).secrets == nil)
            #expect(try bench.client().keep([3], "mail").reason == .secretExists)
            #expect(try bench.client().keep([3], "mail", replacing: true).done != nil)
            #expect(try bench.get("mail", with: ["one"]) == [3])
            let all = try bench.ask(.delete(account: Self.name, finger: nil)).done
            #expect(all?.prints == 0 && all?.secrets == 1)
            #expect(try bench.refusal("mail") == .notEnrolled)
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.refusal("mail") == .secretStale)
        }

        @Test("fingers that are changed while one is awaited release nothing")
        func changedMeanwhile() throws {
            let bench = try DaemonBench([.text])
            for change: Request in [
                .delete(account: Self.name, finger: .rightIndex), .enable(account: Self.name),
                .disable(account: Self.name), .secretDelete(account: Self.name, name: Self.mail),
            ] {
                try bench.enrol(.daemon, as: "one")
                _ = try bench.ask(.enable(account: Self.name))
                #expect(try bench.client().keep([1], "mail", replacing: true).done != nil)
                let client = try bench.client()
                try client.send(.get("mail"))
                try client.wait(for: .touch)
                #expect(try bench.ask(change).done != nil)
                try bench.text.send(.scan("one"))
                #expect(try client.last().reason != nil, "\(change)")
                #expect(client.parts.isEmpty)
                #expect(try bench.failures(of: .daemon) == 0, "the finger did not fail")
            }
            #expect(try bench.verifiedReceipts().isEmpty)
        }

        @Test("after deletion it is unknown, and one of the same name is another")
        func deleted() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client(.daemon)
            let delete = Request.secretDelete(account: Self.name, name: Self.mail)
            #expect(try client.ask(delete).reason == .unknownSecret)
            #expect(try client.keep([1], "mail").done != nil)
            let path = try #require(bench.secretFiles.first)
            let old = try Layout.read(path)
            #expect(try client.ask(delete) == .done(DoneAnswer()))
            #expect(try bench.refusal("mail") == .unknownSecret)
            #expect(try client.keep([2], "mail").done != nil)
            #expect(try bench.get("mail", with: ["one"]) == [2])
            // The old one in the new one's place is another's.
            let now = try #require(bench.secretFiles.first)
            #expect(now != path)
            try DaemonBench.write(old, to: now)
            #expect(try bench.refusal("mail") == .storage)
            #expect(try bench.list().map(\.state) == [.damaged])
            #expect(try client.ask(delete) == .done(DoneAnswer()))
            #expect(try bench.list().isEmpty)
        }

        @Test("one that was altered is told as damaged, and costs neither the rest nor the login")
        func damaged() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.client().keep(Bytes(repeating: 1, count: 400), "mail").done != nil)
            let path = try #require(bench.secretFiles.first)
            #expect(try bench.client().keep([2], "more").done != nil)
            try DaemonBench.damage(path)
            let denied = try #require(try bench.ask(.get("mail")).denial)
            #expect(denied.reason == .storage)
            #expect(
                String(decoding: denied.subject ?? [], as: UTF8.self)
                    == "the secret is damaged: delete it, or set it again")
            #expect(try bench.get("more", with: ["one"]) == [2])
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            let list = try bench.list()
            #expect(list.map(\.name) == [Bytes("more".utf8), Self.mail])
            #expect(list.map(\.state) == [.fits, .damaged])
            #expect(try bench.client().keep([3], "mail").reason == .secretExists)
            #expect(try bench.client().keep([3], "mail", replacing: true).done != nil)
            #expect(try bench.get("mail", with: ["one"]) == [3])
        }

        @Test("before there is a finger, or when the credential is gone, nothing is kept")
        func notEnrolled() throws {
            let bench = try DaemonBench([.text])
            #expect(try bench.client(.daemon).keep([1], "mail").reason == .notEnrolled)
            try bench.enrol(.daemon, as: "one")
            _ = unsafe unlink(bench.publicKey(of: .daemon))
            #expect(try bench.client(.daemon).keep([1], "mail").reason == .notEnabled)
            #expect(bench.secretFiles.isEmpty)
        }

        @Test("an account keeps 64, and no more")
        func cap() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            for index in 0..<64 { #expect(try client.keep([1], "\(index)").done != nil) }
            #expect(try client.keep([1], "more").reason == .tooManySecrets)
            #expect(try client.keep([9], "63", replacing: true).done != nil)
            #expect(try bench.list().count == 64)
            #expect(try bench.get("63", with: ["one"]) == [9])
        }

        @Test("the names and their states are told to the account, and never the content")
        func listed() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let own = try bench.client(.daemon)
            #expect(try own.keep(Bytes("kestrel".utf8), "b").done != nil)
            #expect(try own.keep([1, 2], "a").done != nil)
            let list = try bench.list()
            #expect(list.map(\.name) == [Bytes("a".utf8), Bytes("b".utf8)])
            #expect(list.map(\.size) == [2, 7] && list.allSatisfy { $0.state == .fits })
            #expect(list.allSatisfy { $0.vault == Bytes("file".utf8) && $0.since > 0 })
            #expect(!bench.program.errors.contains("kestrel"))
        }
    }
}
