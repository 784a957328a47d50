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

    /// How long a request may take to follow its connection when the relay stops.
    private static let lastPatience = Duration.seconds(1)
    /// How long the requests in progress may take when the relay stops, which have limits of their own.
    private static let farewell = Duration.seconds(60)

    private let answer: @Sendable (RelayRequest) -> [RelayAnswer]
    /// The only uid that may connect.
    private let caller: UInt32
    /// The descriptors of the connections.
    private let connections = Mutex<Set<Int32>>([])
    /// Happens when no more requests are to be awaited.
    private let stopping: Event
    /// Happens whenever a connection has ended.
    private let left: Event

    init(
        caller: UInt32, _ answer: @escaping @Sendable (RelayRequest) -> [RelayAnswer]
    ) throws(SystemFault) {
        self.caller = caller
        self.answer = answer
        stopping = try Event()
        left = try Event()
    }

    /// Whether no connection is open.
    var isIdle: Bool { connections.withLock { $0.isEmpty } }

    /// Serves until `interrupts` is readable, or until there has been no connection for `idle`.
    ///
    /// The requests in progress at an interrupt are still answered, as far as somebody waits for that,
    /// and so are those that arrive meanwhile.
    ///
    /// - Throws: a fault of accepting connections.
    func serve(
        _ listener: borrowing PacketListener, until interrupts: Int32, idle: Duration?
    ) throws(SystemFault) {
        while true {
            let deadline = idle.map { ContinuousClock.now + $0 }
            switch wait(for: listener.descriptor.number, or: interrupts, until: deadline) {
            case .interrupted: return finish(listener)
            case .timedOut: if isIdle { return }
            case .readable:
                guard let socket = try listener.accept() else { continue }
                take(socket)
            }
        }
    }

    /// Serves until nobody waits for an answer any more.
    private func finish(_ listener: borrowing PacketListener) {
        stopping.happen()
        let end = ContinuousClock.now + Self.farewell
        var events = [left.descriptor.number, listener.descriptor.number]
        while true {
            let awaited = connections.withLock { $0.filter { !isHungUp($0) } }
            guard !awaited.isEmpty, waitForAny(readable: events, hungUp: awaited, until: end) else {
                return
            }
            left.reset()
            do throws(SystemFault) {
                if let socket = try listener.accept() { take(socket) }
            } catch {
                // The next process accepts what waits.
                events = [left.descriptor.number]
            }
        }
    }

    /// Serves a connection if its peer is permitted and the limit is not reached; otherwise closes
    /// it.
    private func take(_ socket: consuming PacketSocket) {
        guard let peer = try? PeerCredentials(of: socket.descriptor), peer.uid == caller else {
            return complain("signet-relay: a process that is not root has connected")
        }
        let held = HeldSocket(socket)
        let number = held.socket.descriptor.number
        let isTaken = connections.withLock { connections in
            connections.count < Self.limit && connections.insert(number).inserted
        }
        guard isTaken else { return }
        do throws(SystemFault) {
            try onThread { [self] in
                converse(held.socket)
                leave(number)
            }
        } catch {
            leave(number)
            complain("signet-relay: \(error)")
        }
    }

    /// Ends a connection, whose descriptor is closed afterwards.
    private func leave(_ number: Int32) {
        connections.withLock { _ = $0.remove(number) }
        left.happen()
    }

    /// Answers requests until the peer closes the connection or sends an invalid one.
    ///
    /// A request whose peer has gone is not carried out: this process may have started too late for it.
    private func converse(_ socket: borrowing PacketSocket) {
        while let packet = packet(from: socket), !isHungUp(socket.descriptor.number) {
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
        let number = socket.descriptor.number
        let deadline = ContinuousClock.now + Self.patience
        var awaited = wait(for: number, or: stopping.descriptor.number, until: deadline)
        while true {
            if awaited == .interrupted {
                awaited = wait(for: number, or: -1, until: .now + Self.lastPatience)
            }
            guard awaited == .readable else { return nil }
            switch try? socket.receive(limit: Frame.maximumLength) {
            case .packet(let packet): return packet
            case .wouldBlock:
                awaited = wait(for: number, or: stopping.descriptor.number, until: deadline)
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
