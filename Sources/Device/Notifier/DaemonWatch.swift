// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix

/// Receives the daemon's events about touches that have no prompt in a terminal.
///
/// A connection does not keep the daemon from exiting when it is idle. After it has exited, its
/// next start is noticed by a file in the state directory, which the daemon touches when it starts.
/// The peer must have the daemon's uid.
@ServiceActor
final class DaemonWatch {
    /// The reports of the watch.
    enum News {
        /// A touch was requested, or has ended.
        case event(EventAnswer)
        /// The daemon has exited or was replaced, so none of its touches is still requested.
        case gone
        /// No further event will arrive, for this reason.
        case failed(Text)
    }

    private let paths: NotifierPaths
    private let account: AccountName
    private let tell: (News) -> Void
    private var marker: Marker?
    private var line: Line?
    private var later: Timer?
    /// How long to wait before connecting again after the daemon has closed the connection.
    private static let patience = Duration.seconds(5)

    /// A connection and its watch, which is cancelled before the socket is closed.
    private struct Line {
        let socket: SharedSocket
        let watch: FileWatch
    }

    private struct Marker {
        let path: SharedPathWatch
        let watch: FileWatch
    }

    /// Prepares to watch for an account's touches; `tell` is called with the news after `begin()`.
    init(_ paths: NotifierPaths, account: AccountName, tell: @escaping (News) -> Void) {
        self.paths = paths
        self.account = account
        self.tell = tell
    }

    /// Connects, and connects again each time the daemon has been started again.
    func begin() {
        connect()
    }

    /// Stops watching; `tell` is no longer called.
    func end() {
        later?.cancel()
        line?.watch.cancel()
        marker?.watch.cancel()
        line = nil
        marker = nil
    }

    private func connect() {
        disconnect()
        later?.cancel()
        do throws(SystemFault) {
            // The watch is set up before connecting, so that a start right after this connection
            // ends is not missed.
            try watchForStart()
            let socket = try PacketSocket.connect(to: paths.socket)
            guard try PeerCredentials(of: socket.descriptor).uid == paths.daemonUID else {
                return tell(.failed(NotificationText.foreign))
            }
            guard let request = try? Request.watch(account: account).encoded(),
                case .whole = try socket.send(request)
            else {
                tell(.gone)
                return lose()
            }
            let shared = SharedSocket(socket)
            let watch = FileWatch(shared.number, for: .readable) { [weak self] _ in
                self?.receive()
            }
            line = Line(socket: shared, watch: watch)
        } catch {
            // The service is not installed yet, or is stopped; its start will be noticed.
            if marker == nil { fail(error) }
        }
    }

    private func disconnect() {
        guard let line else { return }
        line.watch.cancel()
        self.line = nil
        tell(.gone)
    }

    /// Disconnects because the daemon has closed the connection or crashed, and connects again
    /// later.
    ///
    /// The daemon may still be running, so its next start may be far off.
    private func lose() {
        disconnect()
        later = Timer(after: Self.patience) { [weak self] in self?.connect() }
    }

    private func watchForStart() throws(SystemFault) {
        guard marker == nil else { return }
        let path = SharedPathWatch(try PathWatch(for: "device-id", in: paths.state))
        let watch = FileWatch(path.number, for: .readable) { [weak self] _ in self?.started() }
        marker = Marker(path: path, watch: watch)
    }

    private func started() {
        do throws(SystemFault) {
            if let marker, try marker.path.take() { connect() }
        } catch { fail(error) }
    }

    private func fail(_ fault: SystemFault) {
        tell(.failed(NotificationText.absent(Bytes(fault.description.utf8))))
    }

    private func receive() {
        guard let line else { return }
        do throws(SystemFault) {
            switch try line.socket.receive(limit: Frame.maximumLength) {
            case .packet(let packet): take(packet)
            case .wouldBlock: return
            case .end, .tooLong: lose()
            }
        } catch { lose() }
    }

    private func take(_ packet: Bytes) {
        guard let answer = try? Answer(decoding: packet) else { return lose() }
        switch answer {
        case .event(let event) where event.account == account: tell(.event(event))
        case .denial(let denial) where denial.reason == .stopping: disconnect()
        case .denial(let denial): tell(.failed(denial.text(account: account)))
        default: lose()
        }
    }
}

/// A class around a watch, so that a structure can contain it.
private final class SharedPathWatch: Sendable {
    private let watch: PathWatch

    init(_ watch: consuming PathWatch) {
        self.watch = watch
    }

    var number: Int32 { watch.descriptor.number }

    func take() throws(SystemFault) -> Bool { try watch.take() }
}
