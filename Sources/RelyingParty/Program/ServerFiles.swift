// SPDX-License-Identifier: Apache-2.0
import Authorization
import Configuration
import ConfigurationFiles
import Crypto
import HTTPClient
import HTTPServer
import Posix
import SQL

/// Opens the files and databases that a configuration names, and checks that they can be used.
///
/// The server uses it at its start, and `signet-server admin` uses it too.
enum ServerFiles {
    private static let pemLimit = 65_536
    /// All makers of TPMs together have some hundred authorities of 2 KB each.
    private static let authoritiesLimit = 1 << 20

    /// Loads the settings from a file and its drop-ins.
    ///
    /// - Parameter owner: A uid that may own the files, besides root; only for a server that is
    ///   tried out.
    /// - Throws: `.configuration` for any mistake in them.
    static func settings(_ path: String, owner: UInt32 = 0) throws(StartFault) -> Configuration {
        do throws(ConfigurationFault) {
            return try ConfigurationFiles.load(path, table: ServerSettings.all, owner: owner)
        } catch { throw .configuration(error) }
    }

    /// The largest SQLite file, with its log, whose structure is checked at every start, in bytes.
    ///
    /// With a cold cache, that takes less than a second: a busy virtual machine reads 75 MB a
    /// second. A larger file is checked by `admin check-database`.
    static let quickCheckLimit: Int64 = 64 * 1024 * 1024

    /// Opens the database and migrates it to the schema of this program.
    ///
    /// It is checked first: whether it belongs to the master secret, and whether a file of at most
    /// `quickCheckLimit` is damaged.
    static func database(
        _ settings: Configuration, first: FirstStart
    ) async throws(StartFault) -> any Database {
        let database: any Database
        do throws(DatabaseFault) {
            database = try open(settings)
        } catch { throw .database(error) }
        do throws(StartFault) {
            try await first.check(database)
            try await requireSound(database, settings: settings)
            do throws(DatabaseFault) {
                try await database.migrate(Schema.steps)
            } catch { throw .database(error) }
        } catch {
            await database.close()
            throw error
        }
        return database
    }

    private static func requireSound(
        _ database: any Database, settings: Configuration
    ) async throws(StartFault) {
        guard settings.word(ServerSettings.databaseKind) == "sqlite" else { return }
        let path = settings.word(ServerSettings.databasePath)
        let size = [path, path + "-wal"].reduce(0) { $0 + (FileLook($1)?.size ?? 0) }
        guard size <= quickCheckLimit else { return }
        do throws(DatabaseFault) {
            guard let finding = try await database.quickFindings().first else { return }
            throw .damaged(finding)
        } catch { throw .database(error) }
    }

    /// Opens the database without migrating it.
    ///
    /// - Parameter patience: how long a transaction may take on PostgreSQL.
    static func open(
        _ settings: Configuration, patience: Duration = .seconds(10)
    ) throws(DatabaseFault) -> any Database {
        if settings.word(ServerSettings.databaseKind) == "sqlite" {
            return try SQLiteDatabase(path: settings.word(ServerSettings.databasePath))
        }
        return try PostgreSQLDatabase(
            connection: settings.word(ServerSettings.databaseConnection),
            connections: settings.count(ServerSettings.databaseConnections), patience: patience)
    }

    /// The server's public URL, in the canonical form that devices use.
    static func issuer(_ settings: Configuration) throws(StartFault) -> String {
        let typed = settings.word(ServerSettings.url)
        guard let url = CanonicalServerURL(typed: typed) else { throw .url(typed) }
        return url.text
    }

    /// The path of the server's public URL, and what becomes of it on the way.
    static func publicPath(_ settings: Configuration) -> PublicPath {
        guard let url = CanonicalServerURL(typed: settings.word(ServerSettings.url)) else {
            return .none
        }
        return PublicPath(of: url, isKept: settings.word(ServerSettings.path) == "kept")
    }

    /// Creates the service, with the signing keys, which are created if there are none.
    static func service(
        _ database: any Database, master: SecretBytes, settings: Configuration, clock: Clock
    ) async throws(StartFault) -> Service {
        let issuer = try issuer(settings)
        let callbackNetworks = try CallbackNetworks(settings)
        let authorities = try authorities(settings)
        do throws(KeyFault) {
            let keys = try await ServerSigningKeys(
                database, master: master, at: clock.wallSeconds())
            return Service(
                database: database, keys: keys, clock: clock,
                issuer: issuer,
                auditDays: settings.count(ServerSettings.auditDays), authorities: authorities,
                refusals: settings.count(ServerSettings.rate), callbackNetworks: callbackNetworks,
                callbackHours: settings.count(ServerSettings.callbackHours))
        } catch { throw .keys(error, secret: settings.word(ServerSettings.master)) }
    }

    /// The authorities that may vouch for receivers of callbacks.
    ///
    /// - Throws: `.file` if their file cannot be read now, or if others could write to it.
    static func callbackAuthorities(
        _ settings: Configuration
    ) throws(StartFault) -> ClientConfiguration.Authorities {
        let path = settings.word(ServerSettings.callbackAuthorities)
        guard path != "system" else { return .system }
        do throws(FileFault) {
            return .certificates(
                try TrustedFile.read(path, owner: effectiveUID(), cap: authoritiesLimit))
        } catch { throw .file(error) }
    }

    /// Reads the authorities that certify TPMs; nil if none are configured.
    ///
    /// - Throws: `.file` if the file cannot be read or others may write to it, and `.authorities`
    ///   if it has no certificates.
    static func authorities(
        _ settings: Configuration
    ) throws(StartFault) -> CertificateAuthorities? {
        let path = settings.word(ServerSettings.authorities)
        guard path != "none" else { return nil }
        let pem: [UInt8]
        do throws(FileFault) {
            pem = try TrustedFile.read(path, owner: effectiveUID(), cap: authoritiesLimit)
        } catch { throw .file(error) }
        do throws(CryptoFault) {
            return try CertificateAuthorities(pem: pem)
        } catch { throw .authorities(path) }
    }

    /// Reads the certificate and its key; nil for plain HTTP.
    ///
    /// Plain HTTP is refused unless the configured address is a loopback address. With
    /// `isHandedOver`, the caller has already checked this for the socket that systemd passed. The
    /// key's file must be readable by its owner alone.
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

    /// Reads the certificate and key again for a reload, and checks that the certificate is valid
    /// now.
    ///
    /// Also returns the end of its validity, in seconds since 1970; nil if none is configured.
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
