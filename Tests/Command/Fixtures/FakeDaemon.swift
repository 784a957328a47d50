// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Foundation
import Glibc
import LoginProtocol
import Posix
import Synchronization

/// What the fake daemon does on one connection, in order.
enum DaemonStep: Sendable {
    /// Takes a packet and keeps it.
    case receive
    /// Sends an answer.
    case send(Answer)
    /// Sends bytes as they are.
    case sendRaw(Bytes)
    /// Says nothing for a while, as where a server is slow.
    case pause(milliseconds: Int32)
    /// Says and takes nothing until the other end closes.
    case hang
}

/// A listener of this process that plays the daemon: one script a connection, then it is gone.
final class FakeDaemon: Sendable {
    private let listener: PacketListener
    private let packets = Mutex<[Bytes]>([])
    private let ended = DispatchSemaphore(value: 0)

    init(at path: String, mode: UInt32 = 0o666, _ scripts: [[DaemonStep]]) throws {
        listener = try PacketListener.listen(at: path, mode: mode)
        Thread.detachNewThread { [self] in
            for script in scripts { play(script) }
            ended.signal()
        }
    }

    /// All requests, when every script was played or its client was gone.
    func requests() throws -> [Request] {
        guard ended.wait(timeout: .now() + 20) == .success else { throw Silent() }
        return try packets.withLock { $0 }.map { try Request(decoding: $0) }
    }

    /// Not every script was played in time.
    struct Silent: Error {}

    private func play(_ script: [DaemonStep]) {
        guard ready(listener.descriptor.number), let socket = try? listener.accept() else { return }
        for step in script {
            switch step {
            case .receive:
                guard ready(socket.descriptor.number),
                    case .packet(let packet)? = try? socket.receive(limit: Frame.maximumLength)
                else { return }
                packets.withLock { $0.append(packet) }
            case .send(let answer):
                guard let packet = try? answer.encoded() else { return }
                _ = try? socket.send(packet)
            case .sendRaw(let packet): _ = try? socket.send(packet)
            case .pause(let milliseconds): _ = poll(nil, 0, milliseconds)
            case .hang: _ = ready(socket.descriptor.number)
            }
        }
    }

    private func ready(_ number: Int32) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 15_000) == 1
    }
}
