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

extension SecondDaemonTests {
    @Suite("A relay that lies about operations and sessions")
    struct LyingRelayTests {
        private static let id = OperationID.sample(repeating: 0xab)

        private let fixture: DaemonFixture
        private let relay: PlayedServer

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            relay = try PlayedServer(for: fixture)
            let enabled = try fixture.enablePlayed()
            try #require(enabled.enabled != nil, "\(enabled)")
            _ = try heard(list(20_000))
        }

        private func list(_ milliseconds: UInt32? = nil) -> Request {
            .operationList(
                OperationListRequest(
                    account: Person.daemon.account, timeoutMilliseconds: milliseconds))
        }

        private func decide(_ choice: OperationChoice = .approve) -> Request {
            .operationDecide(
                OperationDecideRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000,
                    server: PlayedServer.url, operation: Self.id, decision: choice))
        }

        /// All that came, with a touch wherever one is wanted.
        private func heard(_ request: Request) throws -> [Answer] {
            let client = try fixture.client(.daemon)
            _ = try fixture.touchEach(request, with: "one", client: client)
            return client.heard
        }

        private static func operation(
            _ data: String = "pay 10 EUR", _ state: OperationState = .pending,
            change: (inout RelayOperation) -> Void = { _ in }
        ) -> RelayOperation {
            var operation = RelayOperation(
                account: PlayedServer.account, challenge: .sample(repeating: 7),
                application: PlayedServer.application, audience: PlayedServer.audience,
                content: OperationContent(
                    operation: id, template: Bytes("payment".utf8), data: Bytes(data.utf8),
                    created: 1, expires: 2),
                state: state, failures: OperationFailures(count: 0, most: 3))
            change(&operation)
            return operation
        }

        @Test("has signed what the person was shown, and nothing else, whatever it says later")
        func exactlyShown() throws {
            let key = try #require(
                relay.requests.compactMap { request in
                    if case .prove(let proof) = request { proof.publicKey } else { nil }
                }.first)
            let text = "pay 10 EUR\n\u{1B}[2Jto % Bob\u{FF}" + String(repeating: "%", count: 4_000)
            relay.says { request in
                switch request {
                // Another text each time that it is asked.
                case .operation: [.operation(Self.operation(text))]
                case .decide: [.decided(.approved)]
                default: nil
                }
            }
            let answers = try heard(decide())
            guard case .operation(let shown) = try #require(answers.first) else {
                Issue.record("nothing was shown: \(answers)")
                return
            }
            #expect(answers.dropFirst().first?.notice?.kind == .touch)
            #expect(answers.last?.decided == .approved)
            guard case .decide(let sent) = try #require(relay.requests.last) else {
                Issue.record("nothing was decided")
                return
            }
            let statement = try OperationStatement(parsing: sent.statement)
            #expect(statement.data == shown.content.data && statement.data == Bytes(text.utf8))
            #expect(statement.operation == Self.id && sent.operation == Self.id)
            #expect(statement.challenge == .sample(repeating: 7))
            #expect(statement.template == Bytes("payment".utf8))
            #expect(statement.decision == .approve && statement.claims.counter == 3)
            #expect(statement.claims.factor == Bytes("fingerprint".utf8))
            #expect(statement.head.audience == PlayedServer.audience)
            // In its namespace, and in no other.
            let signature = try SSHSignature(blob: sent.signature)
            #expect(signature.namespace == SignatureNamespace.operation.bytes)
            let data = SSHSignature.signedData(
                namespace: SignatureNamespace.operation.bytes,
                messageDigest: try SHA256.digest(sent.statement))
            let numbers = try #require(P256Signature(r: signature.r, s: signature.s))
            #expect(try P256PublicKey(point: key.bytes).verifies(numbers, message: data))
        }

        @Test(
            "is not believed about an operation of another id, account, application or audience",
            arguments: 0..<4)
        func foreign(which: Int) throws {
            relay.says { request in
                guard case .operation = request else { return nil }
                return [
                    .operation(
                        Self.operation { operation in
                            switch which {
                            case 0: operation.content.operation = .sample(repeating: 0)
                            case 1: operation.account = "bob"
                            case 2: operation.application = "bank"
                            default: operation.audience = "https://played.example/bank"
                            }
                        })
                ]
            }
            let answers = try heard(decide())
            #expect(answers.map(\.reason) == [.serverRefused])
            #expect(!relay.requests.contains { $0.verb == .decide })
        }

        @Test("is asked with a header that is good for one call, each time with another nonce")
        func headers() throws {
            relay.says { request in
                if case .operation = request { [.operation(Self.operation())] } else { nil }
            }
            _ = try heard(list())
            _ = try heard(
                .operationShow(
                    OperationShowRequest(
                        account: Person.daemon.account, timeoutMilliseconds: nil,
                        server: PlayedServer.url, operation: Self.id)))
            var nonces: Set<Bytes> = []
            for request in relay.requests {
                let path: String
                let header: Bytes
                switch request {
                case .operations(_, let value): (path, header) = ("/v1/device/operations", value)
                case .operation(_, let value, _):
                    let id = String(repeating: "ab", count: 16)
                    (path, header) = ("/v1/device/operations/\(id)", value)
                default: continue
                }
                #expect(try isMAC(header, "GET", path))
                let authorization = try MACAuthorization(header: header)
                nonces.insert(authorization.nonce)
            }
            #expect(nonces.count == 3)
        }

        @Test("is given up where a list is too long, miscounted, not ended or of another kind")
        func lists() throws {
            let one = RelayAnswer.awaited(RelayAwaited(Self.operation().content))
            let lists: [[RelayAnswer]] = [
                [RelayAnswer](repeating: one, count: 33) + [.listed(count: 33)],
                [one, .listed(count: 2)], [.listed(count: 1)], [one, .removed], [one], [],
            ]
            for list in lists {
                relay.says { request in
                    if case .operations = request { list } else { nil }
                }
                let answers = try heard(self.list())
                #expect(answers.first?.trouble?.reason == .serverUnreachable, "\(answers)")
                #expect(answers.last?.done != nil)
            }
            relay.says { request in
                guard case .operations = request else { return nil }
                return [RelayAnswer](repeating: one, count: 32) + [.listed(count: 32)]
            }
            #expect(try heard(list()).compactMap(\.operation).count == 32)
        }

        private static let session = SessionID.sample(repeating: 0xcd)

        private static func session(agent: Bytes = []) -> SessionContent {
            SessionContent(
                session: session, device: .sample(repeating: 3), factor: .fingerprint, created: 1,
                expires: 2, agent: agent)
        }

        private func listSessions() -> Request {
            .sessionList(
                SessionListRequest(account: Person.daemon.account, timeoutMilliseconds: 20_000))
        }

        @Test("is given up where a list of sessions is too long, miscounted, not ended or another")
        func sessionLists() throws {
            let one = RelayAnswer.session(Self.session())
            let most = Limit.sessions
            let lists: [[RelayAnswer]] = [
                [RelayAnswer](repeating: one, count: most + 1)
                    + [.sessionsListed(count: UInt32(most + 1), total: UInt32(most + 1))],
                [one, .sessionsListed(count: 2, total: 2)], [.sessionsListed(count: 1, total: 1)],
                // More were listed than there are.
                [one, .sessionsListed(count: 1, total: 0)],
                [one, .listed(count: 1)], [one, .sessionsEnded(count: 1)], [one, .removed], [one],
                [],
            ]
            for list in lists {
                relay.says { request in
                    if case .sessions = request { list } else { nil }
                }
                let answers = try heard(listSessions())
                #expect(answers.first?.trouble?.reason == .serverUnreachable, "\(answers)")
                #expect(answers.allSatisfy { $0.session == nil && $0.sessionCount == nil })
                #expect(answers.last?.done != nil)
            }
            relay.says { request in
                guard case .sessions = request else { return nil }
                return [RelayAnswer](repeating: one, count: most)
                    + [.sessionsListed(count: UInt32(most), total: 1_000)]
            }
            let answers = try heard(listSessions())
            #expect(answers.compactMap(\.session).count == most)
            #expect(answers.compactMap(\.sessionCount) == [1_000])
        }

        @Test("is not believed that one session's end was another number's, or that it succeeded")
        func sessionEnds() throws {
            let end = Request.sessionEnd(
                SessionEndRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000,
                    server: PlayedServer.url, session: Self.session))
            for (answer, reason) in [
                (RelayAnswer.sessionsEnded(count: 0), DenialReason.serverUnreachable),
                (.sessionsEnded(count: 2), .serverUnreachable), (.removed, .serverUnreachable),
                (.sessionsListed(count: 0, total: 0), .serverUnreachable),
                (
                    .refused(code: Bytes("not-found".utf8), status: 404, attempts: nil),
                    .unknownSession
                ),
                (.refused(code: Bytes("conflict".utf8), status: 409, attempts: nil), .sessionOver),
            ] {
                relay.says { request in
                    if case .endSession = request { [answer] } else { nil }
                }
                let answers = try heard(end)
                #expect(answers.last?.reason == reason, "\(answer): \(answers)")
                #expect(answers.allSatisfy { $0.sessionCount == nil })
            }
            relay.says { request in
                if case .endSession = request { [.sessionsEnded(count: 1)] } else { nil }
            }
            #expect(try heard(end).compactMap(\.sessionCount) == [1])
            // The header was for this session, and for no other call.
            guard case .endSession(_, let header, let named) = try #require(relay.requests.last)
            else {
                Issue.record("no session was ended")
                return
            }
            #expect(named == Self.session && header.starts(with: Bytes("SignetMAC ".utf8)))
        }

        @Test("leaves a doubt whether a decision came through, which the server itself clears")
        func doubt() throws {
            let silent = RelayAnswer.unreachable(why: Bytes("no answer".utf8), isRepeatable: false)
            for (after, wanted) in [
                (OperationState.approved, nil), (.pending, DenialReason.serverUnreachable),
                (.rejected, .operationOver),
            ] as [(OperationState, DenialReason?)] {
                let isSent = Flag()
                relay.says { request in
                    switch request {
                    case .operation:
                        return [.operation(Self.operation("x", isSent.isSet ? after : .pending))]
                    case .decide:
                        isSent.set()
                        return [silent]
                    default: return nil
                    }
                }
                let last = try #require(try heard(decide()).last)
                #expect(last.reason == wanted && (wanted != nil || last.decided == .approved))
            }
            // What was not sent was not decided.
            relay.says { request in
                switch request {
                case .operation: [.operation(Self.operation())]
                case .decide: [.unreachable(why: [], isRepeatable: true)]
                default: nil
                }
            }
            #expect(try heard(decide(.reject)).last?.reason == .serverUnreachable)
        }

        @Test("learns of a token's end by that token alone, and again until its refusal is final")
        func endedTokens() throws {
            let remove = Request.macTokenRemove(
                account: Person.daemon.account, server: PlayedServer.url,
                name: Bytes("signet-operations".utf8))
            func refused(_ code: String) -> RelayAnswer {
                .refused(code: Bytes(code.utf8), status: 401, attempts: nil)
            }
            let final = ["token-refused", "key-removed", "key-replaced", "refused", "not-found"]
            let passing = ["clock", "key-blocked", "unavailable", "slow-down", "replayed"]
            let answers: [(RelayAnswer, isFinal: Bool)] =
                [(.removed, true)] + final.map { (refused($0), true) }
                + passing.map { (refused($0), false) } + [(.listed(count: 0), false)]
            for (answer, isFinal) in answers {
                relay.says { request in
                    if case .endMACToken = request { [answer] } else { nil }
                }
                let done = try heard(remove).last?.done
                #expect(done?.state == (isFinal ? CredentialState.none : .disabled), "\(answer)")
                let files = Layout.entries(of: fixture.file("mac-tokens", of: .daemon))
                #expect(files.isEmpty == isFinal, "\(answer)")
                _ = try heard(list(20_000))
            }
            guard
                case .endMACToken(_, let header, PlayedServer.token)? = relay.requests.first(
                    where: {
                        $0.verb == .endMACToken
                    })
            else {
                Issue.record("no server was asked")
                return
            }
            let digits = String(repeating: "70", count: 16)
            #expect(
                try isMAC(
                    header, "POST", "/v1/device/mac-tokens/\(digits)/revoke",
                    body: SHA256.digest(Bytes("{}".utf8))))
        }

        @Test("learns of the end also of a token that has expired, as far as this clock shows")
        func expiredTokens() throws {
            let (name, server) = (Bytes("cron".utf8), PlayedServer.url)
            let add = Request.macTokenAdd(
                MACTokenAddRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000, server: server,
                    name: name))
            let remove = Request.macTokenRemove(
                account: Person.daemon.account, server: server, name: name)
            let id = MACTokenID.sample(repeating: 3)
            let path = fixture.file("mac-tokens", of: .daemon)
            let file = String(repeating: "03", count: 16)
            func refused(_ code: String) -> RelayAnswer {
                .refused(code: Bytes(code.utf8), status: 401, attempts: nil)
            }
            let answers: [(RelayAnswer, isFinal: Bool, tries: Bool)] = [
                (.unreachable(why: [], isRepeatable: true), false, true),
                (refused("clock"), false, false), (refused("slow-down"), false, true),
                (refused("token-refused"), true, false), (.removed, true, false),
            ]
            for (answer, isFinal, tries) in answers {
                relay.says { request in
                    switch request {
                    case .macToken:
                        [
                            .macToken(
                                RelayMACToken(
                                    audience: PlayedServer.audience, expires: 1, token: id,
                                    secret: PlayedServer.secret))
                        ]
                    case .endMACToken(_, _, id): [answer]
                    default: nil
                    }
                }
                #expect(try heard(add).last?.done != nil)
                let asked = relay.requests.filter { $0.verb == .endMACToken }.count
                let done = try heard(remove).last?.done
                #expect(done?.state == (isFinal ? CredentialState.none : .disabled), "\(answer)")
                #expect(relay.requests.filter { $0.verb == .endMACToken }.count > asked)
                #expect(Layout.entries(of: path).contains(file) == !isFinal, "\(answer)")
                let text = (try? Layout.read("\(path)/\(file)")) ?? []
                #expect(
                    String(decoding: text, as: UTF8.self).contains("vain-tries: ") == tries,
                    "\(answer)")
            }
        }

        /// Whether a header holds for just this call.
        private func isMAC(
            _ header: Bytes, _ method: String, _ path: String, body: Bytes = Digests.nothing
        ) throws -> Bool {
            let authorization = try MACAuthorization(header: header)
            let text = MACText(
                audience: PlayedServer.audience, token: PlayedServer.token,
                request: RequestLines(
                    method: Bytes(method.utf8), resource: Bytes(path.utf8),
                    nonce: authorization.nonce, body: body),
                issued: authorization.issued)
            var secret = PlayedServer.secret
            return try HMAC.verifies(
                authorization.mac, of: text.encoded(), key: try SecretBytes(moving: &secret))
        }

        @Test("learns by a touch how the machine was started now, if a token does not suffice")
        func stricterPolicy() throws {
            relay.says { request in
                guard case .operations = request else { return nil }
                return [.refused(code: Bytes("policy".utf8), status: 403, attempts: nil)]
            }
            let before = relay.requests.count { $0.verb == .macToken }
            _ = try heard(list(20_000))
            #expect(relay.requests.count { $0.verb == .macToken } == before + 1)
            #expect(Layout.entries(of: fixture.file("mac-tokens", of: .daemon)).count == 1)
        }

        @Test("gets no token kept in the place of another server's")
        func anothersToken() throws {
            let other: ServerURL = "https://other.example"
            #expect(try fixture.enablePlayed(at: other).enabled != nil)
            let path = fixture.file("mac-tokens", of: .daemon)
            let file = String(repeating: "70", count: 16)
            let before = try Layout.read("\(path)/\(file)")
            let answers = try heard(
                .macTokenAdd(
                    MACTokenAddRequest(
                        account: Person.daemon.account, timeoutMilliseconds: 20_000,
                        server: other, name: Bytes("cron".utf8))))
            #expect(answers.last == .denial(Denial(.serverRefused, subject: Bytes("token".utf8))))
            #expect(try Layout.read("\(path)/\(file)") == before)
            #expect(Layout.entries(of: path).count == 1)
        }

        @Test("gets no token of another audience kept")
        func foreignToken() throws {
            relay.says { request in
                guard case .macToken = request else { return nil }
                return [
                    .macToken(
                        RelayMACToken(
                            audience: "https://played.example/bank", expires: .max,
                            token: .sample(repeating: 2), secret: PlayedServer.secret))
                ]
            }
            let answers = try heard(
                .macTokenAdd(
                    MACTokenAddRequest(
                        account: Person.daemon.account, timeoutMilliseconds: 20_000,
                        server: PlayedServer.url, name: Bytes("cron".utf8))))
            #expect(answers.last?.reason == .serverRefused)
            #expect(Layout.entries(of: fixture.file("mac-tokens", of: .daemon)).count == 1)
            #expect(try fixture.receipts(of: .daemon).verify() == 3)
        }
    }
}

/// Set once, on any thread.
private final class Flag: Sendable {
    private let event: Event?

    init() { event = try? Event() }

    func set() { event?.happen() }

    var isSet: Bool {
        guard let event else { return false }
        return wait(for: event.descriptor.number, or: -1, until: .now) == .readable
    }
}
