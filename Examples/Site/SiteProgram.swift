// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import HTTPServer
import Posix

/// The program `signet-site`, from start to exit: signals, exit status and the HTTP server.
package enum SiteProgram {
    private static let usage = """
        usage: signet-site FILE

        Serves pages for people in a browser, who sign in with signet-server. FILE is the absolute
        path of the configuration; see Examples/README.md.
        """
    /// How long requests under way may take when the program stops.
    private static let farewell = Duration.seconds(5)

    /// Serves until SIGTERM or SIGINT, and returns the exit status: 2 for a wrong command line.
    package static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 1, arguments[0].hasPrefix("/") else {
            complain(usage)
            return 2
        }
        do throws(SystemFault) {
            try hardenProcess()
            try clearEnvironment(keeping: [])
            let signals = try Interrupts.take()
            guard let http = started(arguments[0]) else { return 1 }
            report("serving on port \(http.port)")
            repeat {
                _ = wait(for: signals.descriptor.number, or: -1, until: nil)
            } while nextSignal(signals.descriptor.number) != .end
            await http.stop(within: farewell)
            return 0
        } catch {
            report("cannot start: \(error)")
            return 1
        }
    }

    /// Starts the server; if that fails, reports why and returns nil.
    private static func started(_ path: String) -> HTTPServer? {
        do throws(SettingsFault) {
            let settings = try SiteSettings(file: path)
            do throws(ServerFault) {
                return try serve(settings)
            } catch { report("cannot start: \(error)") }
        } catch { report("cannot start: \(error)") }
        return nil
    }

    private static func serve(_ settings: SiteSettings) throws(ServerFault) -> HTTPServer {
        let server = SignetServer(
            client: HTTPClient(settings.client), url: settings.server, key: settings.key)
        let site = Site(settings, server: server, clock: .system)
        var configuration = ServerConfiguration(
            place: .address(settings.address, port: settings.port), identity: settings.identity,
            bodyLimit: { _, _ in Form.limit }, log: report)
        configuration.connectionLimit = 1_000
        // Behind a proxy, all connections come from the proxy's address.
        configuration.addressLimit = settings.trustsProxy ? 0 : 64
        configuration.refusal = { site.refuse($0, request: $1) }
        return try HTTPServer(configuration) { await site.answer($0) }
    }
}

/// Writes a line for the administrator to standard error; it must not contain a secret.
func report(_ line: String) {
    complain("signet-site: \(line)")
}
