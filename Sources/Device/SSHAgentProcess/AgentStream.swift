// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import SSHAgentProtocol

/// Messages over a stream, one at a time in each direction.
///
/// A limit that is exceeded ends the stream.
@ServiceActor
final class AgentStream {
    private let socket: AgentSocket
    private var frames = AgentFrames()

    /// How much is received at once.
    private static let piece = 16_384

    init(_ socket: consuming StreamSocket) {
        self.socket = AgentSocket(socket)
    }

    /// Why there is no connection to another agent.
    enum Fault: Error {
        /// Nothing listens at the path.
        case absent
        /// Another user listens there.
        case anotherUser
        /// This agent itself listens there.
        case ourselves
    }

    /// Connects to another agent, which must be a process of this user other than this one.
    static func connect(to path: String, own: OwnSocket) throws(Fault) -> AgentStream {
        if let version = FileVersion(of: path), version == FileVersion(of: own.path) {
            throw .ourselves
        }
        guard let socket = try? StreamSocket.connect(to: path),
            let peer = try? PeerCredentials(of: socket.descriptor)
        else { throw .absent }
        guard peer.uid == effectiveUID() else { throw .anotherUser }
        guard peer.pid != own.listener?.pid else { throw .ourselves }
        return AgentStream(socket)
    }

    /// The descriptor, to notice a hang-up.
    var number: Int32 { socket.number }

    /// Ends the stream, and all waits for it.
    func close() { socket.shutDown() }

    /// Waits for the next message; nil when the stream has ended, cannot be read any further, or
    /// nothing came in time.
    ///
    /// - Parameter limit: how long the whole message may take; nil for ever.
    func next(within limit: Duration? = nil) async -> [UInt8]? {
        let timer = limit.map { ending(after: $0) }
        defer { timer?.cancel() }
        while true {
            do {
                if let message = try frames.next() { return message }
            } catch { return nil }
            let received: ReceivedBytes
            do throws(SystemFault) {
                received = try socket.receive(limit: min(Self.piece, frames.room))
            } catch { return nil }
            switch received {
            case .bytes(let bytes): frames.append(bytes)
            case .wouldBlock: _ = await FileWatch.ready(socket.number, for: .readable)
            case .end: return nil
            }
        }
    }

    /// Sends a message; false if the peer is gone or does not read in time.
    func send(_ message: [UInt8], within limit: Duration) async -> Bool {
        let timer = ending(after: limit)
        defer { timer.cancel() }
        var rest = AgentFrames.frame(message)[...]
        while !rest.isEmpty {
            do throws(SystemFault) {
                if let sent = try socket.send(rest) {
                    rest = rest.dropFirst(sent)
                } else {
                    _ = await FileWatch.ready(socket.number, for: .writable)
                }
            } catch { return false }
        }
        return true
    }

    private func ending(after limit: Duration) -> Timer {
        let socket = socket
        return Timer(after: limit) { socket.shutDown() }
    }
}

/// A class around a socket, so that several closures can use it.
private final class AgentSocket: Sendable {
    private let socket: StreamSocket

    init(_ socket: consuming StreamSocket) {
        self.socket = socket
    }

    var number: Int32 { socket.descriptor.number }

    func receive(limit: Int) throws(SystemFault) -> ReceivedBytes {
        try socket.receive(limit: limit)
    }

    func send(_ bytes: ArraySlice<UInt8>) throws(SystemFault) -> Int? { try socket.send(bytes) }

    func shutDown() { socket.shutDown() }
}
