import Glibc
import Posix
import Wire

/// A conversation with a daemon, frame by frame, as the test's own user: root.
package final class DaemonClient: Sendable {
    private let socket: PacketSocket
    private let readable: Descriptor

    /// Connects to the daemon that listens at a path of the machine.
    package init(path: String) throws {
        let socket = try PacketSocket.connect(to: path)
        let copy = fcntl(socket.descriptor.number, F_DUPFD_CLOEXEC, 3)
        readable = try Descriptor(copy < 0 ? -errno : copy, "dup", path)
        self.socket = socket
    }

    /// Sends a request.
    package func send(_ request: Request) throws { try send(packet: request.encoded()) }

    /// Sends a packet as it is, in one piece.
    package func send(packet: Bytes) throws {
        guard try socket.send(packet) == .whole else {
            throw TestFault.deadline(awaited: "room for a request", transcript: "")
        }
    }

    /// The next answer; nil when the daemon ended the connection.
    package func receive(within limit: Duration = .seconds(20)) throws -> Answer? {
        let deadline = ContinuousClock.now + limit
        while readable.isReady(within: deadline - ContinuousClock.now) {
            switch try socket.receive(limit: Frame.maximumLength) {
            case .packet(let packet): return try Answer(decoding: packet)
            case .end: return nil
            case .wouldBlock: continue
            case .tooLong: throw WireFault.tooLong
            }
        }
        throw TestFault.deadline(awaited: "an answer of the daemon", transcript: "")
    }

    /// Asks, and gives the answers up to the last one. `tell` hears the notices as they come.
    package func answers(
        to request: Request, within limit: Duration = .seconds(20),
        telling tell: (Notice) throws -> Void = { _ in }
    ) throws -> [Answer] {
        try send(request)
        var answers: [Answer] = []
        var heard: String { answers.map { "\($0)" }.joined(separator: "\n") }
        do {
            while let answer = try receive(within: limit) {
                answers.append(answer)
                switch answer {
                case .notice(let notice): try tell(notice)
                case .assertion, .confirmed, .denial, .done, .status, .serverEnabled, .token,
                    .signed,
                    .signingKey, .authorization, .decided:
                    return answers
                case .passwordWanted, .print, .reader, .receipt, .signer, .setting, .chainHead,
                    .secretPart, .secret, .vault, .secretWanted, .event,
                    .importedPrint, .server, .macToken, .operation, .serverTrouble:
                    break
                }
            }
        } catch TestFault.deadline(let awaited, let transcript) {
            throw TestFault.deadline(awaited: awaited, transcript: "\(heard)\n\(transcript)")
        }
        throw TestFault.closed(awaited: "the last answer", transcript: heard)
    }
}
