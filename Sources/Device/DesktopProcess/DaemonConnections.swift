// SPDX-License-Identifier: Apache-2.0
import DesktopInterface
import MainContext
import Posix

/// Connections to signetd, of which one is kept for the next request.
///
/// A client makes several calls in a row, and each is a request. signetd examines a process when it
/// connects, which takes as long as a short request. A connection is given back only by a request that
/// signetd has ended by itself, and is checked before it is used again. It is kept for `lifetime`, so
/// that it does not keep signetd from exiting when idle.
@ServiceActor
final class DaemonConnections {
    /// How long an unused connection is kept.
    private static let lifetime = Duration.seconds(5)
    /// How many requests are made on one connection; signetd takes 256.
    private static let requests = 200

    private let paths: DesktopPaths
    private var spare: DaemonConnection?
    private var expiry: Timer?

    init(paths: DesktopPaths) { self.paths = paths }

    /// A connection for one request; throws `noDaemon` if there is none.
    func take() throws(DesktopFault) -> DaemonConnection {
        if let kept = spare {
            (spare, expiry) = (nil, nil)
            if kept.isUsable { return kept }
        }
        return try connect()
    }

    /// Takes back the connection of a request that signetd has ended.
    func giveBack(_ connection: DaemonConnection) {
        connection.requests += 1
        guard spare == nil, connection.requests < Self.requests else { return }
        keep(connection)
    }

    /// Connects now if no connection is kept, because a request is likely to follow.
    func prepare() {
        if let spare, spare.isUsable { return }
        if let connection = try? connect() { keep(connection) }
    }

    private func keep(_ connection: DaemonConnection) {
        spare = connection
        expiry = Timer(after: Self.lifetime) { [weak self] in
            guard let self else { return }
            (spare, expiry) = (nil, nil)
        }
    }

    private func connect() throws(DesktopFault) -> DaemonConnection {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: paths.socket)
            guard try PeerCredentials(of: socket.descriptor).uid == paths.daemonUID else {
                throw SystemFault("connect", on: paths.socket, code: 0)
            }
            return DaemonConnection(SharedSocket(socket))
        } catch { throw .noDaemon }
    }
}

/// A connection to a process that has the daemon's uid.
@ServiceActor
final class DaemonConnection {
    let socket: SharedSocket
    fileprivate var requests = 0

    fileprivate init(_ socket: SharedSocket) { self.socket = socket }

    /// Whether signetd has neither closed it nor said anything without being asked.
    fileprivate var isUsable: Bool {
        guard case .wouldBlock? = try? socket.receive(limit: 1) else { return false }
        return true
    }
}
