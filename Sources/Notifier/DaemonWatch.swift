// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Loop
import Posix

/// Hears from the daemon of touches that are asked for without a terminal, without keeping it up.
///
/// When the daemon ends, the next start of it is waited for, by the time of a file that each gives.
@ServiceActor
final class DaemonWatch {
    /// What the daemon has to say.
    enum News {
        /// A touch is asked for, or over.
        case event(EventAnswer)
        /// The daemon has gone, or is another one: what it asked for is over.
        case gone
        /// Nothing will ever come.
        case failed(Text)
    }

    private let paths: NotifierPaths
    private let account: Bytes
    private let tell: (News) -> Void
    private var marker: Marker?
    private var line: Line?
    private var later: Timer?
    /// How long a daemon that has let us go is left alone.
    private static let patience = Duration.seconds(5)

    /// A connection and what wakes us for it; in this order, so that the watch goes first.
    private struct Line {
        let socket: SharedSocket
        let watch: FileWatch
    }

    private struct Marker {
        let path: SharedPathWatch
        let watch: FileWatch
    }

    /// Watches for an account's touches from `begin()` on; `tell` hears them.
    init(_ paths: NotifierPaths, account: Bytes, tell: @escaping (News) -> Void) {
        self.paths = paths
        self.account = account
        self.tell = tell
    }

    /// Connects, and again whenever the daemon is started anew.
    func begin() {
        connect()
    }

    /// Hears nothing any more.
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
            // First, so that a start right after the end of this connection is not missed.
            try watchForStart()
            let socket = try PacketSocket.connect(to: paths.socket)
            guard try PeerCredentials(of: socket.descriptor).uid == paths.daemonUID else {
                return tell(.failed(NotificationText.foreign))
            }
            guard let request = try? Request.watch(account: account).encoded(),
                case .whole = try socket.send(request)
            else { return tell(.gone) }
            let shared = SharedSocket(socket)
            let watch = FileWatch(shared.number, for: .readable) { [weak self] _ in
                self?.receive()
            }
            line = Line(socket: shared, watch: watch)
        } catch {
            // Where the service is not installed yet, or stopped: its start will tell.
            if marker == nil { fail(error) }
        }
    }

    private func disconnect() {
        guard let line else { return }
        line.watch.cancel()
        self.line = nil
        tell(.gone)
    }

    /// The daemon let us go, or died; it may be there still, and its next start need not be near.
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
            switch try line.socket.receive() {
            case .packet(let packet): take(packet)
            case .wouldBlock: return
            case .end, .tooLong: lose()
            }
        } catch { lose() }
    }

    private func take(_ packet: Bytes) {
        guard let answer = try? Answer(decoding: packet) else { return disconnect() }
        switch answer {
        case .event(let event) where event.account == account: tell(.event(event))
        case .denial(let denial) where denial.reason == .stopping: disconnect()
        case .denial(let denial): tell(.failed(denial.text(account: account)))
        case .event, .notice, .assertion, .passwordWanted, .done, .status, .print, .reader,
            .receipt, .refusal, .signer, .setting, .chainHead, .secretPart, .secret, .vault,
            .secretWanted,
            .importedPrint, .storedPrint, .confirmed, .serverEnabled, .token, .server, .signed,
            .signingKey,
            .macToken, .authorization, .operation, .signedFile, .serverTrouble, .decided:
            disconnect()
        }
    }
}

/// A socket that a structure may hold.
private final class SharedSocket: Sendable {
    private let socket: PacketSocket

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    var number: Int32 { socket.descriptor.number }

    func receive() throws(SystemFault) -> Received {
        try socket.receive(limit: Frame.maximumLength)
    }
}

/// The same for a watch.
private final class SharedPathWatch: Sendable {
    private let watch: PathWatch

    init(_ watch: consuming PathWatch) {
        self.watch = watch
    }

    var number: Int32 { watch.descriptor.number }

    func take() throws(SystemFault) -> Bool { try watch.take() }
}
