// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import Posix
import SQL

/// Opens the files and databases that a configuration names, for the administrator's commands.
///
/// Unlike the server, it never creates the master secret, and it migrates the database only on
/// request. Each failure says what to do.
enum AdminFiles {
    /// Loads the settings from a file and its drop-ins.
    static func settings(_ path: String) throws(AdminFault) -> Configuration {
        do throws(StartFault) {
            return try ServerFiles.settings(path, owner: TrialDirectory.owner(ofSettings: path))
        } catch { throw .unusable(error.text) }
    }

    /// The directories in which systemd looks for units, as in systemd.unit(5).
    private static let unitDirectories = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system", "/lib/systemd/system",
    ]

    /// Checks the URL, the certificate with its key, the addresses, and the authorities, as the
    /// server does at its start.
    ///
    /// The database and the master secret are not opened. If a socket unit exists, its socket is
    /// assumed, so plain HTTP is accepted. Tests pass other `units`.
    static func check(
        _ settings: Configuration, units: [String] = unitDirectories
    ) throws(AdminFault) {
        let hasSocket = units.contains { FileLook($0 + "/signet-server.socket") != nil }
        do throws(StartFault) {
            _ = try ServerFiles.issuer(settings)
            let identity = try ServerFiles.identity(settings, isHandedOver: hasSocket)
            do throws(ServerFault) {
                _ = try identity?.validity()
            } catch { throw .http(error) }
            _ = try MetricsAddress(settings.word(ServerSettings.metrics))
            _ = try NetworkRates(settings)
            _ = try CallbackNetworks(settings)
            _ = try ServerFiles.callbackAuthorities(settings)
            _ = try ServerFiles.authorities(settings)
        } catch { throw .unusable(error.text) }
    }

    /// The end of the certificate's validity, in seconds since 1970; nil if none is configured.
    ///
    /// - Throws: `.unusable` if the certificate cannot be used, so that a reload would keep the old
    ///   one.
    static func certificateEnd(
        _ settings: Configuration, at now: Int64
    ) throws(AdminFault) -> Int64? {
        do throws(StartFault) {
            return try ServerFiles.renewedIdentity(settings, at: now)?.ends
        } catch { throw .unusable(error.text) }
    }

    /// Opens the database without migrating it; only the server's own user may do so.
    ///
    /// - Parameter patience: how long a transaction may take on PostgreSQL.
    static func open(
        _ settings: Configuration, patience: Duration = .seconds(10)
    ) throws(AdminFault) -> any Database {
        try requireServersUser(settings)
        do throws(DatabaseFault) {
            return try ServerFiles.open(settings, patience: patience)
        } catch { throw AdminFault(error) }
    }

    /// Creates the service on the configured database, which must have the present schema.
    ///
    /// - Throws: `.unusable` if the schema is another one or the master secret is missing, and if
    ///   the caller is not the server's user.
    static func service(_ settings: Configuration) async throws(AdminFault) -> Service {
        let database = try open(settings)
        do throws(AdminFault) {
            try await requireForm(database)
            return try await service(database, settings: settings)
        } catch {
            await database.close()
            throw error
        }
    }

    private static func service(
        _ database: any Database, settings: Configuration
    ) async throws(AdminFault) -> Service {
        let first: FirstStart
        do throws(StartFault) {
            first = try FirstStart(settings, accepted: false)
            try await first.check(database)
        } catch { throw .unusable(error.text) }
        guard let master = first.secret else {
            throw .unusable("\(first.path) is missing: start the server first, which creates it")
        }
        do throws(StartFault) {
            return try await ServerFiles.service(
                database, master: master, settings: settings, clock: .system)
        } catch { throw .unusable(error.text) }
    }

    private static func requireForm(_ database: any Database) async throws(AdminFault) {
        let known = Schema.steps.count
        var found = 0
        do throws(DatabaseFault) {
            found = try await database.schemaVersion()
        } catch {
            // A database without a table of versions is empty.
            guard case .broken = error else { throw AdminFault(error) }
        }
        if found > known { throw AdminFault(.newer(found: found, known: known)) }
        guard found == known else {
            throw .unusable(
                """
                the database has format \(found), and this program needs \(known): start the \
                server, or run 'signet-server admin migrate'
                """)
        }
    }

    /// Requires the server's own user: the server could not use files that another user creates.
    private static func requireServersUser(_ settings: Configuration) throws(AdminFault) {
        let isFile = settings.word(ServerSettings.databaseKind) == "sqlite"
        let path = settings.word(isFile ? ServerSettings.databasePath : ServerSettings.master)
        let directory = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
        guard let look = FileLook(directory, following: true) else {
            throw .unusable("\(directory) does not exist: start the server or create it")
        }
        guard look.owner == effectiveUID() else {
            let owner = (try? Account.with(uid: look.owner))?.name ?? "#\(look.owner)"
            throw .unusable(
                """
                \(directory) belongs to \(owner): run 'sudo -u \(owner) signet-server admin …'
                """)
        }
    }
}
