import Glibc
import Posix
import Synchronization
import TestSupport
import Wire

@testable import Relay

/// A relay and a server behind it, played by this process: it says yes to everything, but for what a
/// test wants otherwise.
final class PlayedServer: Sendable {
    static let url = Bytes("https://played.example".utf8)

    private let stop: Event
    private let special = Mutex<@Sendable (RelayRequest) -> RelayAnswer?>({ _ in nil })

    /// Listens where the bench's daemon asks.
    init(for bench: DaemonBench) throws {
        stop = try Event()
        let listener = Listening(
            try PacketListener.replacing(bench.directory + "/relay", mode: 0o600))
        let service = RelayService(caller: 0) { [unowned self] in [answer($0)] }
        try onThread { [stop] in
            try? service.serve(listener.listener, until: stop.descriptor.number, idle: nil)
        }
    }

    deinit { stop.happen() }

    /// Has some requests answered otherwise, from now on.
    func answering(_ special: @escaping @Sendable (RelayRequest) -> RelayAnswer?) {
        self.special.withLock { $0 = special }
    }

    private func answer(_ request: RelayRequest) -> RelayAnswer {
        let special = special.withLock { $0 }
        return special(request) ?? Self.yes(to: request)
    }

    private static func yes(to request: RelayRequest) -> RelayAnswer {
        let challenge = Bytes(repeating: 7, count: 32)
        return switch request {
        case .register:
            .registered(
                RelayRegistration(
                    registration: (try? randomBytes(16)) ?? [], account: Bytes("alice".utf8),
                    application: Bytes("shop".utf8), audience: Bytes("shop.example".utf8),
                    challenge: challenge, expires: .max))
        case .prove: .proven(.active, fingerprint: [])
        case .challenge: .challenge(challenge, audience: Bytes("shop.example".utf8), expires: .max)
        case .login:
            .loggedIn(
                RelayTokens(accessToken: Bytes("token".utf8), seconds: 1, refreshToken: []))
        case .remove: .removed
        // No test of these asks: LyingRelayTests does, of a FakeRelay.
        case .macToken, .operations, .operation, .decide:
            .unreachable(why: Bytes("not played".utf8), isRepeatable: false)
        }
    }

    private final class Listening: Sendable {
        let listener: PacketListener
        init(_ listener: consuming PacketListener) { self.listener = listener }
    }
}

extension DaemonBench {
    /// Registers the account `daemon` at the played server.
    @discardableResult
    func enablePlayed(_ person: Person = .daemon) throws -> Answer {
        try touchEach(
            .serverEnable(
                ServerEnableRequest(
                    account: person.bytes, server: PlayedServer.url,
                    code: Bytes("00000-00000-00000-00000".utf8))), with: "one")
    }

    func playedLogin(_ person: Person = .daemon) -> Request {
        .serverLogin(
            account: person.bytes, server: PlayedServer.url, timeoutMilliseconds: 20_000)
    }

    /// Logs in to it.
    func logInPlayed() throws -> Answer {
        try touchEach(playedLogin(), with: "one", client: client(.daemon))
    }

    /// What is kept of servers for the account `daemon`.
    func servers() throws -> [ServerKeyState] {
        let client = try client()
        try client.send(.serverList(account: Person.daemon.bytes))
        return try client.rest().compactMap { answer in
            if case .server(let server) = answer { server.state } else { nil }
        }
    }

    var serverFiles: Set<String> {
        Set(Layout.entries(of: file("servers", of: .daemon)))
    }
}
