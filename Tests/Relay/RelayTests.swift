// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import HTTPClient
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

@testable import Relay

@Suite("The relay")
struct RelayTests {
    private static let device = DeviceID.sample(repeating: 0xd1)

    private func relay(_ server: LiveServer) -> Relay {
        var configuration = ClientConfiguration()
        configuration.authorities = .file(server.authority)
        return Relay(configuration)
    }

    @Test("registers a key and logs in with it at the real server")
    func wholeWay() async throws {
        let server = try await LiveServer.start()
        let relay = relay(server)
        let url = ServerURL(server.url)
        let code = Bytes(try server.code().utf8)
        let begun = try #require(
            relay.answer(.register(server: url, code: code, device: Self.device)).begun)
        #expect(begun.account == "alice" && begun.application == "shop")
        var signer = try Signer(begun)
        let proof = try signer.sign(begun.challenge, LoginAction.register, .registration)
        let publicKey = try #require(PublicKeyPoint(signer.key.publicPoint))
        let proven = relay.answer(
            .prove(
                RelayProof(
                    server: url, registration: begun.registration,
                    publicKey: publicKey, statement: proof.statement, signature: proof.signature)))
        guard case .proven(.active, let fingerprint) = proven else {
            Issue.record("\(proven)")
            return
        }
        #expect(fingerprint.starts(with: Bytes("SHA256:".utf8)))
        let wish = RelayChallengeRequest(
            server: url, account: begun.account, device: Self.device,
            application: begun.application, action: LoginAction.login)
        guard case .challenge(let challenge, begun.audience, _, _) = relay.answer(.challenge(wish))
        else {
            Issue.record("no challenge")
            return
        }
        let module = RelayModule(
            challenge: .sample(repeating: 5), account: "bob")
        let signed = try signer.sign(
            challenge, LoginAction.login, .login,
            purpose: ModulePurpose.text(module.challenge, local: module.account))
        let login = RelayLogin(
            server: url, statement: signed.statement, signature: signed.signature, module: module)
        guard case .loggedIn(let tokens) = relay.answer(.login(login)) else {
            Issue.record("not logged in")
            return
        }
        #expect(try await Self.refusesOthers(than: module, of: begun, &signer, wish, relay))
        #expect(tokens.seconds == 300 && tokens.refreshToken.starts(with: Bytes("sgr_".utf8)))
        let verdict = try Verdict(parsing: try #require(tokens.verdict).statement)
        #expect(verdict.local == "bob" && verdict.challenge == challenge)
        // The same once more: the challenge is used up.
        guard case .refused(let refusal, 401, _) = relay.answer(.login(login)) else {
            Issue.record("a challenge was good twice")
            return
        }
        #expect(refusal == Bytes("refused".utf8))
    }

    /// Whether no verdict comes for a module that the device has not signed for.
    private static func refusesOthers(
        than module: RelayModule, of begun: RelayRegistration, _ signer: inout Signer,
        _ wish: RelayChallengeRequest, _ relay: Relay
    ) async throws -> Bool {
        var (other, local) = (module, module)
        other.challenge.flipBit(ofByte: 0)
        local.account = "eve"
        for (asked, signed) in [
            (other, ModulePurpose.text(module.challenge, local: module.account)),
            (local, ModulePurpose.text(module.challenge, local: module.account)), (module, []),
        ] {
            guard case .challenge(let challenge, _, _, _) = relay.answer(.challenge(wish)) else {
                return false
            }
            let proof = try signer.sign(challenge, LoginAction.login, .login, purpose: signed)
            let login = RelayLogin(
                server: wish.server, statement: proof.statement, signature: proof.signature,
                module: asked)
            guard case .refused(Bytes("refused".utf8), 401, _) = relay.answer(.login(login)) else {
                return false
            }
        }
        return true
    }

