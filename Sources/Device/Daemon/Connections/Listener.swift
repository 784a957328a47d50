// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix

/// Accepts connections within the limits, and reports when the daemon becomes idle.
///
/// The daemon is idle when there are no connections, or when all of them are passive, that is, only
/// watch for events. A client beyond the limits is answered with `tooManyRequests` and
/// disconnected. A client whose user the kernel does not report is disconnected without an answer.
@ServiceActor
final class Listener {
    /// How many connections to accept for each iteration of the event loop.
    ///
    /// It is large enough that a client which connects in a loop cannot fill the kernel's backlog.
    private static let batch = 32

    private let socket: PacketListener
    private let clock: Clock
    private let service: any Answering
    private let admission: Admission
    private let examiner: PresenceExaminer
    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    /// The connections that only listen.
    private var passive: Set<ObjectIdentifier> = []
    private var watch: FileWatch?
    private var resumption: Timer?
    private let becameIdle: (Bool) -> Void
    private var drained: CheckedContinuation<Void, Never>?

    /// Prepares to accept connections on a listening socket.
    ///
    /// - Parameter becameIdle: called with true when the last active client leaves or becomes
    ///   passive, and with false when one connects or becomes active.
    init(
        _ socket: consuming PacketListener, admission: Admission, examiner: PresenceExaminer,
        clock: Clock, service: any Answering, becameIdle: @escaping (Bool) -> Void
    ) {
        self.socket = socket
        self.clock = clock
        self.service = service
        self.becameIdle = becameIdle
        self.admission = admission
        self.examiner = examiner
    }

    /// Starts accepting.
    func open() {
        watch = FileWatch(socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.accept()
        }
    }

    /// Stops accepting, cancels the requests in progress, and closes all connections.
    ///
    /// Each connection is closed when its request has been answered. After `patience`, and again after
    /// it for as long as the daemon is busy, the remaining ones are closed without an answer.
    func stop(within patience: Duration, isBusy: @escaping () -> Bool) async {
        watch?.cancel()
        resumption?.cancel()
        for connection in connections.values { connection.stop() }
        if connections.isEmpty { return }
        var limit: Timer?
        func look(isBusy wasBusy: Bool) {
            limit = Timer(after: patience) { [weak self] in
                // What has just ended may still have something to write.
                let isBusy = isBusy()
                if isBusy || wasBusy { look(isBusy: isBusy) } else { self?.endStop() }
            }
        }
        look(isBusy: isBusy())
        await withCheckedContinuation { continuation in
            // The last connection may have ended before this continuation was created.
            if connections.isEmpty { continuation.resume() } else { drained = continuation }
        }
        limit?.cancel()
        for connection in connections.values { connection.close() }
    }

    /// Has `stop` wait no longer.
    func endStop() {
        drained?.resume()
        drained = nil
    }

    private func accept() {
        do throws(SystemFault) {
            for _ in 0..<Listener.batch {
                guard let accepted = try socket.accept() else { return }
                // Drop a client whose process cannot be examined, and accept the others.
                guard let peer = try? PeerCredentials(of: accepted.descriptor) else { continue }
                guard admission.mayConnect(uid: peer.uid, at: clock.sinceBoot()) else {
                    turnAway(accepted)
                    continue
                }
                guard let process = try? examiner.client(on: accepted.descriptor) else { continue }
                welcome(accepted, process: process)
            }
        } catch {
            pause()
        }
    }

    /// Starts serving an accepted client, or turns it away if its user has used up the limits.
    private func welcome(_ accepted: consuming PacketSocket, process: ClientProcess) {
        admission.sweep(at: clock.sinceBoot())
        guard admission.admit(uid: process.accountable, asRoot: process.credentials.uid == 0)
        else { return turnAway(accepted) }
        let connection = ClientConnection(accepted, process: process, service: service) {
            [weak self] in
            self?.left($0)
        }
        connection.becamePassive = { [weak self] in self?.becamePassive($0) }
        connection.becameActive = { [weak self] in self?.becameActive($0) }
        if isIdle { becameIdle(false) }
        connections[ObjectIdentifier(connection)] = connection
        connection.open()
    }

    private func turnAway(_ accepted: borrowing PacketSocket) {
        guard let packet = try? Answer.denial(Denial(.tooManyRequests)).encoded() else { return }
        _ = try? accepted.send(packet)
    }

    /// Stops accepting for a second, because accept(2) failed, for example for lack of file
    /// descriptors.
    ///
    /// Clients wait in the kernel's backlog meanwhile. Without the pause, the event loop would
    /// spin.
    private func pause() {
        watch?.watch(for: [])
        resumption = Timer(after: .seconds(1)) { [weak self] in self?.watch?.watch(for: .readable) }
    }

    private func becameActive(_ connection: ClientConnection) {
        let wasIdle = isIdle
        guard passive.remove(ObjectIdentifier(connection)) != nil, wasIdle else { return }
        becameIdle(false)
    }

    private var isIdle: Bool { connections.count == passive.count }

    private func becamePassive(_ connection: ClientConnection) {
        let isNew = passive.insert(ObjectIdentifier(connection)).inserted
        if isNew, isIdle { becameIdle(true) }
    }

    private func left(_ connection: ClientConnection) {
        connections[ObjectIdentifier(connection)] = nil
        let wasActive = passive.remove(ObjectIdentifier(connection)) == nil
        admission.leave(uid: connection.process.accountable)
        if wasActive, isIdle { becameIdle(true) }
        if connections.isEmpty { endStop() }
    }
}
