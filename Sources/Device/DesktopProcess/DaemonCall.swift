// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import LoginProtocol
import MainContext
import Posix

/// One request to signetd, on a connection of its own.
///
/// The peer must have the daemon's uid. A frame that cannot be decoded ends the request, and so does
/// a daemon that does not end it soon after it was cancelled.
@ServiceActor
final class DaemonCall {
    /// How long the daemon may take to end a cancelled request.
    private static let patience = Duration.seconds(5)

    private let socket: SharedSocket
    private var limit: Timer?
    private var isOver = false

    private init(_ socket: SharedSocket) {
        self.socket = socket
    }

    /// Connects and sends a request; throws `noDaemon` if that is not possible.
    static func begin(
        _ request: Request, paths: DesktopPaths
    ) throws(DesktopFault) -> DaemonCall {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: paths.socket)
            guard try PeerCredentials(of: socket.descriptor).uid == paths.daemonUID,
                let packet = try? request.encoded(), case .whole = try socket.send(packet)
            else { throw SystemFault("connect", on: paths.socket, code: 0) }
            return DaemonCall(SharedSocket(socket))
        } catch { throw .noDaemon }
    }

    /// Makes a request and returns the answer that ends it; nil if the daemon does not end it.
    ///
    /// - Parameter hear: receives the answers before it, each after the one before was taken.
    static func ask(
        _ request: Request, paths: DesktopPaths, _ hear: (Answer) async -> Void = { _ in }
    ) async throws(DesktopFault) -> Answer {
        guard let last = await (try begin(request, paths: paths)).last(hear) else {
            throw .noDaemon
        }
        return last
    }

    /// Receives the answers, and returns the one that ends the request; nil if the connection ends
    /// first.
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
                if answer.endsRequest { return answer }
                await hear(answer)
            }
        }
    }

    /// Cancels the request; `last` returns soon afterwards.
    func cancel() {
        guard !isOver, limit == nil else { return }
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
}
