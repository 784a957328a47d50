// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import TestSupport

/// What the relay reads, which has network, from signetd; no frame of the other socket is one.
enum RelayRequests: Harness {
    static let name = "relay-requests"

    private static let server: ServerURL = "https://id.example.org"

    static var seeds: [[UInt8]] {
        let requests: [RelayRequest] = [
            .register(server: server, code: bytes("00000"), device: .sample(0..<16)),
            .register(
                server: server, code: bytes("00000"), device: .sample(0..<16),
                name: DeviceName(bytes("laptop"))),
            .prove(
                RelayProof(
                    server: server, registration: .sample(0..<16),
                    publicKey: .sample(repeating: 4), statement: [1], signature: [2])),
            .challenge(
                RelayChallengeRequest(
                    server: server, account: "a:b/c", device: .sample(0..<16),
                    application: "shop", action: bytes("login"))),
            .login(RelayLogin(server: server, statement: [1], signature: [2])),
            .login(
                RelayLogin(
                    server: server, statement: [1], signature: [2],
                    module: RelayModule(challenge: .sample(0..<32), account: SampleFrames.account))),
            .remove(
                server: server, registration: .sample(0..<16), statement: [1], signature: [2]),
            .macToken(server: server, statement: [1], signature: [2]),
            .requirements(server: server, code: bytes("00000"), device: .sample(0..<16)),
            .attest(
                RelayAttestation(
                    server: server, registration: .sample(0..<16), certificate: [1],
                    attestationKey: [2])),
            .prove(
                RelayProof(
                    server: server, registration: .sample(0..<16),
                    publicKey: .sample(repeating: 4), statement: [1], signature: [2],
                    attestation: RelayKeyAttestation(
                        secret: [1], area: [2], registers: [3, 3, 3], registerDigest: [],
                        certification: RelayTPMStatement(statement: [4], signature: [5]),
                        quote: RelayKeyAttestation.Quote(
                            signed: RelayTPMStatement(statement: [6], signature: [7]),
                            log: [8])))),
            .operations(server: server, authorization: bytes("SignetMAC x")),
            .operation(
                server: server, authorization: bytes("SignetMAC x"), operation: .sample(0..<16)),
            .decide(
                RelayDecision(
                    server: server, operation: .sample(0..<16), statement: [1], signature: [2])),
            .endMACToken(
                server: server, authorization: bytes("SignetMAC x"), token: .sample(0..<16)),
        ]
        return requests.compactMap { try? $0.encoded() } + Requests.seeds
    }

    static func feed(_ bytes: [UInt8]) {
        guard let request = try? RelayRequest(decoding: bytes) else { return }
        require((try? request.encoded()) == bytes, "a request has a second form")
        require((try? Request(decoding: bytes)) == nil, "signetd's own socket takes it too")
    }
}

/// What signetd reads from the relay, which may have been taken over by then.
enum RelayAnswers: Harness {
    static let name = "relay-answers"

    static var seeds: [[UInt8]] {
        let tokens = RelayTokens(
            accessToken: bytes("eyJ.a.b"), seconds: 300, refreshToken: bytes("sgr_x"))
        var withVerdict = tokens
        withVerdict.verdict = RelayVerdict(statement: [1], signature: [2])
        let answers: [RelayAnswer] = [
            .registered(
                RelayRegistration(
                    registration: .sample(0..<16), account: "alice",
                    application: "shop", audience: "shop.example",
                    challenge: .sample(0..<32), expires: .max)),
            .proven(.pendingCommit, fingerprint: bytes("SHA256:abc")),
            .challenge(.sample(0..<32), audience: "shop.example", expires: 0),
            .challenge(
                .sample(0..<32), audience: "shop.example", expires: 0,
                requires: [.tpmKey, .secureBoot, .noTouch, .noPassword]),
            .loggedIn(tokens), .loggedIn(withVerdict), .removed,
            .refused(code: bytes("key-removed"), status: 401, attempts: 4),
            .unreachable(why: bytes("why"), isRepeatable: true),
            .unreachable(why: bytes("why"), isRepeatable: true, isAway: true),
            .macToken(
                RelayMACToken(
                    audience: "shop.example", expires: .max, token: .sample(0..<16),
                    secret: SampleFrames.thirtyTwo)),
            .awaited(RelayAwaited(OperationFrames.operation)), .listed(count: 1),
            .session(SessionFrames.session), .session(SessionFrames.longSession),
            .sessionsListed(count: 1, total: 2), .sessionsEnded(count: 1),
            .operation(
                RelayOperation(
                    account: "alice", challenge: .sample(0..<32),
                    application: "shop", audience: "shop.example",
                    content: OperationFrames.operation, state: .pending,
                    failures: OperationFailures(count: 1, most: 3))),
            .decided(.approved),
        ]
        return answers.compactMap { try? $0.encoded() } + Answers.seeds
    }

    static func feed(_ bytes: [UInt8]) {
        guard let answer = try? RelayAnswer(decoding: bytes) else { return }
        require((try? answer.encoded()) == bytes, "an answer has a second form")
        require((try? Answer(decoding: bytes)) == nil, "it is an answer of signetd's too")
        guard case .loggedIn(let tokens) = answer else { return }
        let shown = tokens.accessToken + tokens.refreshToken
        require(shown.allSatisfy { (0x21...0x7E).contains($0) }, "a token that is no text")
    }
}
