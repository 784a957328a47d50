import Loop
import Policy
import Posix
import Wire

/// Accepts connections within the limits, and tells when there are none any more.
@ServiceActor
final class Listener {
    private let socket: PacketListener
    private let clock: Clock
    private let service: any Answering
    private var admission: Admission
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var watch: FileWatch?
    private var resumption: Timer?
    private let becameIdle: (Bool) -> Void

    /// Accepts on a listening socket; `becameIdle` hears true when the last client has left and
    /// false when one comes.
    init(
        _ socket: consuming PacketListener, configuration: Configuration, clock: Clock,
        service: any Answering, becameIdle: @escaping (Bool) -> Void
    ) {
        self.socket = socket
        self.clock = clock
        self.service = service
        self.becameIdle = becameIdle
        admission = Admission(
            total: configuration.count(Settings.connections),
            perUser: configuration.count(Settings.connectionsPerUser))
    }

    /// Begins to accept.
    func open() {
        watch = FileWatch(socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.accept()
        }
    }

    /// Accepts nobody any more, and ends all connections.
    func close() {
        watch?.cancel()
        for connection in connections.values { connection.close() }
    }

    /// Whether a user may make one more request now.
    func mayRequest(uid: UInt32) -> Bool {
        admission.mayRequest(uid: uid, at: clock.sinceBoot())
    }

    private func accept() {
        do throws(SystemFault) {
            guard let accepted = try socket.accept() else { return }
            let peer = try PeerCredentials(of: accepted.descriptor)
            welcome(accepted, peer)
        } catch {
            pause()
        }
    }

    private func welcome(_ accepted: consuming PacketSocket, _ peer: PeerCredentials) {
        admission.sweep(at: clock.sinceBoot())
        guard admission.admit(uid: peer.uid) else {
            if let packet = try? Answer.denial(Denial(.tooManyRequests)).encoded() {
                _ = try? accepted.send(packet)
            }
            return
        }
        let connection = Connection(accepted, peer: peer, service: service) { [weak self] in
            self?.left($0)
        }
        connections[ObjectIdentifier(connection)] = connection
        if connections.count == 1 { becameIdle(false) }
        connection.open()
    }

    /// Out of descriptors: clients stay in the kernel's queue, and the loop must not spin.
    private func pause() {
        watch?.watch(for: [])
        resumption = Timer(after: .seconds(1)) { [weak self] in self?.watch?.watch(for: .readable) }
    }

    private func left(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = nil
        admission.leave(uid: connection.peer.uid)
        if connections.isEmpty { becameIdle(true) }
    }
}
