import Glibc
import Posix
import Statement
import Synchronization
import TestSupport
import Testing
import Wire

/// A relay that says what a test has it say: nobody on the way to a server is trusted.
final class FakeRelay: Sendable {
    private let stop: Event
    private let asked = Mutex<[RelayRequest]>([])
    private let answer: Mutex<@Sendable (RelayRequest) -> [RelayAnswer]?>

    /// The account's name, application and audience that it tells of a registration.
    static let account = Bytes("alice".utf8)
    static let application = Bytes("shop".utf8)
    static let audience = Bytes("https://h/shop".utf8)
    static let secret = Bytes(repeating: 0x5e, count: 32)
    static let token = Bytes(repeating: 0x70, count: 16)

    /// Listens where the bench's daemon asks.
    init(_ bench: DaemonBench) throws {
        stop = try Event()
        answer = Mutex({ _ in nil })
        let listener = Listening(
            try PacketListener.replacing(bench.directory + "/relay", mode: 0o600))
        try onThread { [self, stop] in
            let number = listener.listener.descriptor.number
            while wait(for: number, or: stop.descriptor.number, until: nil) == .readable {
                guard let socket = try? listener.listener.accept() else { continue }
                converse(socket)
            }
        }
    }

    deinit { stop.happen() }

    /// Ends it; it holds itself as long as it listens.
    func end() { stop.happen() }

    /// What it says from now on; nil leaves it at what a server would say.
    func says(_ answer: @escaping @Sendable (RelayRequest) -> [RelayAnswer]?) {
        self.answer.withLock { $0 = answer }
    }

    /// What it was asked so far.
    var requests: [RelayRequest] { asked.withLock { $0 } }

    private func converse(_ socket: borrowing PacketSocket) {
        let deadline = ContinuousClock.now + .seconds(10)
        guard wait(for: socket.descriptor.number, or: -1, until: deadline) == .readable,
            case .packet(let packet)? = try? socket.receive(limit: Frame.maximumLength),
            let request = try? RelayRequest(decoding: packet)
        else { return }
        asked.withLock { $0.append(request) }
        let own = answer.withLock { $0 }(request)
        for answer in own ?? Self.usual(request) {
            guard let frame = try? answer.encoded() else { continue }
            _ = try? socket.send(frame)
        }
    }

    /// What a server would say where all is well.
    private static func usual(_ request: RelayRequest) -> [RelayAnswer] {
        let challenge = Bytes(repeating: 9, count: 32)
        return switch request {
        case .register:
            [
                .registered(
                    RelayRegistration(
                        registration: Bytes(repeating: 1, count: 16), account: account,
                        application: application, audience: audience, challenge: challenge,
                        expires: .max))
            ]
        case .prove: [.proven(.active, fingerprint: [])]
        case .challenge: [.challenge(challenge, audience: audience, expires: .max)]
        case .macToken:
            [
                .macToken(
                    RelayMACToken(
                        audience: audience, expires: 4_000_000_000, token: token, secret: secret))
            ]
        case .operations: [.listed(count: 0)]
        case .login, .remove, .operation, .decide:
            [.refused(code: Bytes("refused".utf8), status: 401, attempts: nil)]
        }
    }

    private final class Listening: Sendable {
        let listener: PacketListener
        init(_ listener: consuming PacketListener) { self.listener = listener }
    }
}
