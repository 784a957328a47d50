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

/// A daemon whose person is registered at a played server that says yes, and what tests of its yes share.
class VerdictFixture {
    let fixture: DaemonFixture
    let server: PlayedServer
    let key: P256PrivateKey
    let audience = PlayedServer.audience

    convenience init() throws { try self.init(on: nil) }

    /// The same on a daemon that has the finger already.
    init(on enrolled: DaemonFixture?) throws {
        fixture = try enrolled ?? DaemonFixture([.text])
        if enrolled == nil { try fixture.enrol(.daemon, as: "one") }
        server = try PlayedServer(for: fixture)
        key = try P256PrivateKey.generate()
        #expect(try fixture.enablePlayed().enabled != nil)
        server.answering(yes())
    }

    static var now: UInt64 { UInt64(time(nil)) }

    /// What a server says to every login for which a module requests a verdict.
    func yes(
        _ decision: VerdictDecision = .allow, by signer: P256PrivateKey? = nil,
        at seconds: UInt64? = nil, before: @escaping @Sendable () -> Void = {}
    ) -> @Sendable (RelayRequest) -> RelayAnswer? {
        let (signer, audience) = (signer ?? key, audience)
        return { request in
            guard case .login(let login) = request, let module = login.module,
                let statement = try? LoginStatement(parsing: login.statement)
            else { return nil }
            before()
            let issued = Instant(seconds: seconds ?? Self.now)
            let text = Verdict(
                audience: audience, account: statement.head.account, local: module.account,
                device: statement.head.device, challenge: statement.challenge,
                module: module.challenge, decision: decision, issued: issued, expires: issued
            ).encoded()
            guard let signature = try? signer.signature(of: text, in: .verdict).blob else {
                return nil
            }
            return .loggedIn(
                RelayTokens(
                    accessToken: Bytes("a.b.c".utf8), seconds: 300, refreshToken: [],
                    verdict: RelayVerdict(statement: text, signature: signature)))
        }
    }

    /// Has the server say yes once it is let to; gives when it was asked, and what lets it.
    func sayingYesLater() throws -> (asked: DispatchedEvent, goOn: Event) {
        let (asked, goOn) = (DispatchedEvent(), try Event())
        server.answering(
            yes {
                asked.happen()
                hold(until: goOn)
            })
        return (asked, goOn)
    }

    /// Cuts the way to the server, as the relay tells it.
    func cut(isAway: Bool = true) {
        server.answering { _ in
            .unreachable(why: Bytes("cut".utf8), isRepeatable: true, isAway: isAway)
        }
    }

    func request(
        offlineHours: UInt32 = 1, milliseconds: UInt32 = 30_000, token: TokenDelivery? = nil
    ) -> AuthenticateRequest {
        AuthenticateRequest(
            account: Person.daemon.account, challenge: .sample(repeating: 9),
            service: "login", timeoutMilliseconds: milliseconds, maximumTries: 2,
            background: .allow,
            server: ServerLoginRequest(
                url: PlayedServer.url, audience: audience,
                key: PublicKeyPoint(key.publicPoint) ?? .zero,
                offlineHours: offlineHours, token: token))
    }

    func logIn(
        _ request: AuthenticateRequest? = nil, client: TestClient? = nil
    ) throws -> Answer {
        try fixture.touchEach(
            .authenticate(request ?? self.request()), with: "one",
            client: client ?? fixture.client())
    }

    var verdicts: [String] { fixture.serverFiles.filter { $0.hasSuffix(".verdict") } }

    var hasToken: Bool {
        unsafe access(fixture.directory + "/tokens/\(Person.daemon.uid)", F_OK) == 0
    }
}

/// Has a server, or a TPM, wait with its answer.
func hold(until event: Event) {
    _ = wait(
        for: event.descriptor.number, or: -1, until: ContinuousClock.now + .seconds(20))
}
