// SPDX-License-Identifier: Apache-2.0
import CatalogueFiles
import CommandMessages
import DBus
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix

/// The places where the notifier finds the daemon and the session bus.
package struct NotifierPaths: Sendable {
    /// The daemon's socket.
    package var socket = "/run/signet/signetd.sock"
    /// The state directory, in which the daemon touches a file when it starts.
    package var state = "/var/lib/signet"
    /// The uid that the daemon must have.
    package var daemonUID: UInt32 = 0
    /// The address of the session bus.
    package var bus: String
    /// The texts in the user's language; nil for English.
    package var catalogue: Catalogue?

    /// Creates the paths of this machine, with the given session bus.
    package init(bus: String, catalogue: Catalogue?) {
        self.bus = bus
        self.catalogue = catalogue
    }

    /// The paths for the session of this process.
    ///
    /// The address of the bus comes from DBUS_SESSION_BUS_ADDRESS, or is systemd's default for the
    /// user.
    package static func ofThisSession() -> NotifierPaths {
        NotifierPaths(
            bus: environmentValue("DBUS_SESSION_BUS_ADDRESS")
                ?? "unix:path=/run/user/\(effectiveUID())/bus",
            catalogue: Catalogue.ofCaller())
    }
}

/// Shows notifications on a user's desktop for touches that have no prompt.
///
/// It runs as the user and takes no part in authentication: it can neither grant nor deny a login.
@ServiceActor
package final class Notifier {
    private let bus: BusConnection
    private let paths: NotifierPaths
    private let end: (Int32) -> Void
    private var watch: DaemonWatch?
    private var desktop: Desktop?
    private var signals: Signals?

    private init(_ bus: BusConnection, paths: NotifierPaths, end: @escaping (Int32) -> Void) {
        self.bus = bus
        self.paths = paths
        self.end = end
    }

    /// Runs until SIGTERM or SIGINT, or until it cannot continue.
    ///
    /// Must be called on the process's main thread, which runs the main loop.
    ///
    /// - Returns: the exit status, 0 after a signal and 1 after a failure.
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
                let notifier = Notifier(bus, paths: paths, end: finish)
                status.notifier = notifier
                notifier.begin(AccountName(account.name))
            } catch {
                paths.say(NotificationText.noBus(Bytes("\(error)".utf8)))
                finish(1)
            }
        }
        MainLoop.run()
        return status.value
    }

    private func begin(_ account: AccountName) {
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop(0) }
        desktop = Desktop(bus, catalogue: paths.catalogue) { [paths] fault in
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
    /// Prints a message to standard error, in the user's language.
    fileprivate func say(_ text: Text) {
        let line = text.rendered { catalogue?.translation(of: $0) }
        complain("signet: \(String(decoding: line, as: UTF8.self))")
    }
}
