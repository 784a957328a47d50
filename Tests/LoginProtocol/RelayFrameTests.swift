// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import LoginProtocol
import TestSupport
import Testing

@Suite("Frames between signetd and its relay")
struct RelayFrameTests {
    private static let server: ServerURL = "https://id.example.org"

    static let requests: [RelayRequest] = [
        .register(server: server, code: Bytes("K7MDQ".utf8), device: .sample(0..<16)),
        .register(
            server: server, code: Bytes("K7MDQ".utf8), device: .sample(0..<16),
            name: DeviceName(Bytes(repeating: 0x61, count: DeviceName.longest))),
        .prove(
            RelayProof(
                server: server, registration: .sample(0..<16),
                publicKey: .sample(repeating: 4), statement: [1], signature: [2])),
        .prove(
            RelayProof(
                server: server, registration: .sample(0..<16),
                publicKey: .sample(repeating: 4), statement: [1], signature: [2],
                attestation: SampleFrames.keyAttestation(quoted: false))),
        .prove(
            RelayProof(
                server: server, registration: .sample(0..<16),
                publicKey: .sample(repeating: 4), statement: [1], signature: [2],
                attestation: SampleFrames.keyAttestation(quoted: true))),
        .requirements(server: server, code: Bytes("0".utf8), device: .sample(0..<16)),
        .attest(
            RelayAttestation(
                server: server, registration: .sample(0..<16),
                certificate: Bytes(repeating: 7, count: 4_096), attestationKey: [1])),
        .prove(
            RelayProof(
                server: server, registration: .sample(0..<16),
                publicKey: .sample(repeating: 4), statement: [1], signature: [2],
                passwordKey: RelayPasswordKey(
                    publicKey: .sample(repeating: 5), signature: [3]))),
        .passwordKey(
            server: server, registration: .sample(0..<16), statement: [1], signature: [2],
            key: RelayPasswordKey(publicKey: .sample(repeating: 5), signature: [3])),
        .challenge(
            RelayChallengeRequest(
                server: server, account: "a:b/c", device: .sample(0..<16),
                application: "shop", action: Bytes("login".utf8))),
        .challenge(
            RelayChallengeRequest(
                server: server, account: "a", device: .sample(0..<16),
                application: "shop", action: Bytes("login".utf8), milliseconds: .max)),
        .login(RelayLogin(server: server, statement: [1], signature: [2])),
        .login(
            RelayLogin(
                server: server, statement: Bytes(repeating: 7, count: Limit.statement),
                signature: Bytes(repeating: 7, count: Limit.signature),
                module: RelayModule(challenge: .sample(0..<32), account: SampleFrames.account))),
        .remove(server: server, registration: .sample(0..<16), statement: [1], signature: [2]),
        .macToken(server: server, statement: [1], signature: [2]),
        .operations(server: server, authorization: [1]),
        .sessions(server: server, authorization: [1]),
        .endSession(server: server, authorization: [1], session: .sample(0..<16)),
        .endSessions(server: server, authorization: Bytes(repeating: 1, count: Limit.label)),
        .operation(server: server, authorization: [1], operation: .sample(0..<16)),
        .decide(
            RelayDecision(
                server: ServerURL(Bytes(repeating: 7, count: Limit.label)),
                operation: .sample(0..<16),
                statement: Bytes(repeating: 7, count: Limit.operationStatement),
                signature: Bytes(repeating: 7, count: Limit.signature))),
        .endMACToken(server: server, authorization: [1], token: .sample(0..<16)),
    ]

    static let answers: [RelayAnswer] = [
        .registered(
            RelayRegistration(
                registration: .sample(0..<16),
                account: ServerAccountName(SampleFrames.account.bytes),
                application: ApplicationName([1]),
                audience: Audience([2]), challenge: .sample(0..<32), expires: .max)),
        .registered(
            RelayRegistration(
                registration: .sample(0..<16), account: ServerAccountName([1]),
                application: ApplicationName([1]), audience: Audience([2]),
                challenge: .sample(0..<32), expires: 1, acceptsPassword: true)),
        .operation(
            RelayOperation(
                account: ServerAccountName([1]), challenge: .sample(0..<32),
                application: ApplicationName([1]), audience: Audience([2]),
                content: OperationFrames.operation, state: .pending,
                failures: OperationFailures(count: 0, most: 5), factors: .both,
                missing: .password)),
        .proven(.active, fingerprint: []),
        .proven(.pendingCommit, fingerprint: Bytes("SHA256:abc".utf8)),
        .challenge(.sample(0..<32), audience: Audience([1]), expires: 0),
        .challenge(
            .sample(0..<32), audience: Audience([1]), expires: 0,
            requires: [.tpmKey, .secureBoot, .noTouch, .noPassword]),
        .loggedIn(RelayTokens(accessToken: [0x21], seconds: .max, refreshToken: [])),
        .loggedIn(
            RelayTokens(
                accessToken: Bytes(repeating: 0x7E, count: Limit.accessToken), seconds: 1,
                refreshToken: Bytes(repeating: 0x61, count: Limit.refreshToken),
                verdict: RelayVerdict(
                    statement: Bytes(repeating: 7, count: Limit.verdict),
                    signature: Bytes(repeating: 7, count: Limit.signature)))),
        .removed, .refused(code: Bytes("key-removed".utf8), status: 401, attempts: nil),
        .refused(code: [1], status: .max, attempts: 4),
        .unreachable(why: [], isRepeatable: false), .unreachable(why: [1], isRepeatable: true),
        .unreachable(why: [1], isRepeatable: true, isAway: true),
        .macToken(
            RelayMACToken(
                audience: Audience([1]), expires: 2, token: .sample(0..<16),
                secret: SampleFrames.thirtyTwo)),
        .awaited(RelayAwaited(OperationFrames.longOperation)),
        .awaited(RelayAwaited(OperationFrames.operation)),
        .listed(count: 0),
        .session(SessionFrames.session), .session(SessionFrames.longSession),
        .sessionsListed(count: 1, total: .max), .sessionsEnded(count: 0),
        .operation(
            RelayOperation(
                account: ServerAccountName(Bytes(repeating: 7, count: Limit.account)),
                challenge: .sample(0..<32),
                application: ApplicationName([1]), audience: Audience([2]),
                content: OperationFrames.longOperation, state: .pending,
                failures: OperationFailures(count: 0, most: 5))),
        .decided(.rejected), .requirements([]), .requirements([.checksAttestations, .attestedKey]),
        .requirements([.checksAttestations, .attestedBoot]),
        .attestation(RelayAttestationChallenge(credential: [1, 2], seed: [3])),
    ]

