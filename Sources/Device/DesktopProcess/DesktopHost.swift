// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import DesktopInterface
import Domain
import LoginProtocol
import MainContext
import Posix

/// The places where the process finds the bus and signetd.
package struct DesktopPaths: Sendable {
    /// The daemon's socket.
    package var socket = "/run/signet/signetd.sock"
    /// The uid that the daemon must have.
    package var daemonUID: UInt32 = 0
    /// The socket of the system message bus.
    package var bus = "/run/dbus/system_bus_socket"
    /// How long the process stays without a client; nil for ever.
    package var idle: Duration? = .seconds(30)
    /// For how long a verification awaits a finger at a time, after the first time.
    ///
    /// With `rest`, it keeps a reader with libfprint's usual model of temperature from getting hot
    /// for good, which would then be off for minutes, and not only for this verification.
    package var burst = Duration.seconds(10)
    /// How long the reader rests in between.
    package var rest = Duration.seconds(15)

    /// The places of an installed system.
    package init() {}
}

/// What the objects on the bus share: the bus, the way to signetd, and the limits of callers.
@ServiceActor
final class DesktopHost {
    /// How long the bus may take to answer.
    static let limit = Duration.seconds(5)

    let bus: BusConnection
    let paths: DesktopPaths
    let clock: Clock
    /// Called when a call or a claim has begun or ended.
    var activityChanged: () -> Void = {}
    /// The way to signetd.
    let daemon: DaemonConnections
    private var allowance = CallAllowance()
    private var callers = CallerNames()
    /// What clients were told a moment ago, at any device.
    var recentLists = RecentLists()
    /// How many calls are in progress.
    private(set) var calls = 0

    init(_ bus: BusConnection, paths: DesktopPaths, clock: Clock) {
        self.bus = bus
        self.paths = paths
        self.clock = clock
        daemon = DaemonConnections(paths: paths)
    }

    /// The time since boot.
    var now: Duration { clock.sinceBoot() }

    /// Carries out a call within the limits of its caller, and translates its error.
    ///
    /// - Parameter body: gets the caller.
    func serve(
        _ call: BusMethodCall,
        _ body: (DesktopCaller) async throws(DesktopFault) -> [BusValue]
    ) async throws(BusMethodFault) -> [BusValue] {
        calls += 1
        activityChanged()
        defer {
            calls -= 1
            activityChanged()
        }
        guard let name = BusClientName(call.sender), let uid = await uid(of: call.sender) else {
            throw BusMethodFault(
                DesktopFault(.permissionDenied, "the bus does not say who asks").name,
                "the bus does not say who asks")
        }
        guard allowance.begin(uid: uid, at: now) else {
            throw BusMethodFault(
                "org.freedesktop.DBus.Error.LimitsExceeded", "too many calls. Wait a moment")
        }
        defer { allowance.end(uid: uid, at: now) }
        do throws(DesktopFault) {
            return try await body(DesktopCaller(name: name, uid: uid))
        } catch { throw BusMethodFault(error.name, error.message) }
    }

    /// The user of a client; nil if the bus does not say it.
    private func uid(of client: String) async -> UInt32? {
        if let uid = callers.uid(of: client) { return uid }
        let found = try? await bus.credentials(of: client, limit: Self.limit)
        if let found { callers.note(client, uid: found.uid) }
        return found?.uid
    }

    /// Sends a signal; a claimer that is gone is noticed elsewhere.
    func emit(_ signal: BusEmission, to client: String? = nil) {
        try? bus.emit(signal, to: client)
    }

    /// Makes a request to the daemon.
    func ask(
        _ request: Request, _ hear: (Answer) async -> Void = { _ in }
    ) async throws(DesktopFault) -> Answer {
        try await DaemonCall.ask(request, on: daemon, hear)
    }
}

/// A client of the bus that has made a call.
struct DesktopCaller: Sendable {
    /// The unique name.
    let name: BusClientName
    let uid: UInt32

    /// The account with this name, or the caller's own if the name is empty.
    ///
    /// Throws `permissionDenied` for a name that no account can have.
    func account(named text: String) throws(DesktopFault) -> AccountName {
        if text.isEmpty {
            guard let own = (try? Account.with(uid: uid)).map({ AccountName($0.name) }) else {
                throw DesktopFault(.internal, "there is no account with uid \(uid)")
            }
            return own
        }
        let name = AccountName(text)
        guard name.isPlausible else {
            throw DesktopFault(.permissionDenied, "no account can have this name")
        }
        return name
    }
}
