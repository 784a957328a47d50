import Database
import HTTP
import Policy
import Posix

/// A server that was started from a configuration.
actor RunningServer {
    private let clock: Clock
    private var database: (any Database)?
    private var http: HTTPServer?
    private var housekeeping: Task<Void, Never>?

    /// `clock` is for tests.
    init(clock: Clock = .system) {
        self.clock = clock
    }

    /// The port that it listens on, when it was started.
    var port: UInt16? { http?.port }

    /// Takes the steps in which a fault ends the program; false if one did.
    func start(configuration path: String) async -> Bool {
        do throws(StartFault) {
            let settings = try ServerFiles.settings(path)
            let identity = try ServerFiles.identity(settings)
            let database = try await ServerFiles.database(settings)
            self.database = database
            let service = try await service(database, settings)
            try serve(service, settings, identity)
            housekeeping = Task { await service.keepHouse() }
            return true
        } catch {
            report("cannot start: \(error.text)")
            await database?.close()
            return false
        }
    }

    /// Answers what is under way, then ends; true, for nothing of it can fail.
    func stop(within limit: Duration) async -> Bool {
        housekeeping?.cancel()
        await http?.stop(within: limit)
        await database?.close()
        return true
    }

    private func service(
        _ database: any Database, _ settings: Configuration
    ) async throws(StartFault) -> Service {
        let master: SecretBytes
        do throws(FileFault) {
            master = try MasterSecret.load(settings.word(ServerSettings.master))
        } catch { throw .file(error) }
        do throws(KeyFault) {
            let keys = try await ServerKeys(database, master: master, at: clock.wallSeconds())
            return Service(
                database: database, keys: keys, clock: clock,
                issuer: settings.word(ServerSettings.url))
        } catch { throw .keys(error) }
    }

    private func serve(
        _ service: Service, _ settings: Configuration, _ identity: ServerConfiguration.Identity?
    ) throws(StartFault) {
        let dispatcher = Dispatcher(
            service: service,
            limits: RateLimit(perMinute: settings.count(ServerSettings.rate), clock: clock),
            trustsProxy: settings.word(ServerSettings.proxy) == "trusted")
        var configuration = ServerConfiguration(
            place: .address(
                settings.word(ServerSettings.address),
                port: UInt16(clamping: settings.count(ServerSettings.port))),
            identity: identity, bodyLimit: { _, _ in Routes.bodyLimit }, log: report)
        configuration.connectionLimit = settings.count(ServerSettings.connections)
        do throws(ServerFault) {
            http = try HTTPServer(configuration) { await dispatcher.answer($0) }
        } catch { throw .http(error) }
    }
}
