// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginProtocol
import Posix

/// A connection to the daemon, whose other end is proved to be root's.
struct Connection: ~Copyable {
    private let socket: PacketSocket
    private let interrupts: Int32

    /// Connects; throws `.noService` where nobody listens or the listener is not the daemon.
    static func open(_ surroundings: CommandEnvironment) throws(CommandFault) -> Connection {
        let peer: PeerCredentials
        let connection: Connection
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: surroundings.socketPath)
            peer = try PeerCredentials(of: socket.descriptor)
            connection = Connection(socket: socket, interrupts: surroundings.interrupts)
        } catch { throw .noService(CommandText.absent(error.description.bytes)) }
        guard peer.uid == surroundings.daemonUID else {
            throw .noService(CommandText.foreign(uid: peer.uid))
        }
        return connection
    }

    /// Who listens at a path; nil where nobody does.
    static func owner(of path: String) -> UInt32? {
        guard let socket = try? PacketSocket.connect(to: path),
            let peer = try? PeerCredentials(of: socket.descriptor)
        else { return nil }
        return peer.uid
    }

    /// Sends a frame and wipes it.
    borrowing func send(_ packet: consuming Bytes) throws(CommandFault) {
        var packet = packet
        defer { wipe(&packet) }
        do throws(SystemFault) {
            // Frames are far smaller than a socket's buffer: one that is full is not read.
            guard case .whole = try socket.send(packet) else {
                throw SystemFault("send", code: 11)
            }
        } catch { throw .noService(CommandText.closed) }
    }

    /// The next packet; throws when it does not come in time, is malformed, or is interrupted.
    borrowing func packet(within limit: Duration) throws(CommandFault) -> Bytes {
        let deadline = ContinuousClock.now + limit
        while true {
            switch wait(for: socket.descriptor.number, or: interrupts, until: deadline) {
            case .interrupted: throw .interrupted
            case .timedOut: throw .noService(CommandText.silent)
            case .readable: break
            }
            let received: Received
            do throws(SystemFault) {
                received = try socket.receive(limit: Frame.maximumLength)
            } catch { throw .noService(CommandText.closed) }
            switch received {
            case .wouldBlock: continue
            case .end: throw .noService(CommandText.closed)
            case .tooLong: throw .fault(CommandText.malformed)
            case .packet(let packet): return packet
            }
        }
    }

    /// The answer that a packet carries.
    static func decode(_ packet: Bytes) throws(CommandFault) -> Answer {
        do throws(WireFault) {
            return try Answer(decoding: packet)
        } catch { throw .fault(CommandText.malformed) }
    }
}
