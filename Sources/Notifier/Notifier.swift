// SPDX-License-Identifier: Apache-2.0
import Bus
import CatalogueFiles
import CommandMessages
import LoginMessages
import LoginProtocol
import Loop
import Posix

/// Where the notifier finds what it talks to.
package struct NotifierPaths: Sendable {
    /// The daemon's socket.
    package var socket = "/run/signet/signetd.sock"
    /// The state directory, in which each start of the daemon shows.
    package var state = "/var/lib/signet"
    /// Whose the daemon must be.
    package var daemonUID: UInt32 = 0
    /// The address of the session's bus.
    package var bus: String
    /// The texts in the person's language; English without.
    package var catalogue: Catalogue?

    /// The paths on this machine, with a session's own bus.
    package init(bus: String, catalogue: Catalogue?) {
        self.bus = bus
        self.catalogue = catalogue
    }

    /// The bus of the session that this process belongs to: its environment says, else the place
    /// where systemd has it.
    package static func ofThisSession() -> NotifierPaths {
        NotifierPaths(
            bus: environmentValue("DBUS_SESSION_BUS_ADDRESS")
                ?? "unix:path=/run/user/\(effectiveUID())/bus",
            catalogue: Catalogue.ofCaller())
    }
}

/// Shows on a person's desktop who asks for the finger where no prompt does.
///
/// Nothing depends on it: it can neither let in nor refuse.
@ServiceActor
package final class Notifier {
    private let bus: BusConnection
    private let paths: NotifierPaths
    private let end: (Int32) -> Void
    private var watch: DaemonWatch?
    private var desktop: Desktop?
    private var signals: Signals?

    private init(_ bus: BusConnection, _ paths: NotifierPaths, end: @escaping (Int32) -> Void) {
        self.bus = bus
        self.paths = paths
        self.end = end
    }

    /// Runs on the calling thread, which must be the process's first, until SIGTERM or SIGINT or
    /// until there is no use in going on; gives the exit status.
    package nonisolated static func run(paths: NotifierPaths) -> Int32 {
        let status = NotifierStatus()
        onService {
            let finish: (Int32) -> Void = { value in
                status.value = value
                MainLoop.quit()
            }
            do throws(BusFault) {
                guard let account = try? Account.with(uid: effectiveUID()) else {
                    paths.say(NotificationText.noAccount)
                    return finish(1)
                }
                let bus = try await BusConnection.connect(
                    address: paths.bus, limit: .seconds(10))
                let notifier = Notifier(bus, paths, end: finish)
                status.notifier = notifier
                notifier.begin(Bytes(account.name.utf8))
            } catch {
                paths.say(NotificationText.noBus(Bytes("\(error)".utf8)))
                finish(1)
            }
        }
        MainLoop.run()
        return status.value
    }

    private func begin(_ account: Bytes) {
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop(0) }
        desktop = Desktop(bus, paths.catalogue) { [paths] fault in
            paths.say(NotificationText.unshown(Bytes("\(fault)".utf8)))
        }
        bus.ended = { [weak self] in
            self?.paths.say(NotificationText.busEnded)
            self?.stop(1)
        }
        watch = DaemonWatch(paths, account: account) { [weak self] in self?.hear($0) }
        watch?.begin()
    }

    private func hear(_ news: DaemonWatch.News) {
        switch news {
        case .event(let event): desktop?.take(event)
        case .gone: desktop?.clear()
        case .failed(let why):
            paths.say(why)
            stop(1)
        }
    }

    private func stop(_ status: Int32) {
        watch?.end()
        watch = nil
        signals = nil
        end(status)
    }
}

/// Written on the service's thread, read when that thread is gone.
// SAFETY: MainLoop.run joins the service's thread before it returns.
private final class NotifierStatus: @unchecked Sendable {
    var value: Int32 = 0
    var notifier: Notifier?
}

extension NotifierPaths {
    /// Says what went wrong, in the person's language.
    fileprivate func say(_ text: Text) {
        let line = text.rendered { catalogue?.translation(of: $0) }
        complain("signet: \(String(decoding: line, as: UTF8.self))")
    }
}
