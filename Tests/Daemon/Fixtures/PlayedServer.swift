// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import Synchronization
import TestSupport

/// A relay and a server behind it, played by this process: it says what a server would say where all
/// is well, but for what a test wants otherwise. Nobody on the way to a server is trusted.
final class PlayedServer: Sendable {
    static let url: ServerURL = "https://played.example"
    /// The account's name, application and audience that it reports of a registration.
    static let account: ServerAccountName = "alice"
    static let application: ApplicationName = "shop"
    static let audience: Audience = "https://played.example/shop"
    /// The one MAC token that it gives.
    static let token = MACTokenID.sample(repeating: 0x70)
    static let secret = Bytes(repeating: 0x5e, count: 32)

    private let stop: Event
    private let part = Part()

    /// Listens where the fixture's daemon asks.
    init(for fixture: DaemonFixture) throws {
        stop = try Event()
        let listener = Held(try PacketListener.replacing(fixture.directory + "/relay", mode: 0o600))
        try onThread { [stop, part] in
            let number = listener.value.descriptor.number
            while wait(for: number, or: stop.descriptor.number, until: nil) == .readable {
                guard let socket = try? listener.value.accept() else { continue }
                let held = Held(socket)
                try? onThread { part.converse(held.value) }
            }
        }
    }

    deinit { stop.happen() }

    /// Has some requests answered otherwise, from now on.
    func answering(_ special: @escaping @Sendable (RelayRequest) -> RelayAnswer?) {
        says { request in special(request).map { [$0] } }
    }

    /// The same where it may be any number of answers, also none.
    func says(_ special: @escaping @Sendable (RelayRequest) -> [RelayAnswer]?) {
        part.special.withLock { $0 = special }
    }

    /// What it was asked so far.
    var requests: [RelayRequest] { part.asked.withLock { $0 } }

    /// What it says: its threads hold that, and not the player.
    private final class Part: Sendable {
        let special = Mutex<@Sendable (RelayRequest) -> [RelayAnswer]?>({ _ in nil })
        let asked = Mutex<[RelayRequest]>([])

        /// Answers one request, as signetd makes one on each connection.
        func converse(_ socket: borrowing PacketSocket) {
            let deadline = ContinuousClock.now + .seconds(10)
            guard wait(for: socket.descriptor.number, or: -1, until: deadline) == .readable,
                case .packet(let packet)? = try? socket.receive(limit: Frame.maximumLength),
                let request = try? RelayRequest(decoding: packet)
            else { return }
            asked.withLock { $0.append(request) }
            let special = special.withLock { $0 }
            for answer in special(request) ?? Self.usual(request) {
                guard let frame = try? answer.encoded() else { continue }
                _ = try? socket.send(frame)
            }
        }

        private static func usual(_ request: RelayRequest) -> [RelayAnswer] {
            let challenge = Challenge.sample(repeating: 9)
            return switch request {
            case .register:
                [
                    .registered(
                        RelayRegistration(
                            registration: RegistrationID(
                                random: (try? randomBytes(16)) ?? Bytes(repeating: 1, count: 16)),
                            account: account,
                            application: application, audience: audience,
                            challenge: challenge, expires: .max))
                ]
            case .requirements: [.requirements([])]
            case .attest: [.refused(code: Bytes("conflict".utf8), status: 409, attempts: nil)]
            case .prove, .passwordKey: [.proven(.active, fingerprint: [])]
            case .challenge: [.challenge(challenge, audience: audience, expires: .max)]
            case .login:
                [
                    .loggedIn(
                        RelayTokens(
                            accessToken: Bytes("token".utf8), seconds: 1, refreshToken: []))
                ]
            case .remove, .endMACToken: [.removed]
            case .sessions: [.sessionsListed(count: 0, total: 0)]
            case .endSession, .endSessions: [.sessionsEnded(count: 1)]
            case .macToken:
                [
                    .macToken(
                        RelayMACToken(
                            audience: audience, expires: 4_000_000_000, token: token,
                            secret: secret))
                ]
            case .operations: [.listed(count: 0)]
            case .operation, .decide:
                [.refused(code: Bytes("refused".utf8), status: 401, attempts: nil)]
            }
        }
    }

    /// What is moved to a thread of its own.
    private final class Held<Value: ~Copyable & Sendable>: Sendable {
        let value: Value
        init(_ value: consuming Value) { self.value = value }
    }
}

extension DaemonFixture {
    /// Registers the account `daemon` at the played server, which has other names too.
    @discardableResult
    func enablePlayed(
        _ person: Person = .daemon, at server: ServerURL = PlayedServer.url
    ) throws -> Answer {
        try touchEach(
            .serverEnable(
                ServerEnableRequest(
                    account: person.account, server: server,
                    code: Bytes("00000-00000-00000-00000".utf8))), with: "one")
    }

    func playedLogin(_ person: Person = .daemon) -> Request {
        .serverLogin(
            account: person.account, server: PlayedServer.url, timeoutMilliseconds: 20_000)
    }

    /// Logs in to it.
    func logInPlayed() throws -> Answer {
        try touchEach(playedLogin(), with: "one", client: client(.daemon))
    }

    /// What is kept of servers for the account `daemon`.
    func servers() throws -> [ServerKeyState] {
        let client = try client()
        try client.send(.serverList(account: Person.daemon.account))
        return try client.rest().compactMap { answer in
            if case .server(let server) = answer { server.state } else { nil }
        }
    }

    var serverFiles: Set<String> {
        Set(Layout.entries(of: file("servers", of: .daemon)))
    }
}
