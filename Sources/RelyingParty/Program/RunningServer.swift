// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import Posix
import SQL
import Systemd

/// A server that was started from a configuration: database, listeners and maintenance task.
///
/// `start` opens everything, or closes it again and reports the fault if a step fails.
/// `renewCertificate` serves SIGHUP, and `stop` completes the requests under way.
actor RunningServer {
    private let clock: Clock
    private let figures = ServerFigures()
    private var database: (any Database)?
    private var http: HTTPServer?
    private var metrics: HTTPServer?
    /// The path of the configuration; nil if the server does not use TLS.
    private var configuration: String?
    private var housekeeping: Task<Void, Never>?
    private var callbacks: Task<Void, Never>?
    private var service: Service?

    /// Creates a server that is not started yet; tests pass their own clock.
    init(clock: Clock = .system) {
        self.clock = clock
    }

    /// Starts the server and returns the exit status: 0 if it serves, 1 if it cannot start.
    ///
    /// A fault is reported, and everything that was opened is closed again.
    func start(_ request: StartRequest) async -> Int32 {
        do throws(StartFault) {
            let settings = try ServerFiles.settings(
                request.configuration, owner: request.trial == nil ? 0 : effectiveUID())
            try request.trial?.check(settings)
            ServerLog.use(json: settings.word(ServerSettings.logFormat) == "json")
            let (place, isHandedOver) = try place(settings)
            let identity = try ServerFiles.identity(settings, isHandedOver: isHandedOver)
            let metricsPlace = try MetricsAddress(settings.word(ServerSettings.metrics))
            let rates = try NetworkRates(settings)
            let authorities = try ServerFiles.callbackAuthorities(settings)
            let first = try FirstStart(settings, accepted: request.acceptsNew)
            let database = try await ServerFiles.database(settings, first: first)
            self.database = database
            let service = try await ServerFiles.service(
                database, master: first.masterSecret(), settings: settings, clock: clock)
            self.service = service
            let http = try serve(
                service, settings: settings, rates: rates, at: place, identity: identity,
                anyPort: request.trial != nil)
            self.http = http
            if let metricsPlace {
                metrics = try serveFigures(service, of: http, at: metricsPlace)
            }
            if identity != nil { configuration = request.configuration }
            housekeeping = Task { await service.maintenance.runMaintenance() }
            let carrier = CallbackCarrier(
                networks: service.callbacks.networks, authorities: authorities)
            let sender = CallbackSender(service.callbacks) { await carrier.deliver($0) }
            callbacks = Task { await sender.run() }
            announce(http, isSecure: identity != nil)
            return 0
        } catch {
            report("cannot start: \(error.text)")
            await http?.stop(within: .zero)
            await database?.close()
            return 1
        }
    }

    /// Calls `body` with the service and the port at which it is served, and returns its exit
    /// status; 1 if the server does not serve.
    func whileServing(_ body: @Sendable (Service, UInt16) async -> Int32) async -> Int32 {
        guard let service, let http else { return 1 }
        return await body(service, http.port)
    }

    /// Reloads certificate and key from the files that the configuration names now.
    ///
    /// If they cannot be used, a line is reported, the old ones stay in use, and the result is 1.
    /// It is 0 after a reload, and also if the server was started without a certificate.
    func renewCertificate() -> Int32 {
        guard let configuration, let http else {
            report("nothing to reload: no certificate is configured")
            return 0
        }
        do throws(StartFault) {
            let settings = try ServerFiles.settings(configuration)
            let renewed = try ServerFiles.renewedIdentity(settings, at: clock.wallSeconds())
            guard let renewed else {
                report(
                    """
                    the certificate could not be reloaded: the configuration no longer names one. \
                    The old one stays in use
                    """)
                return 1
            }
            do throws(ServerFault) {
                try http.renew(renewed.identity)
            } catch { throw .http(error) }
            report("the certificate was reloaded; new connections use it")
            return 0
        } catch {
            report("the certificate could not be reloaded, the old one stays in use: \(error.text)")
            return 1
        }
    }

    /// Completes the requests under way, for at most `limit`, and closes everything; always returns
    /// 0.
    func stop(within limit: Duration) async -> Int32 {
        housekeeping?.cancel()
        callbacks?.cancel()
        await http?.stop(within: limit)
        await metrics?.stop(within: .seconds(1))
        // Attempts under way end within about a second.
        await callbacks?.value
        await service?.maintenance.writeDown()
        await database?.close()
        return 0
    }

    /// The socket that systemd passed, or else the configured address and port.
    ///
    /// A passed socket that other machines can reach is refused if there is no certificate.
    private func place(
        _ settings: Configuration
    ) throws(StartFault) -> (ServerConfiguration.Place, isHandedOver: Bool) {
        do throws(ActivationFault) {
            if let socket = try Activation.tcpSocket() {
                let isPlain = settings.word(ServerSettings.certificate) == "none"
                guard socket.isLocal || !isPlain else {
                    throw .unsuitable(descriptor: socket.descriptor)
                }
                return (.listening(descriptor: socket.descriptor), true)
            }
        } catch { throw .socket(error) }
        let address = settings.word(ServerSettings.address)
        let port = UInt16(clamping: settings.count(ServerSettings.port))
        return (.address(address, port: port), false)
    }

    private func serve(
        _ service: Service, settings: Configuration, rates: NetworkRates,
        at place: ServerConfiguration.Place, identity: ServerConfiguration.Identity?, anyPort: Bool
    ) throws(StartFault) -> HTTPServer {
        let requests = ServerLog.LoggedRequests(rawValue: settings.word(ServerSettings.logRequests))
        let log = ServerLog.observer(requests ?? .all)
        let figures = figures
        let dispatcher = Dispatcher(
            service: service, limits: CallLimits(rates, clock: clock),
            trustsProxy: settings.word(ServerSettings.proxy) == "trusted",
            publicPath: ServerFiles.publicPath(settings),
            observer: { served in
                figures.note(served)
                log(served)
            })
        var configuration = ServerConfiguration(
            place: place, identity: identity, bodyLimit: { _, _ in Routes.bodyLimit }, log: report)
        configuration.refusal = { dispatcher.refuse($0, request: $1) }
        configuration.connectionLimit = settings.count(ServerSettings.connections)
        // Behind a proxy, all connections come from the proxy's address.
        configuration.addressLimit =
            settings.word(ServerSettings.proxy) == "trusted"
            ? 0 : settings.count(ServerSettings.connectionsPerAddress)
        do throws(StartFault) {
            return try start(configuration) { await dispatcher.answer($0) }
        } catch {
            guard anyPort, case .http(.portTaken(let address, _)) = error else { throw error }
            configuration.place = .address(address, port: 0)
            return try start(configuration) { await dispatcher.answer($0) }
        }
    }

    private func serveFigures(
        _ service: Service, of http: HTTPServer, at place: MetricsAddress
    ) throws(StartFault) -> HTTPServer {
        let pages = MetricsPages(
            figures: figures, health: service.health, database: service.database.figures,
            refusals: service.refusals, callbacks: service.callbacks,
            connections: { [weak http] in http?.connectionFigures ?? ConnectionFigures() })
        var configuration = ServerConfiguration(
            place: .address(place.address, port: place.port), bodyLimit: { _, _ in 0 }, log: report)
        configuration.connectionLimit = 64
        configuration.threads = 1
        return try start(configuration) { await pages.answer($0) }
    }

    private func start(
        _ configuration: ServerConfiguration,
        _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(StartFault) -> HTTPServer {
        do throws(ServerFault) {
            return try HTTPServer(configuration, handler: handler)
        } catch { throw .http(error) }
    }

    private func announce(_ http: HTTPServer, isSecure: Bool) {
        let metrics = metrics.map { ", metrics on port \($0.port)" } ?? ""
        report("serving \(isSecure ? "HTTPS" : "plain HTTP") on port \(http.port)\(metrics)")
        Readiness.status("port \(http.port)").notify()
    }
}
