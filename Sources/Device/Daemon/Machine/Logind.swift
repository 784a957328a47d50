// SPDX-License-Identifier: Apache-2.0
import DBus
import Gate
import MainContext
import Posix

/// The daemon's connection to the system bus: to logind on it, for suspension and the lid, and for the
/// calls that other parts make.
///
/// While the readers are in use, an inhibitor lock delays suspension until they are closed.
/// Messages on the bus can only end or prevent the wait for a finger; they never authenticate a
/// user. Without a bus, or without logind on it, it reports neither suspension nor a lid;
/// `TouchGuards` then asks the kernel about lids.
@ServiceActor
final class Logind: SuspendState {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    /// The daemon's own bus name.
    ///
    /// The bus policy lets only root send messages to the name's owner; see
    /// packaging/dbus/org.signet.Daemon.conf.
    private static let ownName = "org.signet.Daemon"
    private static let manager = "org.freedesktop.login1.Manager"
    /// The time limit for a call, and for connecting to the bus, which may be slow while the machine
    /// starts. No login waits for it.
    private static let limit = Duration.seconds(5)
    /// How long a login waits for logind's answer about the lid.
    ///
    /// After an answer was late, logins do not wait at all until logind has answered again.
    private static let patience = Duration.milliseconds(100)
    /// How long a login waits while the bus is not connected yet, as for the login that has started
    /// the daemon.
    private static let firstPatience = Duration.milliseconds(20)
    /// How long an announced suspension is believed while the machine is awake, until logind is asked
    /// again, and how often it is.
    private static let (longestWake, looks) = (Duration.seconds(30), 20)

    /// Whether the machine is about to be suspended.
    private(set) var isSuspending = false
    /// How many times the machine has been about to be suspended.
    ///
    /// A user who was present before a suspension need not be present after it.
    private(set) var suspensions: UInt64 = 0

    /// Whether the machine is about to be suspended, or was since it had been suspended so often.
    func hasSlept(since suspensions: UInt64) -> Bool {
        isSuspending || self.suspensions != suspensions
    }

    /// Closes the readers.
    ///
    /// The machine may be suspended when this has returned.
    var closeReaders: () async -> Void = {}
    /// Allows the readers to be used again.
    var openReaders: () async -> Void = {}

    private let socket: String
    private let journal: DecisionJournal
    private var connection: BusConnection?
    /// How often the connection to the bus was made or has ended.
    ///
    /// What clients were called on another connection means nothing on the present one.
    private(set) var connections: UInt64 = 0
    private var isConnecting = false
    /// Why the last attempt to connect has failed; nil if it has not.
    private var trouble: BusFault?
    /// Whether a missing bus has been logged.
    private var isMissed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// logind's unique name on the bus, which no other client can own.
    private var owner: String?
    private var following: BusSubscription?
    /// Whether a change of the owner was reported on this connection.
    private var isOwnerTold = false
    private var sleep: BusSubscription?
    private var isSlow = false
    /// Assumes that the machine is awake if an announced suspension is not withdrawn in time.
    private var disbelief: Timer?

    /// Whether a request has the turn at the readers.
    private var isInUse = false
    /// The inhibitor lock that delays suspension.
    private var lock: ReceivedDescriptor?
    private var isLocking = false
    private var areReadersClosed = false
    private var isClosing = false

    /// Does not connect yet; `socket` is the address of the system bus.
    init(socket: String, journal: DecisionJournal) {
        self.socket = socket
        self.journal = journal
    }

    // MARK: Connecting

