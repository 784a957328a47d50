// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DesktopInterface
import Foundation
import Glibc
import LoginProtocol
import MainContext
import Posix
import TestSupport
import Testing

@testable import DesktopProcess

extension DaemonTests {
    @Suite("signet-fprint before the machine sleeps") struct DesktopSleepTests {
        @Test("waits for several scans of one reader, of which one ends while it waits for another")
        func several() throws {
            let scratch = try Scratch()
            let bus = try PrivateBus(socket: scratch.at("bus"))
            let signetd = try PlayedSignetd(at: scratch.at("signetd"))
            let logind = try bus.startLogind()
            defer { logind.signal(SIGKILL) }
            let notices = try ReadinessNotices(at: scratch.at("notify"))
            let program = try Program(
                Command(
                    [
                        Layout.products + "/testfixture", "desktop", scratch.at("signetd"),
                        bus.socket, "-", scratch.at("passed"),
                    ], environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
            defer { program.signal(SIGKILL) }
            #expect(notices.hearReady(within: .patience))
            try bus.awaitInhibitors(1)
            // Each of these leaves a scan that signetd does not end yet.
            for _ in 0..<5 {
                let client = try DesktopBusClient(on: bus)
                let claimed = try client.call("Claim", "daemon")
                #expect(claimed == .done, "\(program.errors)")
                let started = try client.call("VerifyStart", "any")
                #expect(started == .done, "\(program.errors)")
                try client.leave()
                try signetd.awaitCancel()
            }
            let slept = DispatchedEvent()
            Thread.detachNewThread {
                _ = try? bus.sleep()
                slept.happen()
            }
            // It waits for any one of them first; they end in their order.
            try program.expectError("Preparing devices for sleep")
            signetd.end()
            try program.expectError("Released delay inhibitor for sleep")
            try slept.wait()
        }
    }

    @Suite("a scan of signet-fprint's that is stopped") struct RunningScanTests {
        private func reason(
            _ stop: @escaping @Sendable @ServiceActor (RunningScan) -> Void
        ) throws -> DenialReason? {
            let scratch = try Scratch()
            let signetd = try PlayedSignetd(at: scratch.at("signetd"))
            defer { withExtendedLifetime(signetd) {} }
            var paths = DesktopPaths()
            (paths.socket, paths.daemonUID) = (scratch.at("signetd"), effectiveUID())
            paths.rest = .seconds(600)
            let name = try #require(BusClientName(":1.42"))
            return try waiting { [paths] in
                let scan = try RunningScan(
                    .verify, client: name.text, vocabulary: .current,
                    request: Request(
                        DesktopVerifyRequest(
                            client: name, account: Person.daemon.account, finger: nil)),
                    on: DaemonConnections(paths: paths), paths: paths)
                let rest = await Ahead.begin { await scan.rest() }
                stop(scan)
                return await rest.result()
            }
        }

        @Test("makes no further request, also when its rest has just ended")
        func stopped() throws {
            #expect(try reason { $0.endRest() } == nil)
            #expect(try reason { $0.cancel() } == .cancelled)
            #expect(try reason { $0.stop(because: .suspending) } == .suspending)
            let late = try reason { scan in
                scan.endRest()
                scan.cancel()
            }
            #expect(late == .cancelled)
        }
    }
}
