// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("A server's challenge that grew old while the finger was awaited")
    struct ChallengeAgeTests {
        private let fixture: DaemonFixture
        private let server: PlayedServer
        private static let first = Challenge.sample(repeating: 1)
        private static let second = Challenge.sample(repeating: 2)

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            server = try PlayedServer(for: fixture)
            try #require(try fixture.enablePlayed().enabled != nil)
        }

        private static func refused(_ code: String) -> RelayAnswer {
            .refused(code: Bytes(code.utf8), status: 401, attempts: nil)
        }

        /// A login that a touch answers so many seconds after its challenge was given, where a second
        /// challenge is asked for and answered with `renewal`.
        private func logIn(
            afterSeconds seconds: Int, renewal: RelayAnswer? = nil
        ) throws -> Answer {
            let before = challenges
            server.answering { [server] request in
                switch request {
                case .challenge:
                    let given = server.requests.count { $0.verb == .challenge } - before
                    if given > 1, let renewal { return renewal }
                    return .challenge(
                        given > 1 ? Self.second : Self.first, audience: PlayedServer.audience,
                        expires: .max)
                case .login:
                    return .loggedIn(
                        RelayTokens(
                            accessToken: Bytes("token".utf8), seconds: 1, refreshToken: [],
                            verdict: RelayVerdict(statement: [1], signature: [2])))
                default: return nil
                }
            }
            let client = try fixture.client()
            try client.send(
                .authenticate(
                    AuthenticateRequest(
                        account: Person.daemon.account, challenge: .sample(repeating: 7),
                        service: "login", terminal: Bytes("/dev/tty1".utf8),
                        timeoutMilliseconds: 60_000, maximumTries: 2, background: .allow,
                        server: ServerLoginRequest(
                            url: PlayedServer.url, audience: PlayedServer.audience,
                            key: .sample(repeating: 4)))))
            try client.wait(for: .touch)
            try fixture.passTime(seconds)
            try fixture.text.send(.scan("one"))
            return try client.last()
        }

        private var challenges: Int { server.requests.count { $0.verb == .challenge } }

        /// The challenge that was answered at the server; nil for none.
        private func answered() throws -> Challenge? {
            guard case .login(let login)? = server.requests.last else { return nil }
            return try LoginStatement(parsing: login.statement).challenge
        }

        @Test("is replaced by a fresh one, so that the touch was not useless")
        func renewed() throws {
            let before = challenges
            #expect(try logIn(afterSeconds: 46).assertion?.server != nil)
            #expect(challenges == before + 2)
            #expect(try answered() == Self.second)
        }

        @Test("is answered itself where it is young")
        func young() throws {
            let before = challenges
            #expect(try logIn(afterSeconds: 20).assertion?.server != nil)
            #expect(challenges == before + 1)
            #expect(try answered() == Self.first)
        }

        @Test("is no approval if the server is gone by then, refuses, or is another")
        func refused() throws {
            let renewals: [(RelayAnswer, DenialReason)] = [
                (.unreachable(why: [], isRepeatable: true), .serverLost),
                (Self.refused("unavailable"), .serverLost),
                (Self.refused("key-blocked"), .serverKeyBlocked),
                (.challenge(Self.second, audience: Audience([1]), expires: .max), .serverRefused),
            ]
            for (renewal, reason) in renewals {
                #expect(try logIn(afterSeconds: 46, renewal: renewal).reason == reason)
                #expect(try answered() == nil)
            }
        }
    }
}
