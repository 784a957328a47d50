// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("An operation")
    struct OperationTests {
        private func fixture() async throws -> ServerFixture {
            let server = try await LiveServer.start()
            try server.makeTemplate()
            let fixture = try ServerFixture(server)
            try fixture.enable()
            return fixture
        }

        @Test("is listed after one touch, and then without; what is shown is what was asked for")
        func listed() async throws {
            let fixture = try await fixture()
            #expect(try fixture.awaited() == ([], 1))
            let first = try fixture.server.pay("10")
            _ = try fixture.server.pay("20", to: "Eve\nto Bob")
            let (texts, touches) = try fixture.awaited()
            #expect(texts.sorted() == ["pay 10 EUR\nto Bob", "pay 20 EUR\nto Eve\u{FFFD}to Bob"])
            #expect(touches == 0)
            let shown = try fixture.asking(try fixture.showing(first, mayTouch: false))
            let operation = try #require(shown.first?.operation)
            #expect(operation.text == "pay 10 EUR\nto Bob" && operation.state == .pending)
            #expect(operation.application == "shop")
            #expect(operation.account == "alice")
            #expect(operation.failures == OperationFailures(count: 0, most: 3))
            #expect(shown.last?.done != nil)
        }

        @Test("is approved or rejected by a touch, once, and the receipt says what it was")
        func decided() async throws {
            let fixture = try await fixture()
            let paid = try fixture.server.pay("10")
            let left = try fixture.server.pay("20")
            _ = try fixture.awaited()
            let answers = try fixture.touching(try fixture.deciding(.approve, paid))
            #expect(answers.first?.operation?.text == "pay 10 EUR\nto Bob")
            #expect(answers.last?.decided == .approved)
            // From there on it is too late to take it back.
            let notices = answers.compactMap(\.notice)
            #expect(notices.last == Notice(.askingServer, subject: fixture.url.bytes))
            #expect(notices.count { $0.kind == .askingServer } == 1)
            #expect(try fixture.server.status(of: paid) == "APPROVED")
            #expect(
                try fixture.touching(try fixture.deciding(.reject, left)).last?.decided == .rejected
            )
            #expect(try fixture.server.status(of: left) == "REJECTED")
            #expect(try fixture.awaited().texts.isEmpty)
            // Nobody is asked to touch for what is over.
            let again = try fixture.asking(try fixture.deciding(.approve, left))
            #expect(again.last?.denial?.reason == .operationOver)
            #expect(again.last?.denial?.subject == Bytes("rejected".utf8))
            #expect(try fixture.server.status(of: left) == "REJECTED")
            let log = try fixture.daemon.receipts(of: .daemon)
            #expect(try log.verify() == 4)
            let text = log.receipts.map { String(decoding: $0, as: UTF8.self) }.joined()
            #expect(text.contains("approve operation \(paid), payment: pay 10 EUR%0Ato Bob"))
            #expect(text.contains("reject operation \(left), payment: pay 20 EUR"))
            #expect(text.contains("\(fixture.server.url): read operations"))
        }

        @Test("stays as it is where the finger does not match, or the touch is taken back")
        func notTouched() async throws {
            let fixture = try await fixture()
            let id = try fixture.server.pay("10")
            _ = try fixture.awaited()
            let wrong = try fixture.touching(try fixture.deciding(.approve, id), with: "two")
            #expect(wrong.last?.reason == .noMatch)
            let client = try fixture.daemon.client(.daemon)
            try client.send(try fixture.deciding(.approve, id))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.server.status(of: id) == "PENDING")
            #expect(
                try fixture.touching(try fixture.deciding(.approve, id)).last?.decided == .approved)
        }

        @Test("is not decided if it was cancelled, is over, or is another account's")
        func over() async throws {
            let fixture = try await fixture()
            _ = try fixture.awaited()
            let canceled = try fixture.server.pay("10")
            try fixture.server.ask("POST", "/v1/operations/\(canceled)/cancel", [:])
            let late = try fixture.asking(try fixture.deciding(.approve, canceled)).last?.denial
            #expect(late?.reason == .operationOver && late?.subject == Bytes("canceled".utf8))
            // Taken back while the person reads.
            let meanwhile = try fixture.server.pay("20")
            let client = try fixture.daemon.client(.daemon)
            try client.send(try fixture.deciding(.approve, meanwhile))
            try client.wait(for: .touch)
            try fixture.server.ask("POST", "/v1/operations/\(meanwhile)/cancel", [:])
            try fixture.daemon.text.send(.scan("one"))
            let denial = try client.last().denial
            #expect(denial?.reason == .operationOver && denial?.subject == Bytes("canceled".utf8))
            let unknown = String(repeating: "0a", count: 16)
            #expect(
                try fixture.asking(try fixture.deciding(.approve, unknown)).last?.reason
                    == .unknownOperation)
            // Another account's of the same application, which has its device elsewhere.
            _ = try fixture.server.code(for: "bob")
            let other = try fixture.server.pay("30", account: "bob")
            #expect(
                try fixture.asking(try fixture.showing(other)).last?.reason == .unknownOperation)
        }

        @Test("is for the account itself alone, and requires a valid key")
        func others() async throws {
            let fixture = try await fixture()
            let id = try fixture.server.pay("10")
            for request in [
                fixture.listing(), try fixture.showing(id), try fixture.deciding(.approve, id),
            ] {
                for person in [Person.bin, .root] {
                    #expect(try fixture.asking(request, person).last?.reason == .notPermitted)
                }
            }
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(
                try fixture.asking(try fixture.deciding(.approve, id)).last?.reason
                    == .serverKeyInvalidated)
            #expect(try fixture.asking(fixture.listing()).last?.done != nil)
            #expect(try fixture.server.status(of: id) == "PENDING")
        }

        @Test("is read with another token where the server takes the old one no more")
        func revokedToken() async throws {
            let fixture = try await fixture()
            _ = try fixture.server.pay("10")
            #expect(try fixture.awaited().touches == 1)
            let token = try #require(try fixture.tokens().first)
            let id = String(decoding: token.token.hexadecimal, as: UTF8.self)
            try fixture.server.ask("POST", "/v1/mac-tokens/\(id)/revoke", [:])
            let untouched = try fixture.asking(fixture.listing(mayTouch: false))
            #expect(untouched.first?.trouble?.reason == .readingTokenWanted)
            #expect(untouched.last?.done != nil)
            let only = try fixture.asking(fixture.listing(mayTouch: false, only: fixture.url))
            #expect(only.last?.reason == .readingTokenWanted)
            let (texts, touches) = try fixture.awaited()
            #expect(texts == ["pay 10 EUR\nto Bob"] && touches == 1)
        }

        @Test("is read below the path of the server's URL")
        func belowPath() async throws {
            let server = try await LiveServer.start(path: "/signet/x")
            try server.makeTemplate()
            let fixture = try ServerFixture(server)
            try fixture.enable()
            let id = try server.pay("10")
            let (texts, touches) = try fixture.awaited()
            #expect(texts == ["pay 10 EUR\nto Bob"] && touches == 1)
            #expect(try fixture.awaited().touches == 0)
            let answers = try fixture.touching(try fixture.deciding(.approve, id))
            #expect(answers.last?.decided == .approved)
        }

        @Test("that cannot be read with a new token asks for no other touch, and names the proxy")
        func changedPath() async throws {
            let server = try await LiveServer.start(path: "/signet", called: "")
            try server.makeTemplate()
            let fixture = try ServerFixture(server)
            try fixture.enable()
            let id = try server.pay("10")
            let refused = Bytes(ServerProblem.freshProof.rawValue.utf8)
            let listed = try fixture.touching(fixture.listing(only: fixture.url)).last?.denial
            #expect(listed?.reason == .serverRefused && listed?.subject == refused)
            let shown = try fixture.touching(try fixture.showing(id)).last?.denial
            #expect(shown?.reason == .serverRefused && shown?.subject == refused)
            // Without a touch, that is what is missing.
            #expect(
                try fixture.asking(fixture.listing(mayTouch: false, only: fixture.url)).last?.reason
                    == .readingTokenWanted)
        }

        @Test("is listed by one server even if the other cannot be reached")
        func twoServers() async throws {
            let fixture = try await fixture()
            _ = try fixture.server.pay("10")
            _ = try fixture.awaited()
            try fixture.stopRelay()
            let away = try fixture.asking(fixture.listing())
            #expect(away.first?.trouble?.reason == .serverUnreachable)
            #expect(away.last?.done != nil)
            #expect(
                try fixture.asking(fixture.listing(only: fixture.url)).last?.reason
                    == .serverUnreachable)
            try fixture.startRelay()
            #expect(try fixture.awaited().texts.count == 1)
        }

        @Test("reports a removed device, which destroys its key")
        func removedKey() async throws {
            let fixture = try await fixture()
            let id = try fixture.server.pay("10")
            _ = try fixture.awaited()
            let registration = try #require(
                try fixture.server.registrations().first?["registration"] as? String)
            try fixture.server.ask("POST", "/v1/registrations/\(registration)/block", [:])
            #expect(
                try fixture.asking(fixture.listing()).first?.trouble?.reason == .serverKeyBlocked)
            try fixture.server.ask("POST", "/v1/registrations/\(registration)/remove", [:])
            #expect(
                try fixture.asking(try fixture.deciding(.approve, id)).last?.reason
                    == .serverKeyRemoved)
            #expect(fixture.files().isEmpty)
            #expect(
                try fixture.asking(try fixture.deciding(.approve, id)).last?.reason
                    == .unknownServer)
        }

        @Test("can fill a server's list, and each of its texts")
        func many() async throws {
            let fixture = try await fixture()
            let long = String(repeating: "\"\\", count: 500)
            for number in 0..<20 {
                _ = try fixture.server.pay("\(number)", to: long)
            }
            let (texts, _) = try fixture.awaited()
            #expect(texts.count == 20 && texts.allSatisfy { $0.hasSuffix(long) })
            #expect(throws: TestFault.self) { try fixture.server.pay("one too many") }
        }
    }
}
