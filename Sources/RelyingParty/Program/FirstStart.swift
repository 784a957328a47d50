// SPDX-License-Identifier: Apache-2.0
import Configuration
import Posix
import SQL

/// Whether the database and the master secret of a configuration belong together.
///
/// A server starts for the first time with neither of them, and from then on with both. One without
/// the other means that a file was lost, moved or not restored, or that a setting names another
/// place. The server then does not start, and creates nothing: a new master secret would not open
/// the keys in the database, and a new database knows none of the devices.
struct FirstStart {
    /// The database as messages call it: never a connection string, which may contain a password.
    let database: String
    /// The path of the master secret.
    let path: String
    /// The master secret; nil if there is no file.
    let secret: SecretBytes?
    /// Whether the administrator has asked to begin with an empty database (`--new`).
    let isAccepted: Bool

    /// Reads the master secret, and creates nothing.
    ///
    /// A missing database file is refused here, before it is created by opening it.
    ///
    /// - Throws: `.newDatabase`, and the faults of `MasterSecret.find`.
    init(_ settings: Configuration, accepted: Bool) throws(StartFault) {
        let isFile = settings.word(ServerSettings.databaseKind) == "sqlite"
        let file = settings.word(ServerSettings.databasePath)
        database = isFile ? file : "that database.connection names"
        path = settings.word(ServerSettings.master)
        isAccepted = accepted
        secret = try MasterSecret.find(path)
        if isFile, FileLook(file) == nil { try check(isUsed: false) }
    }

    /// Checks a database that is open, before it is migrated.
    ///
    /// - Throws: `.newDatabase` if it is empty and there is a master secret, unless that was
    ///   accepted; `.noMasterSecret` if it is in use and there is none; `.usedDatabase` if an empty
    ///   one was accepted but it is in use.
    func check(_ database: any Database) async throws(StartFault) {
        try check(isUsed: try await Self.isUsed(database))
    }

    /// The master secret, which is created if there was none; call it after `check`.
    func masterSecret() throws(StartFault) -> SecretBytes {
        guard let secret else { return try MasterSecret.load(path) }
        return secret
    }

    /// Whether a server has created its keys in the database, as it does at its first start.
    static func isUsed(_ database: any Database) async throws(StartFault) -> Bool {
        do throws(DatabaseFault) {
            guard try await database.hasTable(SigningKeyRows.table) else { return false }
            return try await database.read { store throws(DatabaseFault) in
                try store.signingKeys.areAny()
            }
        } catch { throw .database(error) }
    }

    private func check(isUsed: Bool) throws(StartFault) {
        switch (isUsed, secret) {
        case (false, .some) where !isAccepted:
            throw .newDatabase(database: database, secret: path)
        case (true, nil): throw .noMasterSecret(database: database, secret: path)
        case (true, .some) where isAccepted: throw .usedDatabase(database)
        case (false, _), (true, .some): break
        }
    }
}
