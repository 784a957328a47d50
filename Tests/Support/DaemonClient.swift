// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import CommandProtocol
import Glibc
import LoginProtocol
import Posix

/// A conversation with a daemon, frame by frame, as the test's own user: root.
package final class DaemonClient: Sendable {
    private let socket: PacketSocket
    private let readable: Descriptor
    /// The process that made the connection, and what keeps it there.
    private let process: ChildProcess?
    private let leash: Descriptor?

    /// Connects to the daemon that listens at a path of the machine.
    package convenience init(path: String) throws {
        try self.init(PacketSocket.connect(to: path), path: path, process: nil, leash: nil)
    }

    /// Has a process in a fixture connect to the daemon there, which goes when this does.
    package convenience init(
        path: String, on host: HostFixture, as account: Account = HostFixture.root,
        in place: FixturePlace? = nil
    ) throws {
        var command = host.command([], as: account, in: place)
        command.connects = path
        let ends = try PacketSocket.pair()
        let far = ends.second.descriptor.number
        let process = try ChildProcess(command, terminal: nil, standard: (far, far, far))
        let near = fcntl(ends.first.descriptor.number, F_DUPFD_CLOEXEC, 3)
        let leash = try Descriptor(near < 0 ? -errno : near, "dup", path)
        _ = consume ends
        guard leash.isReady(within: .patience) else {
            throw TestFault.deadline(awaited: "a connection to \(path)", transcript: "")
        }
        let received = try Descriptor(receive_descriptor(near), "connect", path)
        let number = fcntl(received.number, F_DUPFD_CLOEXEC, 3)
        try self.init(
            PacketSocket(adopting: Posix.Descriptor(adopting: number)), path: path,
            process: process, leash: leash)
    }

    private init(
        _ socket: consuming PacketSocket, path: String, process: ChildProcess?,
        leash: consuming Descriptor?
    ) throws {
        let copy = fcntl(socket.descriptor.number, F_DUPFD_CLOEXEC, 3)
        readable = try Descriptor(copy < 0 ? -errno : copy, "dup", path)
        self.process = process
        self.leash = leash
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
                // A part of what is reported.
                case .signingKey where request.content is StatusRequest: break
                case .assertion, .confirmed, .denial, .done, .status, .serverEnabled, .token,
                    .signed,
                    .signingKey, .authorization, .decided:
                    return answers
                case .own(let own) where own.meaning == .end: return answers
                case .passwordWanted, .print, .reader, .receipt, .refusal, .signer, .chainHead,
                    .secretPart, .secret, .secretWanted, .event, .importedPrint, .server,
                    .macToken, .operation, .serverTrouble, .own:
                    break
                }
            }
        } catch TestFault.deadline(let awaited, let transcript) {
            throw TestFault.deadline(awaited: awaited, transcript: "\(heard)\n\(transcript)")
        }
        throw TestFault.closed(awaited: "the last answer", transcript: heard)
    }
}
