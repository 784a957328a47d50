// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import LoginProtocol
import MainContext
import Posix

/// One request to signetd, on a connection that it has to itself until it has ended.
///
/// A frame that cannot be decoded ends the request, and so does
/// a daemon that does not end it soon after it was cancelled.
@ServiceActor
final class DaemonCall {
    /// How long the daemon may take to end a cancelled request, also on a slow disk.
    private static let patience = Duration.seconds(20)

    private let connection: DaemonConnection
    private let connections: DaemonConnections
    private var limit: Timer?
    private var isOver = false
    private var isCancelled: Bool { limit != nil }
    private var socket: SharedSocket { connection.socket }

    private init(_ connection: DaemonConnection, of connections: DaemonConnections) {
        self.connection = connection
        self.connections = connections
    }

    /// Sends a request; throws `noDaemon` if that is not possible.
    static func begin(
        _ request: Request, on connections: DaemonConnections
    ) throws(DesktopFault) -> DaemonCall {
        let connection = try connections.take()
        guard let packet = try? request.encoded(),
            case .whole? = try? connection.socket.send(packet)
        else { throw .noDaemon }
        return DaemonCall(connection, of: connections)
    }

    /// Makes a request and returns the answer that ends it; nil if the daemon does not end it.
    ///
    /// - Parameter hear: receives the answers before it, each after the one before was taken.
    static func ask(
        _ request: Request, on connections: DaemonConnections,
        _ hear: (Answer) async -> Void = { _ in }
    ) async throws(DesktopFault) -> Answer {
        guard let last = await (try begin(request, on: connections)).last(hear) else {
            throw .noDaemon
        }
        return last
    }

    /// Receives the answers, and returns the one that ends the request; nil if the connection ends
    /// first.
    ///
    /// The connection serves a later request then, unless this one was cancelled: signetd may not have
    /// read that yet, and would take it for a violation of the protocol.
    func last(_ hear: (Answer) async -> Void) async -> Answer? {
        defer {
            isOver = true
            limit?.cancel()
        }
        while true {
            _ = await FileWatch.ready(socket.number, for: .readable)
            let received: Received
            do throws(SystemFault) {
                received = try socket.receive(limit: Frame.maximumLength)
            } catch { return nil }
            switch received {
            case .wouldBlock: continue
            case .end, .tooLong: return nil
            case .packet(let packet):
                guard let answer = try? Answer(decoding: packet) else { return nil }
                if answer.endsRequest {
                    if !isCancelled { connections.giveBack(connection) }
                    return answer
                }
                await hear(answer)
            }
        }
    }

    /// Cancels the request; `last` returns soon afterwards.
    func cancel() {
        guard !isOver, !isCancelled else { return }
        limit = Timer(after: Self.patience) { [socket] in socket.shutDown() }
        guard let packet = try? Request.cancel.encoded(), (try? socket.send(packet)) == .whole
        else { return socket.shutDown() }
    }
}

extension Answer {
    /// Whether it ends a request of this process.
    fileprivate var endsRequest: Bool {
        switch self {
        case .done, .denial: true
        case .own(let answer): answer.meaning == .end
        default: false
        }
    }

    /// Returns the answer if it is of this type.
    ///
    /// Throws the denial in its place, and `noDaemon` for any other answer.
    func admitted<Own: DaemonAnswer>(
        _ type: Own.Type
    ) throws(DesktopFault) -> Own {
        if case .denial(let denial) = self { throw DesktopFault(of: denial) }
        guard let answer = own(type) else { throw .noDaemon }
        return answer
    }
}
