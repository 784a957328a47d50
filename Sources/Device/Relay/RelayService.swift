// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import Synchronization

/// Accepts connections from signetd, and serves each on its own thread, up to a limit.
///
/// Only the uid `caller` may connect, according to the kernel. A connection above the limit is
/// closed at once, and one that sends an invalid request or nothing for `patience` is closed as
/// well.
final class RelayService: Sendable {
    /// The maximum number of connections; signetd opens one per request.
    static let limit = 16
    /// How long a connection may be without a request, or may leave an answer unread.
    private static let patience = Duration.seconds(10)

    private let answer: @Sendable (RelayRequest) -> [RelayAnswer]
    /// The only uid that may connect.
    private let caller: UInt32
    private let connections = Atomic<Int>(0)

    init(
        caller: UInt32, _ answer: @escaping @Sendable (RelayRequest) -> [RelayAnswer]
    ) {
        self.caller = caller
        self.answer = answer
    }

    /// Whether no connection is open.
    var isIdle: Bool { connections.load(ordering: .sequentiallyConsistent) == 0 }

    /// Serves until `interrupts` is readable, or until there has been no connection for `idle`.
    ///
    /// - Throws: a fault of accepting connections.
    func serve(
        _ listener: borrowing PacketListener, until interrupts: Int32, idle: Duration?
    ) throws(SystemFault) {
        while true {
            let deadline = idle.map { ContinuousClock.now + $0 }
            switch wait(for: listener.descriptor.number, or: interrupts, until: deadline) {
            case .interrupted: return
            case .timedOut: if isIdle { return }
            case .readable:
                guard let socket = try listener.accept() else { continue }
                take(socket)
            }
        }
    }

    /// Serves a connection if its peer is permitted and the limit is not reached; otherwise closes
    /// it.
    private func take(_ socket: consuming PacketSocket) {
        guard let peer = try? PeerCredentials(of: socket.descriptor), peer.uid == caller else {
            return complain("signet-relay: a process that is not root has connected")
        }
        guard connections.load(ordering: .sequentiallyConsistent) < Self.limit else { return }
        connections.add(1, ordering: .sequentiallyConsistent)
        let held = HeldSocket(socket)
        do throws(SystemFault) {
            try onThread { [self] in
                converse(held.socket)
                connections.subtract(1, ordering: .sequentiallyConsistent)
            }
        } catch {
            connections.subtract(1, ordering: .sequentiallyConsistent)
            complain("signet-relay: \(error)")
        }
    }

    /// Answers requests until the peer closes the connection or sends an invalid one.
    private func converse(_ socket: borrowing PacketSocket) {
        while let packet = packet(from: socket) {
            guard let request = try? RelayRequest(decoding: packet) else { return }
            for answer in answer(request) {
                guard let frame = try? answer.encoded(), send(frame, over: socket) else { return }
            }
        }
    }

    /// Sends a frame within `patience`; a list can exceed the socket's buffer.
    private func send(_ frame: Bytes, over socket: borrowing PacketSocket) -> Bool {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            switch try? socket.send(frame) {
            case .whole: return true
            case .wouldBlock:
                guard isWritable(socket.descriptor.number, until: deadline) else { return false }
            case nil: return false
            }
        }
    }

    private func packet(from socket: borrowing PacketSocket) -> Bytes? {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            guard wait(for: socket.descriptor.number, or: -1, until: deadline) == .readable else {
                return nil
            }
            switch try? socket.receive(limit: Frame.maximumLength) {
            case .packet(let packet): return packet
            case .wouldBlock: continue
            case .end, .tooLong, nil: return nil
            }
        }
    }
}

/// Moves a connection into the thread that serves it.
private final class HeldSocket: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }
}
