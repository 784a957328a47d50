// SPDX-License-Identifier: Apache-2.0
import Bus
import Gate
import Loop
import Posix

/// What logind says: that the machine is about to sleep, and whether its lid is closed. It is told
/// that a finger is awaited, so that sleep waits until the reader is closed.
///
/// Nothing that comes over the bus lets anybody in: it ends or forbids the wait for a finger. Without
/// a bus, or without logind on it, there is no sleep and no lid here.
@ServiceActor
final class Logind: SuspendState {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    /// Nobody but root may send anything to whoever has it: dbus/org.signet.Daemon.conf.
    private static let ownName = "org.signet.Daemon"
    private static let manager = "org.freedesktop.login1.Manager"
    /// How long a call, and the way to the bus, may take.
    private static let limit = Duration.seconds(1)
    /// How long a login waits for an answer; who is later once is not waited for until they answer.
    private static let patience = Duration.milliseconds(100)
    /// The same for the login that the daemon was started by, while the bus is not reached.
    private static let firstPatience = Duration.milliseconds(20)
    /// How long it is believed that sleep is near while the machine is awake.
    private static let longestWake = Duration.seconds(30)

    /// Whether the machine is about to sleep.
    private(set) var isSuspending = false
    /// How often it has been: whoever was there before a sleep need not be there after it.
    private(set) var suspensions: UInt64 = 0
    /// Closes the readers; the machine sleeps when it has returned.
    var closeReaders: () async -> Void = {}
    /// Lets the readers be used again.
    var openReaders: () async -> Void = {}

    private let socket: String
    private let journal: DecisionJournal
    private var connection: BusConnection?
    private var isConnecting = false
    /// Whether it was said that there is no bus.
    private var isMissed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// The name of logind's that nobody else can have.
    private var owner: String?
    private var following: BusSubscription?
    private var sleep: BusSubscription?
    private var isSlow = false
    private var disbelief: Timer?

    private var isInUse = false
    private var lock: ReceivedDescriptor?
    private var isLocking = false
    private var areReadersClosed = false
    private var isClosing = false

    /// Is on no bus yet; `socket` is where the system's listens.
    init(socket: String, journal: DecisionJournal) {
        self.socket = socket
        self.journal = journal
    }

    // MARK: The way there

    /// Connects, unless that is done or under way; nobody waits for it.
    func connect() {
        guard connection == nil, !isConnecting, exists(socket) else { return }
        isConnecting = true
        onService { [self] in
            do throws(BusFault) {
                await join(try await shielded())
                isMissed = false
            } catch {
                if !isMissed { journal.service("no message bus: \(error)") }
                isMissed = true
            }
            isConnecting = false
            let waiting = self.waiting
            self.waiting = []
            for continuation in waiting { continuation.resume() }
        }
    }

    /// A connection that only root can send anything to. Others could fill the daemon's memory with
    /// one message, which the library takes apart whatever it is.
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

    private func join(_ connection: BusConnection) async {
        guard connection.isOpen else { return }
        self.connection = connection
        connection.ended = { [weak self] in self?.left() }
        var isTold = false
        following = connection.followOwner(of: Self.name) { [weak self] owner in
            isTold = true
            self?.take(owner)
        }
        let owner = try? await connection.owner(of: Self.name, limit: Self.limit)
        // What was told meanwhile is newer.
        if !isTold { take(owner) }
    }

    /// The bus has ended: what was known holds no more.
    private func left() {
        connection = nil
        following = nil
        (owner, sleep, lock) = (nil, nil, nil)
        wake()
    }

    /// Somebody is logind now, or nobody. Whoever it is knows whether the machine is about to sleep;
    /// what another one said, and did not take back, holds no more.
    private func take(_ owner: String?) {
        guard let connection else { return }
        (self.owner, sleep, lock) = (owner, nil, nil)
        wake()
        guard let owner else { return }
        var isTold = false
        let signal = BusSignal(
            from: owner, Self.path, Self.manager, "PrepareForSleep", type: "(b)")
        sleep = connection.subscribe(to: signal) { [weak self] values in
            isTold = true
            if values.first?.boolean == true { self?.fallAsleep() } else { self?.wake() }
        }
        delaySleep()
        onService { [self] in
            let isNear = await property("PreparingForSleep")
            // What was told meanwhile is newer.
            if self.owner == owner, isNear == true, !isTold { fallAsleep() }
        }
    }

    /// Calls somebody else on the bus: this is the daemon's one way there.
    func call(_ call: BusCall) async throws(BusFault) {
        guard let connection else { throw .closed }
        _ = try await connection.call(call, limit: Self.limit)
    }

    private func property(_ name: String) async -> Bool? {
        guard let connection, let owner else { return nil }
        let answer = try? await connection.call(
            .property(name, of: Self.manager, at: Self.path, from: owner), limit: Self.limit)
        return answer?.values.first?.variant?.boolean
    }
}

// MARK: - The lid

extension Logind {
    /// Whether the lid is closed; nil where logind does not say so at once, or is not reached yet and
    /// somebody else can be asked.
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
        if isConnecting {
            await withCheckedContinuation { continuation in
                if isConnecting { waiting.append(continuation) } else { continuation.resume() }
            }
        }
        let answer = await property("LidClosed")
        if answer != nil { isSlow = false }
        return answer
    }
}

// MARK: - Sleep

extension Logind {
    /// Sleep shall wait from now on until the readers are closed, or need not any more.
    func readersAreInUse(_ isUsed: Bool) {
        isInUse = isUsed
        if isUsed {
            connect()
            delaySleep()
        } else if !isSuspending {
            // On the way to sleep, the readers are closed first.
            lock = nil
        }
    }

    /// Takes the lock that delays sleep, if it is wanted and not held.
    private func delaySleep() {
        guard let connection, let owner, isInUse, lock == nil, !isLocking, !isSuspending else {
            return
        }
        isLocking = true
        onService { [self] in
            let call = BusCall(
                to: owner, Self.path, Self.manager, "Inhibit",
                [
                    .string("sleep"), .string("signetd"), .string("closing the fingerprint reader"),
                    .string("delay"),
                ], answer: "(h)")
            let answer = try? await connection.call(call, limit: Self.limit)
            isLocking = false
            guard owner == self.owner else { return delaySleep() }
            // Released at once where nobody waits any more, or the readers are closed already.
            if isInUse, !areReadersClosed { lock = answer?.descriptor }
        }
    }

    private func fallAsleep() {
        guard !isSuspending else { return }
        isSuspending = true
        suspensions += 1
        journal.service("the machine is about to sleep")
        // Time stands still in sleep: whoever does not take it back is not believed for ever.
        disbelief = Timer(after: Self.longestWake) { [weak self] in self?.wake() }
        settle()
    }

    private func wake() {
        guard isSuspending else { return }
        isSuspending = false
        disbelief = nil
        journal.service("the machine is awake")
        settle()
    }

    /// Closes the readers or lets them be used, one after the other, until that is as it should be.
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
