// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import Synchronization

/// Serves signetd: a thread for each connection, and a limit on them.
final class RelayService: Sendable {
    /// Connections at the same time; signetd opens one for each request.
    static let limit = 16
    /// How long a connection may stay without a request.
    private static let patience = Duration.seconds(10)

    private let answer: @Sendable (RelayRequest) -> [RelayAnswer]
    /// The only user who may ask.
    private let caller: UInt32
    private let connections = Atomic<Int>(0)

    init(
        caller: UInt32, _ answer: @escaping @Sendable (RelayRequest) -> [RelayAnswer]
    ) {
        self.caller = caller
        self.answer = answer
    }

    /// Whether nobody is connected.
    var isIdle: Bool { connections.load(ordering: .sequentiallyConsistent) == 0 }

    /// Serves until the interrupting descriptor is readable, or for `idle` after the last request.
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

    /// Serves one connection, if it is from whoever may ask and there is room.
    private func take(_ socket: consuming PacketSocket) {
        guard let peer = try? PeerCredentials(of: socket.descriptor), peer.uid == caller else {
            return complain("signet-relay: somebody else than root has connected")
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

    /// Answers one request after the other, until the other end is gone or says what is none.
    private func converse(_ socket: borrowing PacketSocket) {
        while let packet = packet(from: socket) {
            guard let request = try? RelayRequest(decoding: packet) else { return }
            for answer in answer(request) {
                guard let frame = try? answer.encoded(), send(frame, over: socket) else { return }
            }
        }
    }

    /// Whether all of it went, in time: a list can be more than a socket's buffer takes at once.
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

/// A connection on its way to the thread that serves it, which lets go of it.
private final class HeldSocket: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }
}
