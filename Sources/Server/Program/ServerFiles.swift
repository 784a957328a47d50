// SPDX-License-Identifier: Apache-2.0
import ConfigurationFiles
import Database
import HTTP
import Policy
import Posix

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
