// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Posix

/// A connection to the daemon, whose peer was verified to be root.
struct DaemonConnection: ~Copyable {
    private let socket: PacketSocket
    private let interrupts: Int32

    /// Connects; throws `.noService` if the socket has no listener or the listener is not the
    /// daemon.
    static func open(_ environment: CommandEnvironment) throws(CommandFault) -> DaemonConnection {
        let peer: PeerCredentials
        let connection: DaemonConnection
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: environment.socketPath)
            peer = try PeerCredentials(of: socket.descriptor)
            connection = DaemonConnection(socket: socket, interrupts: environment.interrupts)
        } catch { throw .noService(DaemonConnectionMessages.absent(error.reason.bytes)) }
        guard peer.uid == environment.daemonUID else {
            throw .noService(DaemonConnectionMessages.foreign(uid: peer.uid))
        }
        return connection
    }

    /// Returns the uid of the process that listens at a path; nil if none does.
    static func owner(of path: String) -> UInt32? {
        guard let socket = try? PacketSocket.connect(to: path),
            let peer = try? PeerCredentials(of: socket.descriptor)
        else { return nil }
        return peer.uid
    }

    /// Sends a frame and wipes it; throws `.noService` if the daemon does not accept it.
    borrowing func send(_ packet: consuming Bytes) throws(CommandFault) {
        var packet = packet
        defer { wipe(&packet) }
        do throws(SystemFault) {
            // Frames are far smaller than a socket's buffer, so if it is full, the daemon is not
            // reading.
            guard case .whole = try socket.send(packet) else {
                throw SystemFault("send", code: 11)
            }
        } catch { throw .noService(DaemonConnectionMessages.closed) }
    }

    /// Receives the next packet.
    ///
    /// Throws `.interrupted` after a signal, `.fault` for a packet over the limit, and `.noService`
    /// if no packet arrives within `limit` or the connection ends. Calls `late`, once, when none has
    /// arrived for three seconds.
    borrowing func packet(
        within limit: Duration, late: () -> Void = {}
    ) throws(CommandFault) -> Bytes {
        let deadline = ContinuousClock.now + limit
        var next = min(deadline, .now + .seconds(3))
        while true {
            switch wait(for: socket.descriptor.number, or: interrupts, until: next) {
            case .interrupted: throw .interrupted
            case .timedOut:
                guard next < deadline else { throw .noService(DaemonConnectionMessages.silent) }
                next = deadline
                late()
                continue
            case .readable: break
            }
            let received: Received
            do throws(SystemFault) {
                received = try socket.receive(limit: Frame.maximumLength)
            } catch { throw .noService(DaemonConnectionMessages.closed) }
            switch received {
            case .wouldBlock: continue
            case .end: throw .noService(DaemonConnectionMessages.closed)
            case .tooLong: throw .fault(CommonMessages.malformed)
            case .packet(let packet): return packet
            }
        }
    }

    /// Decodes an answer; throws `.fault` if it is malformed.
    static func decode(_ packet: Bytes) throws(CommandFault) -> Answer {
        do throws(WireFault) {
            return try Answer(decoding: packet)
        } catch { throw .fault(CommonMessages.malformed) }
    }
}

/// Messages about the connection to the daemon.
enum DaemonConnectionMessages {
    /// No program listens on the daemon's socket.
    static func absent(_ reason: Bytes) -> Text {
        """
        the fingerprint service cannot be reached: \(reason). See 'systemctl status \
        signetd.socket'; passwords still work
        """
    }

    /// The program at the socket is not the daemon.
    static func foreign(uid: UInt32) -> Text {
        """
        the fingerprint service's socket belongs to uid \(number: uid), not to root, and was not \
        used. See 'systemctl status signetd.socket'
        """
    }

    /// There was no answer in time.
    static let silent: Text =
        "the fingerprint service does not answer. See 'systemctl status signetd'"

    /// The connection ended before the answer.
    static let closed: Text =
        "the fingerprint service closed the connection. See 'journalctl -t signetd'"
}
