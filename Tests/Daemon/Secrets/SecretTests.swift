// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("secrets") struct SecretTests {
        private static let name = Person.daemon.account
        private static let mail = Bytes("mail".utf8)

        @Test(
            "what was kept is released to a touch, byte for byte, to the account and to root",
            arguments: [1, 2, Limit.secretPart, Limit.secretPart + 1, Limit.secret])
        func released(count: Int) throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let content = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let own = try fixture.client(.daemon)
            #expect(try own.keep(content, "mail") == .done(DoneAnswer()))
            for person in [Person.daemon, .root] {
                let client = try fixture.client(person)
                #expect(try fixture.get("mail", with: ["one"], client: client) == content)
                #expect(client.notices.contains(.touch))
            }
            #expect(try fixture.status(of: .daemon).secrets == 1)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("it survives a restart, and a new credential")
        func lasting() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep([1, 2], "mail").done != nil)
            try fixture.restart(by: SIGKILL)
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2])
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2])
            #expect(try fixture.ask(.disable(account: Self.name)).done != nil)
            #expect(try fixture.refusal("mail") == .notEnabled)
            #expect(try fixture.client().keep([1], "more").reason == .notEnabled)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2])
        }

        @Test("each release leaves a receipt of its own kind in the chain, and nothing else does")
        func receipts() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let name = "100% mail"
            #expect(try fixture.client().keep([1], name).done != nil)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.get(name, with: ["two", "one"]) == [1])
            #expect(try fixture.touch(.get(name), with: ["two", "two", "two"]).reason == .noMatch)
            #expect(try fixture.status(of: .daemon).secrets == 1)
            let receipts = try fixture.verifiedReceipts()
            #expect(
                receipts.map(\.namespace)
                    == [SignatureNamespace.login.bytes, SignatureNamespace.secret.bytes])
            let statement = try #require(receipts.last?.statement)
            #expect(statement.service == "signet" && statement.terminal.isEmpty)
            #expect(statement.purpose == Bytes("secret \(name)".utf8))
            #expect(statement.audience == Audience.local && statement.account == Self.name)
            let text = String(decoding: statement.encoded(), as: UTF8.self)
            #expect(text.contains("\npurpose: secret 100%25 mail\n"))
        }

        @Test("no touch, a wrong finger, and a lockout release nothing")
        func untouched() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep([1, 2, 3], "mail").done != nil)
            let client = try fixture.client()
            #expect(try client.ask(.get("mail", milliseconds: 300)).reason == .timedOut)
            #expect(try fixture.failures(of: .daemon) == 0)
            let wrong = try fixture.touch(
                .get("mail"), with: ["two", "two", "two"], client: client)
            #expect(wrong == .denial(Denial(.noMatch, mismatches: 3)))
            #expect(client.parts.isEmpty)
            #expect(try fixture.failures(of: .daemon) == 3)
            #expect(
                try fixture.touch(.get("mail"), with: ["two", "two"]).reason == .lockedForNow)
            #expect(try fixture.refusal("mail") == .lockedForNow)
            try fixture.setFailures(20, of: .daemon)
            #expect(try fixture.refusal("mail") == .lockedUntilPassword)
            #expect(try fixture.ask(.unlock(account: Self.name)).done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2, 3])
        }

        @Test("another account is refused, and for its own the name is unknown")
        func others() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two")
            #expect(try fixture.client().keep([1], "mail").done != nil)
            let bin = try fixture.client(.bin)
            for request: Request in [
                .get("mail"), .set("more", 1), .secretList(account: Self.name),
                .secretDelete(account: Self.name, name: Self.mail),
            ] {
                #expect(try bin.ask(request) == .denial(Denial(.notPermitted)))
            }
            let own = Request.secretGet(
                account: Person.bin.account, name: Self.mail, timeoutMilliseconds: 1_000)
            #expect(try bin.ask(own) == .denial(Denial(.unknownSecret, subject: Self.mail)))
            #expect(try bin.ask(.secretList(account: Person.bin.account)) == .done(DoneAnswer()))
            #expect(try fixture.client().ask(.get("mail", of: .sys)).reason == .notEnrolled)
            // Nor does the other's finger open it.
            #expect(try fixture.touch(.get("mail"), with: ["two", "one"]).done != nil)
            #expect(try fixture.verifiedReceipts().count == 1)
        }

        @Test("a change of fingers ends it permanently, and messages before and after it say so")
        func changed() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep([1], "mail").done != nil)
            #expect(try fixture.client().keep([2], "more").done != nil)
            #expect(try fixture.ask(.list(account: Self.name)).done?.secrets == 2)
            #expect(try fixture.enrol(.daemon, .leftIndex, as: "two").done?.secrets == 2)
            #expect(try fixture.refusal("mail") == .secretStale)
            let deleted = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(deleted.done == DoneAnswer(finger: .leftIndex, prints: 1, state: .valid))
            #expect(try fixture.refusal("mail") == .secretStale)
            #expect(try fixture.list().map(\.state) == [.stale, .stale])
            #expect(try fixture.status(of: .daemon).secrets == nil)
            #expect(try fixture.client().keep([3], "mail").reason == .secretExists)
            #expect(try fixture.client().keep([3], "mail", replacing: true).done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == [3])
            let all = try fixture.ask(.delete(account: Self.name, finger: nil)).done
            #expect(all?.prints == 0 && all?.secrets == 1)
            #expect(try fixture.refusal("mail") == .notEnrolled)
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.refusal("mail") == .secretStale)
        }

        @Test("fingers that are changed while one is awaited release nothing")
        func changedMeanwhile() throws {
            let fixture = try DaemonFixture([.text])
            for change: Request in [
                .delete(account: Self.name, finger: .rightIndex), .enable(account: Self.name),
                .disable(account: Self.name), .secretDelete(account: Self.name, name: Self.mail),
            ] {
                try fixture.enrol(.daemon, as: "one")
                _ = try fixture.ask(.enable(account: Self.name))
                #expect(try fixture.client().keep([1], "mail", replacing: true).done != nil)
                let client = try fixture.client()
                try client.send(.get("mail"))
                try client.wait(for: .touch)
                #expect(try fixture.ask(change).done != nil)
                try fixture.text.send(.scan("one"))
                #expect(try client.last().reason != nil, "\(change)")
                #expect(client.parts.isEmpty)
                #expect(try fixture.failures(of: .daemon) == 0, "the finger did not fail")
            }
            #expect(try fixture.verifiedReceipts().isEmpty)
        }

        @Test("after deletion it is unknown, and a new one of that name is another secret")
        func deleted() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            let delete = Request.secretDelete(account: Self.name, name: Self.mail)
            #expect(try client.ask(delete).reason == .unknownSecret)
            #expect(try client.keep([1], "mail").done != nil)
            let path = try #require(fixture.secretFiles.first)
            let old = try Layout.read(path)
            #expect(try client.ask(delete) == .done(DoneAnswer()))
            #expect(try fixture.refusal("mail") == .unknownSecret)
            #expect(try client.keep([2], "mail").done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == [2])
            // The old one in the new one's place is another's.
            let now = try #require(fixture.secretFiles.first)
            #expect(now != path)
            try DaemonFixture.write(old, to: now)
            #expect(try fixture.refusal("mail") == .storage)
            #expect(try fixture.list().map(\.state) == [.damaged])
            #expect(try client.ask(delete) == .done(DoneAnswer()))
            #expect(try fixture.list().isEmpty)
        }

        @Test(
            "one that was altered is reported as damaged, and affects neither the rest nor the login"
        )
        func damaged() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.client().keep(Bytes(repeating: 1, count: 400), "mail").done != nil)
            let path = try #require(fixture.secretFiles.first)
            #expect(try fixture.client().keep([2], "more").done != nil)
            try DaemonFixture.damage(path)
            let denied = try #require(try fixture.ask(.get("mail")).denial)
            #expect(denied.reason == .storage)
            #expect(
                String(decoding: denied.subject ?? [], as: UTF8.self)
                    == "the secret is damaged: delete it, or set it again")
            #expect(try fixture.get("more", with: ["one"]) == [2])
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            let list = try fixture.list()
            #expect(list.map(\.name) == [Bytes("more".utf8), Self.mail])
            #expect(list.map(\.state) == [.fits, .damaged])
            #expect(try fixture.client().keep([3], "mail").reason == .secretExists)
            #expect(try fixture.client().keep([3], "mail", replacing: true).done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == [3])
        }

        @Test("without a finger, or without the credential, nothing is stored")
        func notEnrolled() throws {
            let fixture = try DaemonFixture([.text])
            #expect(try fixture.client(.daemon).keep([1], "mail").reason == .notEnrolled)
            try fixture.enrol(.daemon, as: "one")
            _ = unsafe unlink(fixture.publicKey(of: .daemon))
            #expect(try fixture.client(.daemon).keep([1], "mail").reason == .notEnabled)
            #expect(fixture.secretFiles.isEmpty)
        }

        @Test("an account keeps 64, and no more")
        func cap() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            for index in 0..<64 { #expect(try client.keep([1], "\(index)").done != nil) }
            #expect(try client.keep([1], "more").reason == .tooManySecrets)
            #expect(try client.keep([9], "63", replacing: true).done != nil)
            #expect(try fixture.list().count == 64)
            #expect(try fixture.get("63", with: ["one"]) == [9])
        }

        @Test("names and states are shown to the account, and never the content")
        func listed() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let own = try fixture.client(.daemon)
            #expect(try own.keep(Bytes("kestrel".utf8), "b").done != nil)
            #expect(try own.keep([1, 2], "a").done != nil)
            let list = try fixture.list()
            #expect(list.map(\.name) == [Bytes("a".utf8), Bytes("b".utf8)])
            #expect(list.map(\.size) == [2, 7] && list.allSatisfy { $0.state == .fits })
            #expect(list.allSatisfy { $0.vault == Bytes("file".utf8) && $0.since > 0 })
            #expect(!fixture.program.errors.contains("kestrel"))
        }
    }
}
