// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("Operations at several servers")
    struct OperationServersTests {
        private static let urls = ["one", "three", "two"].map { name in
            ServerURL("https://\(name).example")
        }
        private let fixture: DaemonFixture
        private let relay: PlayedServer

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            relay = try PlayedServer(for: fixture)
            relay.says { Self.told($0) }
            for url in Self.urls {
                let enabled = try fixture.enablePlayed(at: url)
                try #require(enabled.enabled != nil, "\(enabled)")
            }
        }

        /// Each server has one operation, and gives a token of its own.
        private static func told(_ request: RelayRequest) -> [RelayAnswer]? {
            let number = UInt8(urls.firstIndex(of: request.server) ?? urls.count)
            return switch request {
            case .macToken:
                [
                    .macToken(
                        RelayMACToken(
                            audience: PlayedServer.audience, expires: 4_000_000_000,
                            token: .sample(repeating: number),
                            secret: PlayedServer.secret))
                ]
            case .operations:
                [
                    .awaited(
                        RelayAwaited(
                            OperationContent(
                                operation: .sample(repeating: number),
                                template: Bytes("payment".utf8), data: Bytes("pay 10 EUR".utf8),
                                created: 1, expires: 2))),
                    .listed(count: 1),
                ]
            default: nil
            }
        }

        private func list(_ milliseconds: UInt32?, only server: ServerURL? = nil) -> Request {
            .operationList(
                OperationListRequest(
                    account: Person.daemon.account, timeoutMilliseconds: milliseconds,
                    server: server))
        }

        /// Gets the token of one, by a touch.
        private func getToken(at url: ServerURL) throws {
            let answer = try fixture.touchEach(
                list(20_000, only: url), with: "one", client: fixture.client(.daemon))
            try #require(answer.done != nil, "\(answer)")
        }

        @Test("are listed by those that can, and no touch is asked for the one that requires it")
        func untouched() throws {
            try getToken(at: Self.urls[0])
            try getToken(at: Self.urls[1])
            relay.says { request in
                guard case .operations = request, request.server == Self.urls[1] else {
                    return Self.told(request)
                }
                return [.refused(code: Bytes("key-blocked".utf8), status: 401, attempts: nil)]
            }
            let client = try fixture.client(.daemon)
            try client.send(list(300))
            let answers = try client.rest()
            #expect(answers.compactMap(\.operation).map(\.server) == [Self.urls[0]])
            let troubles = answers.compactMap(\.trouble)
            #expect(troubles.map(\.server) == [Self.urls[1], Self.urls[2]])
            #expect(troubles.map(\.reason) == [.serverKeyBlocked, .timedOut])
            #expect(answers.last?.done != nil)
            // What was asked of one alone is still denied as that.
            try client.send(list(300, only: Self.urls[2]))
            #expect(try client.last().reason == .timedOut)
        }

        @Test("are read by tokens for fresh challenges, where a silent server let them grow old")
        func renewed() throws {
            let isLate = Mutex(false)
            relay.says { request in
                guard case .challenge = request else { return Self.told(request) }
                let challenge = Challenge.sample(repeating: isLate.withLock { $0 } ? 2 : 1)
                return [
                    .challenge(challenge, audience: PlayedServer.audience, expires: .max)
                ]
            }
            let client = try fixture.client(.daemon)
            try client.send(list(20_000))
            try client.wait(for: .touch)
            isLate.withLock { $0 = true }
            try fixture.passTime(46)
            try fixture.text.send(.scan("one"))
            #expect(try client.rest().compactMap(\.operation).count == Self.urls.count)
            let signed = try relay.requests.compactMap { request -> Challenge? in
                guard case .macToken(_, let statement, _) = request else { return nil }
                return try LoginStatement(parsing: statement).challenge
            }
            #expect(signed == Self.urls.map { _ in Challenge.sample(repeating: 2) })
        }

        @Test("are not listed if all require a touch and there is none, or it is cancelled")
        func refused() throws {
            let client = try fixture.client(.daemon)
            try client.send(list(300))
            #expect(try client.rest().last?.reason == .timedOut)
            try getToken(at: Self.urls[0])
            try client.send(list(20_000))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(client.heard.allSatisfy { $0.trouble == nil && $0.done == nil })
        }
    }
}
