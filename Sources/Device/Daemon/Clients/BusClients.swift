// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix

/// Finds out who a client of the system bus is, for the requests of `signet-fprint`.
///
/// That process only names the client; the bus itself is asked for its uid and process. So it can
/// name a client that has not asked, but it cannot invent one, nor one of another user or place.
@ServiceActor
final class BusClients {
    /// How long the bus may take to answer.
    private static let limit = Duration.seconds(2)

    private let bus: Logind
    private let examiner: PresenceExaminer
    private let journal: DecisionJournal

    init(bus: Logind, examiner: PresenceExaminer, journal: DecisionJournal) {
        self.bus = bus
        self.examiner = examiner
        self.journal = journal
    }

    /// Returns the client that a request names, with the process that it runs in.
    ///
    /// Where the bus holds the process itself, that is used. Older buses report only its id; the
    /// process that has the id is then held, and the bus asked again, so that the client is still
    /// there while the process is held.
    ///
    /// Throws `notPermitted` if the bus knows no such client or does not answer.
    func client(
        _ name: BusClientName, asking: any Client
    ) async throws(Denial) -> DesktopClient {
        do throws(BusFault) {
            let found = try await bus.credentials(of: name.text, limit: Self.limit)
            let peer = PeerCredentials(pid: found.pid, uid: found.uid, gid: UInt32.max)
            var process = found.process
            if process == nil {
                process = try? ProcessHandle.holding(found.pid)
                let again = try await bus.credentials(of: name.text, limit: Self.limit)
                guard again.pid == found.pid, again.uid == found.uid else { throw .unknown }
            }
            return DesktopClient(
                name, through: asking, process: examiner.client(peer, process: process))
        } catch {
            if error == .cancelled { throw Denial(.cancelled) }
            if error != .unknown {
                journal.fault("the bus did not say who \(name.text) is: \(error)")
            }
            throw Denial(.notPermitted)
        }
    }
}

/// A client of the system bus, for which `signet-fprint` makes a request.
///
/// Answers go to `signet-fprint`. Everything that is judged about a client is judged about the one on
/// the bus: its user, its process and where that is. It is never asked for a password.
@ServiceActor
final class DesktopClient: Client {
    /// The client's name on the bus.
    nonisolated let name: BusClientName
    nonisolated let process: ClientProcess
    /// The connection of `signet-fprint`.
    let connection: any Client

    nonisolated var peer: PeerCredentials { process.credentials }

    fileprivate init(
        _ name: BusClientName, through connection: any Client, process: ClientProcess
    ) {
        self.name = name
        self.connection = connection
        self.process = process
    }

    var requester: Requester? {
        get { connection.requester }
        set { connection.requester = newValue }
    }
    var purpose: Bytes? {
        get { connection.purpose }
        set { connection.purpose = newValue }
    }
    /// Nothing that is served for it awaits a confirmation.
    var confirmation: (any AwaitedConfirmation)?

    nonisolated var hearsLifting: Bool { true }

    func setPassive(_ isPassive: Bool) {}
    func post(_ answer: Answer) { connection.post(answer) }
    func send(_ answer: Answer) async { await connection.send(answer) }
    func askPassword(of account: AccountName) async -> SecretBytes? { nil }
    func consumePassword() -> SecretBytes? { nil }
    func enclose(_ password: SecretBytes) {}
    func askSecret(_ announced: SecretProgress) async throws(Denial) -> SecretBytes {
        throw Denial(.notPermitted)
    }
    func show(_ notice: Notice) async -> Bool { await connection.show(notice) }
    func send(_ secret: SecretBytes) async {}
}