    @Test("reports a server's refusal by its code")
    func refused() async throws {
        let server = try await LiveServer.start()
        let code = Bytes("00000-00000-00000-00000".utf8)
        let answer = relay(server).answer(
            .register(server: ServerURL(server.url), code: code, device: Self.device))
        #expect(
            answer
                == .refused(code: Bytes("activation-refused".utf8), status: 401, attempts: nil))
    }

    @Test("sends nothing to a server that another authority vouches for, or of another key")
    func untrusted() async throws {
        let server = try await LiveServer.start()
        let scratch = try Scratch()
        try scratch.makeCertificate("other")
        let code = Bytes(try server.code().utf8)
        let request = RelayRequest.register(
            server: ServerURL(server.url), code: code, device: Self.device)
        var wrongAuthority = ClientConfiguration()
        wrongAuthority.authorities = .file(scratch.at("other.pem"))
        var wrongPin = ClientConfiguration()
        wrongPin.authorities = .file(server.authority)
        wrongPin.pinnedKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        for (configuration, setting) in [
            (wrongAuthority, "ca-file"), (wrongPin, "pin"), (ClientConfiguration(), "ca-file"),
        ] {
            let answer = Relay(configuration).answer(request)
            let why = try #require(answer.why)
            #expect(why.contains("identity cannot be verified"))
            #expect(why.contains("(\(server.url)). See \(setting) in"), "\(why)")
            #expect(answer.isRepeatable == false)
        }
        // The code was not used up.
        #expect(relay(server).answer(request).begun != nil)
    }

    @Test("says that a request may be repeated if it reached no server")
    func gone() throws {
        // A port that no program gets by chance.
        let url = "https://127.0.0.1:1"
        let answer = Relay(ClientConfiguration()).answer(
            .register(server: ServerURL(url), code: [1], device: Self.device))
        #expect(answer.why?.contains("cannot be reached") == true)
        #expect(answer.isRepeatable == true)
    }

    @Test(
        "asks no server whose URL is not in its one form",
        arguments: [
            "http://127.0.0.1", "https://127.0.0.1/", "https://user@127.0.0.1", "https://HOST",
            "https://127.0.0.1/?x", "file:///etc/passwd", "https://127.0.0.1/../x",
        ])
    func badURL(url: String) {
        let answer = Relay(ClientConfiguration()).answer(
            .register(server: ServerURL(url), code: [1], device: Self.device))
        #expect(answer.why == "the server's URL is not in canonical form")
    }
}

/// A key as a device has it.
struct Signer {
    let key: P256PrivateKey
    private let begun: RelayRegistration
    private var counter: UInt64 = 0

    init(_ begun: RelayRegistration) throws {
        self.begun = begun
        key = try P256PrivateKey.generate()
    }

    mutating func sign(
        _ challenge: Challenge, _ action: Bytes, _ namespace: SignatureNamespace,
        purpose: Bytes = []
    ) throws -> (statement: Bytes, signature: Bytes) {
        counter += 1
        let head = StatementHead(
            audience: begun.audience, account: begun.account,
            device: .sample(repeating: 0xd1),
            credential: .sample(repeating: 0xc1))
        let claims = StatementClaims(
            factor: Factor.fingerprint, integrity: Integrity(key: .file, secureBoot: .unknown),
            enrolment: 1, counter: counter,
            issued: Instant(seconds: UInt64(clamping: Clock.system.wallSeconds())))
        let statement = LoginStatement(
            head: head, challenge: challenge, action: action, service: "signet",
            terminal: [], purpose: purpose, claims: claims
        ).encoded()
        return (statement, try key.signature(of: statement, in: namespace).blob)
    }
}

extension RelayAnswer {
    var begun: RelayRegistration? {
        if case .registered(let begun) = self { begun } else { nil }
    }

    var why: String? {
        if case .unreachable(let why, _, _) = self {
            String(decoding: why, as: UTF8.self)
        } else {
            nil
        }
    }

    var isAway: Bool? {
        if case .unreachable(_, _, let isAway) = self { isAway } else { nil }
    }

    var isRepeatable: Bool? {
        if case .unreachable(_, let isRepeatable, _) = self { isRepeatable } else { nil }
    }
}
