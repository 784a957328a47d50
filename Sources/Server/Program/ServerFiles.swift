// SPDX-License-Identifier: Apache-2.0
import ConfigurationFiles
import Database
import HTTP
import Policy
import Posix
import Systemd

/// What a configuration names, opened.
enum ServerFiles {
    private static let pemLimit = 65_536

    /// The settings of a file and its drop-ins; a mistake in them ends the start.
    static func settings(_ path: String) throws(StartFault) -> Configuration {
        do throws(ConfigurationFault) {
            return try ConfigurationFiles.load(path, ServerSettings.all)
        } catch { throw .configuration(error) }
    }

    /// The database, in the form that this program knows.
    static func database(_ settings: Configuration) async throws(StartFault) -> any Database {
        do throws(DatabaseFault) {
            let database = try open(settings)
            try await database.migrate(Schema.steps)
            return database
        } catch { throw .database(error) }
    }

    /// The database, in whatever form it is.
    static func open(_ settings: Configuration) throws(DatabaseFault) -> any Database {
        if settings.word(ServerSettings.databaseKind) == "sqlite" {
            return try SQLiteDatabase(path: settings.word(ServerSettings.databasePath))
        }
        return try PostgreSQLDatabase(
            connection: settings.word(ServerSettings.databaseConnection),
            connections: settings.count(ServerSettings.databaseConnections))
    }

    /// How the server is called from outside, in the one form that devices know; plain HTTP is for a
    /// browser of this machine.
    static func issuer(_ settings: Configuration) throws(StartFault) -> String {
        let typed = settings.word(ServerSettings.url)
        if let url = ServerURL(typed: typed) { return url.text }
        guard let address = SiteAddress(typed), !address.isSecure else { throw .url(typed) }
        return address.origin
    }

    /// What serves the calls: the database, and the keys that the master secret opens.
    static func service(
        _ database: any Database, _ settings: Configuration, clock: Clock
    ) async throws(StartFault) -> Service {
        let issuer = try issuer(settings)
        let master = try MasterSecret.load(settings.word(ServerSettings.master))
        do throws(KeyFault) {
            let keys = try await ServerKeys(database, master: master, at: clock.wallSeconds())
            return Service(
                database: database, keys: keys, clock: clock,
                issuer: issuer,
                auditDays: settings.count(ServerSettings.auditDays),
                refusals: settings.count(ServerSettings.rate))
        } catch { throw .keys(error) }
    }

    /// The certificate and its key; nil for plain HTTP, which is served to this machine alone. For
    /// a socket that was handed over, the address of the settings says nothing.
    static func identity(
        _ settings: Configuration, isHandedOver: Bool
    ) throws(StartFault) -> ServerConfiguration.Identity? {
        let certificate = settings.word(ServerSettings.certificate)
        let key = settings.word(ServerSettings.key)
        let address = settings.word(ServerSettings.address)
        guard (certificate == "none") == (key == "none") else { throw .halfIdentity }
        guard certificate != "none" else {
            guard isHandedOver || address == "::1" || address.hasPrefix("127.") else {
                throw .plain(address: address)
            }
            return nil
        }
        do throws(FileFault) {
            let owner = effectiveUID()
            var secret = try TrustedFile.read(key, owner: owner, isPrivate: true, cap: pemLimit)
            defer { wipe(&secret) }
            let chain = try TrustedFile.read(certificate, owner: owner, cap: pemLimit)
            return ServerConfiguration.Identity(
                chain: chain, key: try secretBytes(moving: &secret))
        } catch { throw .file(error) }
    }

    /// What is read anew where the server speaks TLS, if clients can be served with it now; and
    /// until when. Nil where there is no certificate.
    static func renewedIdentity(
        _ settings: Configuration, at now: Int64
    ) throws(StartFault) -> (identity: ServerConfiguration.Identity, ends: Int64)? {
        guard let identity = try identity(settings, isHandedOver: true) else { return nil }
        let validity: CertificateValidity
        do throws(ServerFault) {
            validity = try identity.validity()
        } catch { throw .http(error) }
        guard validity.begins <= now, now <= validity.ends else {
            throw .outOfTime(settings.word(ServerSettings.certificate), validity)
        }
        return (identity, validity.ends)
    }

    private static func secretBytes(moving bytes: inout [UInt8]) throws(FileFault) -> SecretBytes {
        do throws(SystemFault) {
            return try SecretBytes(moving: &bytes)
        } catch { throw .system(error) }
    }
}

/// Why the server does not start.
enum StartFault: Error {
    case configuration(ConfigurationFault)
    case file(FileFault)
    /// The master secret has not the length of one.
    case masterSecret(path: String, count: Int)
    case database(DatabaseFault)
    case keys(KeyFault)
    case http(ServerFault)
    /// A certificate that is to be read anew holds no more, or not yet.
    case outOfTime(String, CertificateValidity)
    /// Plain HTTP was to be served to other machines.
    case plain(address: String)
    /// A socket that was handed over is not one that can be served.
    case socket(ActivationFault)
    /// `metrics.listen` is no address and port.
    case metricsPlace(String)
    /// `server.url` is none that anybody could call.
    case url(String)
    /// There is a certificate without a key, or a key without a certificate.
    case halfIdentity
    /// There can be no pages for browsers.
    case site(String)

    /// One line for who runs the server.
    var text: String {
        switch self {
        case .configuration(let fault): fault.text
        case .file(let fault): "\(fault)"
        case .masterSecret(let path, let count):
            """
            the master secret \(path) has \(count) bytes, not \(MasterSecret.count): \
            put the right one back
            """
        case .database(let fault): "the database cannot be used: \(fault)"
        case .keys(.sealedOtherwise):
            "the keys in the database were sealed with another master secret: put the right one back"
        case .keys(let fault): "no keys to sign with: \(fault)"
        case .http(let fault): "\(fault)"
        case .outOfTime(let path, let validity):
            """
            \(path) holds from \(shown(validity.begins)) to \(shown(validity.ends)), and not now: \
            put one there that does
            """
        case .socket(.unsuitable(let number)):
            """
            descriptor \(number) is not one listening TCP socket, of this machine alone where \
            there is no certificate: see the socket unit
            """
        case .socket(.malformed(let code)): "sockets were handed over wrongly: error \(code)"
        case .metricsPlace(let text):
            "'\(text)' is no place for metrics.listen: write 127.0.0.1:9464, [::1]:9464 or none"
        case .url(let url):
            """
            server.url is '\(url)', where no device can ask: write https://host, with a port or a \
            path where there is one, in ASCII
            """
        case .halfIdentity:
            "one of listen.certificate and listen.key is not set: set both, or none"
        case .site(let text): "there can be no site: \(text)"
        case .plain(let address):
            """
            '\(address)' is not of this machine alone: set listen.certificate and listen.key, \
            or listen on 127.0.0.1 behind a reverse proxy
            """
        }
    }
}
