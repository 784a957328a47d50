// SPDX-License-Identifier: Apache-2.0
import DBus
import MainContext
import Posix

/// Delays the machine's sleep until the scans of desktops have ended, and their claimers know it.
///
/// The readers themselves are closed by signetd, which has a lock of its own. Without logind on the
/// bus nothing is delayed. Only logind's unique name is believed; what it announces can end scans,
/// and nothing else.
@ServiceActor
final class SleepDelay {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"

    private let bus: BusConnection
    /// Called before a sleep, for which the lock is held until it returns.
    private let endScans: () async -> Void
    private var following: BusSubscription?
    private var sleep: BusSubscription?
    private var owner: String?
    private var lock: ReceivedDescriptor?
    /// How often the machine's state has changed, so that a late answer of logind's is noticed.
    private var changes: UInt64 = 0

    /// Does nothing yet.
    init(bus: BusConnection, endScans: @escaping () async -> Void) {
        self.bus = bus
        self.endScans = endScans
    }

    /// Begins to follow logind; returns when the lock is held, if there is logind.
    func begin() async {
        var isTold = false
        following = bus.followOwner(of: Self.name) { [weak self] owner in
            isTold = true
            onService { await self?.take(owner) }
        }
        let owner = try? await bus.patiently(while: { !isTold }) { () throws(BusFault) in
            try await bus.owner(of: Self.name, limit: DesktopHost.limit)
        }
        // A change that was reported meanwhile is newer.
        if !isTold { await take(owner) }
    }

    private func take(_ owner: String?) async {
        (self.owner, sleep, lock) = (owner, nil, nil)
        changes += 1
        guard let owner else { return }
        sleep = bus.subscribe(
            to: BusSignal(
                from: owner, path: Self.path, interface: Self.manager, member: "PrepareForSleep",
                type: "(b)")
        ) { [weak self] values in
            let isSleeping = values.first?.boolean == true
            onService { await isSleeping ? self?.fallAsleep() : self?.wake() }
        }
        await hold()
    }

    private func fallAsleep() async {
        note("Preparing devices for sleep")
        changes += 1
        let change = changes
        await endScans()
        guard change == changes else { return }
        lock = nil
        note("Released delay inhibitor for sleep")
    }

    private func wake() async {
        note("Preparing devices for resume")
        changes += 1
        await hold()
    }

    /// Takes the lock, unless it is held.
    private func hold() async {
        guard let owner, lock == nil else { return }
        let change = changes
        let call = BusCall(
            to: owner, path: Self.path, interface: Self.manager, member: "Inhibit",
            arguments: [
                .string("sleep"), .string("signet-fprint"), .string("ending fingerprint scans"),
                .string("delay"),
            ], answer: "(h)")
        let answer = try? await bus.patiently(while: { change == changes }) {
            () throws(BusFault) in try await bus.call(call, limit: DesktopHost.limit)
        }
        // Released at once if the machine is about to sleep by now.
        guard change == changes, let descriptor = answer?.descriptor else { return }
        lock = descriptor
        note("Got delay inhibitor for sleep")
    }

    /// Logs for developers, at the level debug.
    ///
    /// fprintd's own tests look for these words.
    private func note(_ text: String) { complain("<7>signet-fprint: \(text)") }
}
