// SPDX-License-Identifier: Apache-2.0
import DBus
import DesktopInterface
import MainContext
import Posix
import Systemd

/// The process that answers desktops, from start to exit.
///
/// It owns `net.reactivated.Fprint` on the system bus and turns each call into a request that
/// signetd may refuse. It has no reader, no key and no state.
@ServiceActor
package final class DesktopProgram {
    /// How long the bus may take to accept this process, and then to give it its name, while the
    /// machine starts; both together are less than systemd waits.
    private static let startLimit = Duration.seconds(40)

    private let host: DesktopHost
    private let devices: DeviceList
    private let exports: [BusExport]
    private let end: (Int32) -> Void
    private let sleepDelay: SleepDelay
    private var idle: Timer?
    private var signals: Signals?
    private var isStopping = false

    private init(_ host: DesktopHost, end: @escaping (Int32) -> Void) throws(BusFault) {
        self.host = host
        self.end = end
        let devices = DeviceList(host: host)
        self.devices = devices
        sleepDelay = SleepDelay(bus: host.bus) { await devices.awaitScans() }
        exports = [
            try host.bus.export(
                ManagerObject(host: host, devices: devices),
                at: InterfaceDescription.managerPath, interfaces: InterfaceDescription.managerXML),
            try host.bus.export(
                RootObject(host: host, devices: devices), at: InterfaceDescription.root,
                interfaces: InterfaceDescription.rootXML),
        ]
    }

    /// Serves until SIGTERM or SIGINT, until the bus ends, or until there was no client for
    /// `paths.idle`.
    ///
    /// Must be called on the process's main thread, which runs the main loop.
    ///
    /// - Returns: the exit status, 1 if the process could not start or the bus has ended.
    package nonisolated static func run(
        paths: DesktopPaths = DesktopPaths(), clock: Clock = .system
    ) -> Int32 {
        outliveClosedPipes()
        let status = DesktopStatus()
        onService {
            let finish: (Int32) -> Void = { value in
                status.value = value
                MainLoop.quit()
            }
            do throws(BusFault) {
                let bus = try await BusConnection.connect(
                    socket: paths.bus, limit: startLimit)
                let host = DesktopHost(bus, paths: paths, clock: clock)
                let program = try DesktopProgram(host, end: finish)
                status.program = program
                try await program.serve()
            } catch {
                complain("signet-fprint: cannot start: \(error)")
                finish(1)
            }
        }
        MainLoop.run()
        return status.value
    }

    private func serve() async throws(BusFault) {
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop(0) }
        host.bus.ended = { [weak self] in self?.stop(1) }
        // The devices are there before the name is, so that no client sees an incomplete list.
        await devices.refresh()
        host.activityChanged = { [weak self] in self?.settle() }
        // Starting does not wait for a logind that does not answer.
        onService { [sleepDelay] in await sleepDelay.begin() }
        try await host.bus.take(name: InterfaceDescription.name, limit: Self.startLimit)
        Readiness.ready.notify()
        settle()
    }

    /// Starts the idle timer if there is no client, and stops it otherwise.
    private func settle() {
        idle = nil
        guard let time = host.paths.idle, host.calls == 0, !devices.isInUse, !isStopping else {
            return
        }
        idle = Timer(after: time) { [weak self] in self?.leave() }
    }

    /// Gives the name up and exits, unless a call has arrived by then.
    ///
    /// From the moment at which the name is free, the bus starts a new process for a call.
    private func leave() {
        onService { [self] in
            try? await host.bus.release(name: InterfaceDescription.name, limit: DesktopHost.limit)
            guard host.calls == 0, !devices.isInUse else {
                // Without the name, its clients can still finish what they have begun.
                return settle()
            }
            stop(0)
        }
    }

    private func stop(_ status: Int32) {
        guard !isStopping else { return }
        isStopping = true
        (idle, signals) = (nil, nil)
        Readiness.stopping.notify()
        end(status)
    }
}

/// Written on the service's thread, read when that thread is gone.
// SAFETY: MainLoop.run joins the service's thread before it returns.
private final class DesktopStatus: @unchecked Sendable {
    var value: Int32 = 0
    var program: DesktopProgram?
}
