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
        private func stage() async throws -> ServerFixture {
            let server = try await LiveServer.start()
            try server.makeTemplate()
            let stage = try ServerFixture(server)
            try stage.enable()
            return stage
        }

        @Test("is listed after one touch, and then without; what is shown is what was asked for")
        func listed() async throws {
            let stage = try await stage()
            #expect(try stage.awaited() == ([], 1))
            let first = try stage.server.pay("10")
            _ = try stage.server.pay("20", to: "Eve\nto Bob")
            let (texts, touches) = try stage.awaited()
            #expect(texts.sorted() == ["pay 10 EUR\nto Bob", "pay 20 EUR\nto Eve\u{FFFD}to Bob"])
            #expect(touches == 0)
            let shown = try stage.asking(try stage.showing(first, mayTouch: false))
            let operation = try #require(shown.first?.operation)
            #expect(operation.text == "pay 10 EUR\nto Bob" && operation.state == .pending)
            #expect(operation.application == "shop")
            #expect(operation.account == "alice")
            #expect(operation.failures == OperationFailures(count: 0, most: 3))
            #expect(shown.last?.done != nil)
        }

        @Test("is approved or rejected by a touch, once, and the receipt says what it was")
        func decided() async throws {
            let stage = try await stage()
            let paid = try stage.server.pay("10")
            let left = try stage.server.pay("20")
            _ = try stage.awaited()
            let answers = try stage.touching(try stage.deciding(.approve, paid))
            #expect(answers.first?.operation?.text == "pay 10 EUR\nto Bob")
            #expect(answers.last?.decided == .approved)
            // From there on it is too late to take it back.
            let notices = answers.compactMap(\.notice)
            #expect(notices.last == Notice(.askingServer, subject: stage.url.bytes))
            #expect(notices.count { $0.kind == .askingServer } == 1)
            #expect(try stage.server.status(of: paid) == "APPROVED")
            #expect(
                try stage.touching(try stage.deciding(.reject, left)).last?.decided == .rejected)
            #expect(try stage.server.status(of: left) == "REJECTED")
            #expect(try stage.awaited().texts.isEmpty)
            // Nobody is asked to touch for what is over.
            let again = try stage.asking(try stage.deciding(.approve, left))
            #expect(again.last?.denial?.reason == .operationOver)
            #expect(again.last?.denial?.subject == Bytes("rejected".utf8))
            #expect(try stage.server.status(of: left) == "REJECTED")
            let log = try stage.fixture.receipts(of: .daemon)
            #expect(try log.verify() == 4)
            let text = log.receipts.map { String(decoding: $0, as: UTF8.self) }.joined()
            #expect(text.contains("approve operation \(paid), payment: pay 10 EUR%0Ato Bob"))
            #expect(text.contains("reject operation \(left), payment: pay 20 EUR"))
            #expect(text.contains("\(stage.server.url): read operations"))
        }

        @Test("stays as it is where the finger does not match, or the touch is taken back")
        func notTouched() async throws {
            let stage = try await stage()
            let id = try stage.server.pay("10")
            _ = try stage.awaited()
            let wrong = try stage.touching(try stage.deciding(.approve, id), with: "two")
            #expect(wrong.last?.reason == .noMatch)
            let client = try stage.fixture.client(.daemon)
            try client.send(try stage.deciding(.approve, id))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try stage.server.status(of: id) == "PENDING")
            #expect(
                try stage.touching(try stage.deciding(.approve, id)).last?.decided == .approved)
        }

        @Test("is not decided where it was taken back, is over, or is none of this account's")
        func over() async throws {
            let stage = try await stage()
            _ = try stage.awaited()
            let canceled = try stage.server.pay("10")
            try stage.server.ask("POST", "/v1/operations/\(canceled)/cancel", [:])
            let late = try stage.asking(try stage.deciding(.approve, canceled)).last?.denial
            #expect(late?.reason == .operationOver && late?.subject == Bytes("canceled".utf8))
            // Taken back while the person reads.
            let meanwhile = try stage.server.pay("20")
            let client = try stage.fixture.client(.daemon)
            try client.send(try stage.deciding(.approve, meanwhile))
            try client.wait(for: .touch)
            try stage.server.ask("POST", "/v1/operations/\(meanwhile)/cancel", [:])
            try stage.fixture.text.send(.scan("one"))
            let denial = try client.last().denial
            #expect(denial?.reason == .operationOver && denial?.subject == Bytes("canceled".utf8))
            let unknown = String(repeating: "0a", count: 16)
            #expect(
                try stage.asking(try stage.deciding(.approve, unknown)).last?.reason
                    == .unknownOperation)
            // Another account's of the same application, which has its device elsewhere.
            _ = try stage.server.code(for: "bob")
            let other = try stage.server.pay("30", account: "bob")
            #expect(
                try stage.asking(try stage.showing(other)).last?.reason == .unknownOperation)
        }

        @Test("is for the account itself alone, and wants a key that is good")
        func others() async throws {
            let stage = try await stage()
            let id = try stage.server.pay("10")
            for request in [
                stage.listing(), try stage.showing(id), try stage.deciding(.approve, id),
            ] {
                for person in [Person.bin, .root] {
                    #expect(try stage.asking(request, person).last?.reason == .notPermitted)
                }
            }
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(
                try stage.asking(try stage.deciding(.approve, id)).last?.reason
                    == .serverKeyInvalidated)
            #expect(try stage.asking(stage.listing()).last?.done != nil)
            #expect(try stage.server.status(of: id) == "PENDING")
        }

        @Test("is read with another token where the server takes the old one no more")
        func revokedToken() async throws {
            let stage = try await stage()
            _ = try stage.server.pay("10")
            #expect(try stage.awaited().touches == 1)
            let token = try #require(try stage.tokens().first)
            let id = String(decoding: token.token.hexadecimal, as: UTF8.self)
            try stage.server.ask("POST", "/v1/mac-tokens/\(id)/revoke", [:])
            let untouched = try stage.asking(stage.listing(mayTouch: false))
            #expect(untouched.first?.trouble?.reason == .readingTokenWanted)
            #expect(untouched.last?.done != nil)
            let only = try stage.asking(stage.listing(mayTouch: false, only: stage.url))
            #expect(only.last?.reason == .readingTokenWanted)
            let (texts, touches) = try stage.awaited()
            #expect(texts == ["pay 10 EUR\nto Bob"] && touches == 1)
        }

        @Test("is told by one server also where the other is away")
        func twoServers() async throws {
            let stage = try await stage()
            _ = try stage.server.pay("10")
            _ = try stage.awaited()
            try stage.stopRelay()
            let away = try stage.asking(stage.listing())
            #expect(away.first?.trouble?.reason == .serverUnreachable)
            #expect(away.last?.done != nil)
            #expect(
                try stage.asking(stage.listing(only: stage.url)).last?.reason
                    == .serverUnreachable)
            try stage.startRelay()
            #expect(try stage.awaited().texts.count == 1)
        }

        @Test("tells a removed device, which destroys its key")
        func removedKey() async throws {
            let stage = try await stage()
            let id = try stage.server.pay("10")
            _ = try stage.awaited()
            let registration = try #require(
                try stage.server.registrations().first?["registration"] as? String)
            try stage.server.ask("POST", "/v1/registrations/\(registration)/block", [:])
            #expect(
                try stage.asking(stage.listing()).first?.trouble?.reason == .serverKeyBlocked)
            try stage.server.ask("POST", "/v1/registrations/\(registration)/remove", [:])
            #expect(
                try stage.asking(try stage.deciding(.approve, id)).last?.reason
                    == .serverKeyRemoved)
            #expect(stage.files().isEmpty)
            #expect(
                try stage.asking(try stage.deciding(.approve, id)).last?.reason == .unknownServer)
        }

        @Test("can fill a server's list, and each of its texts")
        func many() async throws {
            let stage = try await stage()
            let long = String(repeating: "\"\\", count: 500)
            for number in 0..<20 {
                _ = try stage.server.pay("\(number)", to: long)
            }
            let (texts, _) = try stage.awaited()
            #expect(texts.count == 20 && texts.allSatisfy { $0.hasSuffix(long) })
            #expect(throws: TestFault.self) { try stage.server.pay("one too many") }
        }
    }
}