    /// Starts to connect, unless the bus is connected, being connected or absent.
    ///
    /// Returns at once.
    func connect() {
        guard connection == nil, !isConnecting else { return }
        guard exists(socket) else {
            trouble = nil
            return
        }
        isConnecting = true
        onService { [self] in
            do throws(BusFault) {
                await join(try await shielded())
                (isMissed, trouble) = (false, nil)
            } catch {
                trouble = error
                if !isMissed {
                    journal.service(
                        error == .timedOut
                            ? "the message bus is slow: the next request tries it again"
                            : "the message bus is not available: \(error)")
                }
                isMissed = true
            }
            isConnecting = false
            let waiting = self.waiting
            self.waiting = []
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Connects, and takes the name that makes the bus refuse messages from anyone but root.
    ///
    /// Otherwise any user could fill the daemon's memory with a message, because the library parses
    /// every message. Without the name, the daemon stays off the bus.
    private func shielded() async throws(BusFault) -> BusConnection {
        let connection = try await BusConnection.connect(socket: socket, limit: Self.limit)
        do throws(BusFault) {
            try await connection.take(name: Self.ownName, limit: Self.limit)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Uses a new connection: follows the owner of logind's name, and takes the present one.
    private func join(_ connection: BusConnection) async {
        guard connection.isOpen else { return }
        self.connection = connection
        connections += 1
        connection.ended = { [weak self] in self?.left() }
        isOwnerTold = false
        following = connection.followOwner(of: Self.name) { [weak self] owner in
            self?.isOwnerTold = true
            self?.take(owner)
        }
        if await !askForOwner(connection) {
            // A bus that is slow has not said that there is no logind.
            onService { [weak self] in
                while await self?.askForOwner(connection) == false {}
            }
        }
    }

    /// Takes the present owner of logind's name; returns false if the bus has not answered in time.
    private func askForOwner(_ connection: BusConnection) async -> Bool {
        var owner: String?
        var isAnswered = true
        do throws(BusFault) {
            owner = try await connection.owner(of: Self.name, limit: Self.limit)
        } catch { isAnswered = error != .timedOut }
        // A change that was reported meanwhile is newer, and so is another connection.
        guard !isOwnerTold, self.connection === connection else { return true }
        take(owner)
        return isAnswered
    }

    /// The bus connection has ended, so everything learnt from it is void.
    private func left() {
        connection = nil
        connections += 1
        following = nil
        (owner, sleep, lock) = (nil, nil, nil)
        wake()
    }

    /// logind has appeared on the bus, has a new owner of its name, or is gone.
    ///
    /// Announcements of the old owner are void. The new owner is asked whether the machine is about
    /// to be suspended; only signals from its unique name count.
    private func take(_ owner: String?) {
        guard let connection else { return }
        (self.owner, sleep, lock) = (owner, nil, nil)
        wake()
        guard let owner else { return }
        var isTold = false
        let signal = BusSignal(
            from: owner, path: Self.path, interface: Self.manager, member: "PrepareForSleep",
            type: "(b)")
        sleep = connection.subscribe(to: signal) { [weak self] values in
            isTold = true
            if values.first?.boolean == true { self?.fallAsleep() } else { self?.wake() }
        }
        delaySleep()
        onService { [self] in
            let isNear = await property("PreparingForSleep")
            // A signal that was received meanwhile is newer.
            if self.owner == owner, isNear == true, !isTold { fallAsleep() }
        }
    }

    /// Calls another service on the bus; all calls of the daemon use this connection.
    ///
    /// It connects first if necessary, because a request that has started the daemon may need a
    /// call before the bus is connected. Throws why there is no connection.
    func call(_ call: BusCall) async throws(BusFault) {
        _ = try await answer(to: call, limit: Self.limit)
    }

    /// Calls another service on the bus as `call` does, and waits at most `limit` for its answer.
    func answer(to call: BusCall, limit: Duration) async throws(BusFault) -> BusAnswer {
        try await madeConnection().call(call, limit: limit)
    }

    /// Asks the bus who a client is; see `BusConnection.credentials`.
    func credentials(
        of client: String, limit: Duration
    ) async throws(BusFault) -> BusCredentials {
        try await madeConnection().credentials(of: client, limit: limit)
    }

    /// Calls `left` when a client leaves the bus, until the result is released.
    ///
    /// A client that the bus knows in an answer to a later question has not left before this.
    func follow(
        _ client: String, left: @escaping @ServiceActor () -> Void
    ) async throws(BusFault) -> BusSubscription? {
        try await madeConnection().followOwner(of: client) { if $0 == nil { left() } }
    }

    /// Returns the connection, which is made first if necessary; throws why there is none.
    private func madeConnection() async throws(BusFault) -> BusConnection {
        connect()
        await connected()
        guard let connection else { throw trouble ?? .closed }
        return connection
    }

    /// Waits until a connection in progress has succeeded or failed.
    private func connected() async {
        guard isConnecting else { return }
        await withCheckedContinuation { continuation in
            if isConnecting { waiting.append(continuation) } else { continuation.resume() }
        }
    }

    /// A boolean property of logind's manager; nil if it cannot be read within the limit or has
    /// another type.
    private func property(_ name: String) async -> Bool? {
        guard let connection, let owner else { return nil }
        let answer = try? await connection.call(
            .property(name, of: Self.manager, at: Self.path, from: owner), limit: Self.limit)
        return answer?.values.first?.variant?.boolean
    }
}

// MARK: - The lid

extension Logind {
    /// Whether the lid is closed; nil if logind does not answer quickly enough.
    ///
    /// - Parameter hasOther: whether there is another source. If so, a connection in progress is
    ///   not waited for.
    func isLidClosed(elseAsking hasOther: Bool) async -> Bool? {
        connect()
        guard connection != nil || isConnecting else { return nil }
        if isConnecting {
            if hasOther { return nil }
            return await unlessLate(Self.firstPatience) { [self] in await askForLid() } ?? nil
        }
        if isSlow {
            onService { [self] in await askForLid() }
            return nil
        }
        guard let answer = await unlessLate(Self.patience, { [self] in await askForLid() }) else {
            isSlow = true
            return nil
        }
        return answer
    }

    @discardableResult
    private func askForLid() async -> Bool? {
        await connected()
        let answer = await property("LidClosed")
        if answer != nil { isSlow = false }
        return answer
    }
}

// MARK: - Sleep

extension Logind {
    /// Called when the readers begin or cease to be in use; while they are, suspension is delayed
    /// until they are closed.
    func readersAreInUse(_ isUsed: Bool) {
        isInUse = isUsed
        if isUsed {
            connect()
            delaySleep()
        } else if !isSuspending {
            // If the machine is about to be suspended, the readers are closed first.
            lock = nil
        }
    }

    /// Takes the lock that delays suspension, if it is needed and not held.
    private func delaySleep() {
        guard let connection, let owner, isInUse, lock == nil, !isLocking, !isSuspending else {
            return
        }
        isLocking = true
        onService { [self] in
            let call = BusCall(
                to: owner, path: Self.path, interface: Self.manager, member: "Inhibit",
                arguments: [
                    .string("sleep"), .string("signetd"), .string("closing the fingerprint reader"),
                    .string("delay"),
                ], answer: "(h)")
            var answer: BusAnswer?
            var isLate = false
            do throws(BusFault) {
                answer = try await connection.call(call, limit: Self.limit)
            } catch { isLate = error == .timedOut }
            isLocking = false
            guard owner == self.owner, !isLate else { return delaySleep() }
            // The lock is released at once if it is no longer needed or the readers are already
            // closed.
            if isInUse, !areReadersClosed { lock = answer?.descriptor }
        }
    }

    /// Counts a suspension, and closes the readers before it.
    private func fallAsleep() {
        guard !isSuspending else { return }
        isSuspending = true
        suspensions += 1
        journal.service("the machine is about to sleep")
        // This timer does not run during suspension. A sender that never withdraws its announcement
        // is not believed for ever.
        disbelieve(afterLooks: Self.looks)
        settle()
    }

    /// Ends an announced suspension once logind says that none is near, and after so many looks in any
    /// case.
    private func disbelieve(afterLooks left: Int) {
        let suspension = suspensions
        disbelief = Timer(after: Self.longestWake) { [weak self] in
            onService {
                guard let self, self.isSuspending, self.suspensions == suspension else { return }
                let isNear = await self.property("PreparingForSleep")
                guard self.isSuspending, self.suspensions == suspension else { return }
                if isNear == false || left == 1 { return self.wake() }
                self.disbelieve(afterLooks: left - 1)
            }
        }
    }

    /// Ends an announced suspension, and opens the readers again.
    private func wake() {
        guard isSuspending else { return }
        isSuspending = false
        disbelief = nil
        journal.service("the machine has woken up")
        settle()
    }

    /// Closes or opens the readers, one step after the other, until they are in the required state.
    private func settle() {
        guard !isClosing else { return }
        isClosing = true
        onService { [self] in
            while areReadersClosed != isSuspending {
                areReadersClosed = isSuspending
                if areReadersClosed { await closeReaders() } else { await openReaders() }
                if areReadersClosed || !isInUse { lock = nil }
            }
            isClosing = false
            delaySleep()
        }
    }
}
