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
///
/// The bus gives a unique name to one connection and never again, and a connection keeps the uid and
/// process that it was made by. So a client is identified once and remembered while it is there: until
/// the bus says that it has left, its process ends, or the connection to the bus does. Where a
/// process is now, and what it may do, is judged at each request.
@ServiceActor
final class BusClients {
    /// How long the bus may take to answer; it may be asked twice while a desktop waits for its call.
    private static let limit = Duration.seconds(7)
    /// How many clients are remembered; the oldest makes room.
    private static let capacity = 32

    private let bus: Logind
    private let examiner: PresenceExaminer
    private let journal: DecisionJournal
    private var known: [BusIdentity] = []

    init(bus: Logind, examiner: PresenceExaminer, journal: DecisionJournal) {
        self.bus = bus
        self.examiner = examiner
        self.journal = journal
    }

    /// Returns the client that a request names, with the process that it runs in; throws as `find`
    /// and `confirm`.
    func client(
        _ name: BusClientName, asking: any Client
    ) async throws(Denial) -> DesktopClient {
        try await confirm(try await find(name), asking: asking)
    }

    /// Finds the client that a request names, as far as others can be asked about it meanwhile.
    ///
    /// Throws `notPermitted` if the bus knows no such client or does not answer.
    func find(_ name: BusClientName) async throws(Denial) -> FoundBusClient {
        known.removeAll { !isCurrent($0) }
        if let identity = known.first(where: { $0.name == name }) {
            return FoundBusClient(identity: identity, again: nil)
        }
        return try await asking(about: name) { () throws(BusFault) in
            let identity = BusIdentity(name, on: bus)
            // Before the question: a client that leaves after the answer is reported.
            identity.following = try await bus.follow(name.text) { [weak identity] in
                identity?.isReported = true
            }
            identity.connection = bus.connections
            let found = try await bus.credentials(of: name.text, limit: Self.limit)
            identity.peer = PeerCredentials(pid: found.pid, uid: found.uid, gid: UInt32.max)
            identity.process = found.process
            if found.process != nil { return FoundBusClient(identity: identity, again: nil) }
            identity.process = try? ProcessHandle.holding(found.pid)
            let again = await Ahead.begin { [bus] () async -> Result<BusCredentials, BusFault> in
                do throws(BusFault) {
                    return .success(try await bus.credentials(of: name.text, limit: Self.limit))
                } catch { return .failure(error) }
            }
            return FoundBusClient(identity: identity, again: again)
        }
    }

    /// Makes sure of a client that was found, and remembers it.
    ///
    /// Where the bus holds the process itself, that is used. Older buses report only its id; the
    /// process that has the id is then held, and the bus asked again, so that the client is still
    /// there while the process is held.
    ///
    /// Throws `notPermitted` if the client has left.
    func confirm(
        _ found: FoundBusClient, asking: any Client
    ) async throws(Denial) -> DesktopClient {
        let identity = found.identity
        if let again = found.again {
            let peer = identity.peer
            try await self.asking(about: identity.name) { () throws(BusFault) in
                let now = try await again.result().get()
                guard now.pid == peer?.pid, now.uid == peer?.uid else { throw .unknown }
            }
        }
        guard let peer = identity.peer, !identity.hasLeft else { throw Denial(.notPermitted) }
        if isCurrent(identity), !known.contains(where: { $0.name == identity.name }) {
            if known.count >= Self.capacity { known.removeFirst() }
            known.append(identity)
        }
        return DesktopClient(
            identity, through: asking,
            process: examiner.client(peer, process: identity.process))
    }

    /// Whether an identity may be used for a later request.
    private func isCurrent(_ identity: BusIdentity) -> Bool {
        !identity.hasLeft && identity.following != nil && identity.process?.hasEnded == false
    }

    /// Asks the bus, and translates its fault into a denial.
    private func asking<Value>(
        about name: BusClientName, _ body: () async throws(BusFault) -> Value
    ) async throws(Denial) -> Value {
        do throws(BusFault) { return try await body() } catch {
            if error == .cancelled { throw Denial(.cancelled) }
            if error != .unknown {
                journal.fault("the bus did not say who \(name.text) is: \(error)")
            }
            throw Denial(.notPermitted)
        }
    }
}

/// What the bus has said about a client.
@ServiceActor
private final class BusIdentity {
    nonisolated let name: BusClientName
    var peer: PeerCredentials?
    var process: ProcessHandle?
    /// Tells when the client leaves the bus.
    var following: BusSubscription?
    /// The number of the daemon's connection to the bus on which the client has this name.
    var connection: UInt64 = 0
    /// Whether the bus has said that the client has left.
    var isReported = false
    private let bus: Logind

    init(_ name: BusClientName, on bus: Logind) {
        self.name = name
        self.bus = bus
    }

    /// Whether the client has left the bus, or cannot be told from another one of its name: on another
    /// connection, which may be to another bus, that may be anyone's.
    var hasLeft: Bool { isReported || connection != bus.connections }
}

/// A client of the bus that is there, and of whose process the bus may have to be asked once more.
@ServiceActor
struct FoundBusClient {
    /// The client's name on the bus.
    var name: BusClientName { identity.name }
    /// Whether it has left the bus, as far as that was reported.
    var hasLeft: Bool { identity.hasLeft }
    fileprivate let identity: BusIdentity
    fileprivate let again: Ahead<Result<BusCredentials, BusFault>>?
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
    private let identity: BusIdentity

    nonisolated var peer: PeerCredentials { process.credentials }

    /// Whether it has left the bus.
    ///
    /// After an answer that came over the bus, this is right about the moment of the question.
    var hasLeft: Bool { identity.hasLeft }

    fileprivate init(
        _ identity: BusIdentity, through connection: any Client, process: ClientProcess
    ) {
        name = identity.name
        self.identity = identity
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
    let proof = SentProof()

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