    private static let frames: [(frame: Bytes, isRequest: Bool)] =
        requests.compactMap { try? $0.encoded() }.map { ($0, true) }
        + answers.compactMap { try? $0.encoded() }.map { ($0, false) }

    private func accepts(_ frame: Bytes, isRequest: Bool) -> Bool {
        isRequest
            ? (try? RelayRequest(decoding: frame)) != nil
            : (try? RelayAnswer(decoding: frame)) != nil
    }

    @Test("are read as they were sent")
    func roundTrip() throws {
        for request in Self.requests {
            #expect(try RelayRequest(decoding: request.encoded()) == request)
        }
        for answer in Self.answers {
            #expect(try RelayAnswer(decoding: answer.encoded()) == answer)
        }
        #expect(Set(Self.requests.map(\.verb)) == Set(RelayVerb.allCases))
        #expect(Set(Self.answers.map(\.kind)) == Set(RelayAnswerKind.allCases))
    }

    @Test("have no token that a terminal or a header could take for something else")
    func tokens() throws {
        for text in ["a\nb", "\u{1B}[2J", " ", "\u{7F}", "é", "\u{0}"] {
            let bad = Bytes(text.utf8)
            for (access, refresh) in [(bad, []), ([0x61], bad)] {
                let tokens = RelayTokens(accessToken: access, seconds: 1, refreshToken: refresh)
                let token = TokenAnswer(accessToken: access, seconds: 1, refreshToken: refresh)
                #expect(throws: WireFault.malformedValue) {
                    try RelayAnswer.loggedIn(tokens).encoded()
                }
                #expect(throws: WireFault.malformedValue) { try Answer.token(token).encoded() }
                let content =
                    field(36, [0, 0, 0, 1]) + field(89, access) + field(90, refresh)
                #expect(throws: WireFault.malformedValue) {
                    try RelayAnswer(decoding: [1, 195] + content)
                }
                #expect(throws: WireFault.malformedValue) {
                    try Answer(decoding: [1, 151] + content)
                }
            }
        }
    }

    @Test("are refused on the other socket, and the other way about")
    func otherSocket() {
        for (frame, _) in Self.frames {
            #expect((try? Request(decoding: frame)) == nil)
            #expect((try? Answer(decoding: frame)) == nil)
        }
        for (frame, _) in sampleFrames {
            #expect(!accepts(frame, isRequest: true) && !accepts(frame, isRequest: false))
        }
    }

    @Test("are refused where they are cut, or something follows")
    func truncated() {
        for (frame, isRequest) in Self.frames {
            #expect(!accepts(frame + [0], isRequest: isRequest))
            for length in 0..<frame.count
            where accepts(Bytes(frame.prefix(length)), isRequest: isRequest) {
                // Only a whole optional field may be missing.
                #expect(frame.count - length > Frame.fieldHeaderLength)
            }
        }
    }

    @Test(
        "altered ones are refused, or read as exactly what they say",
        arguments: 0..<4 as Range<UInt64>)
    func mutated(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        for _ in 0..<4_000 {
            guard let sample = Self.frames.randomElement(using: &random) else { break }
            var frame = sample.frame
            let isRequest = sample.isRequest
            let index = Int.random(in: 0..<frame.count, using: &random)
            frame[index] = UInt8.random(in: 0...255, using: &random)
            if isRequest, let request = try? RelayRequest(decoding: frame) {
                #expect(try request.encoded() == frame)
            }
            if !isRequest, let answer = try? RelayAnswer(decoding: frame) {
                #expect(try answer.encoded() == frame)
            }
        }
    }
}
