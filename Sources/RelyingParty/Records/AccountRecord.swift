// SPDX-License-Identifier: Apache-2.0
import SQL

/// A person's account within an application: a row of the table `account`.
struct AccountRecord: Equatable, Sendable {
    let id: Int64
    let application: Int64
    let name: String
    let isBlocked: Bool
    /// Words that the administrator has set, separated by spaces in the database.
    let flags: [String]
    let roles: [String]

    /// How many columns `init` reads.
    static let columns = 6

    /// Reads `columns` columns, starting at `first`.
    init(_ row: Row, from first: Int = 0) throws(DatabaseFault) {
        id = try row.integer(first)
        application = try row.integer(first + 1)
        name = try row.text(first + 2)
        isBlocked = try row.integer(first + 3) != 0
        flags = try row.words(first + 4)
        roles = try row.words(first + 5)
    }
}

/// The table `account`: people's accounts, each with a unique name within its application.
///
/// An account is created when an activation code is first issued for it, and deleted only with its
/// application.
struct AccountRows {
    let store: any Transaction
}

extension Transaction {
    var accounts: AccountRows { AccountRows(store: self) }
}

extension AccountRows {
    func account(_ name: String, of application: Int64) throws(DatabaseFault) -> AccountRecord? {
        let rows = try store.run(
            """
            SELECT id, application, name, blocked, flags, roles FROM account
            WHERE application = $1 AND name = $2
            """, [.integer(application), .text(name)])
        guard let row = rows.first else { return nil }
        return try AccountRecord(row)
    }

    /// Lists up to `most` accounts of an application by name, beginning after `name`.
    func list(
        of application: Int64, after name: String, most: Int64
    ) throws(DatabaseFault) -> [AccountRecord] {
        let rows = try store.run(
            """
            SELECT id, application, name, blocked, flags, roles FROM account
            WHERE application = $1 AND name > $2 ORDER BY name LIMIT $3
            """, [.integer(application), .text(name), .integer(most)])
        var found: [AccountRecord] = []
        for row in rows { found.append(try AccountRecord(row)) }
        return found
    }

    /// Blocks or unblocks an account, and notes a change for its application's callback.
    func setBlocked(
        _ account: Int64, isBlocked: Bool, at now: Int64
    ) throws(DatabaseFault) {
        let changed = try store.change(
            "UPDATE account SET blocked = $1 WHERE id = $2 AND blocked <> $1",
            [.integer(isBlocked ? 1 : 0), .integer(account)])
        guard changed == 1 else { return }
        try store.callbackEvents.note(account: account, isBlocked: isBlocked, at: now)
    }

    /// Replaces an account's flags and roles; no word may contain a space.
    func setWords(
        of account: Int64, flags: [String], roles: [String]
    ) throws(DatabaseFault) {
        try store.run(
            "UPDATE account SET flags = $1, roles = $2 WHERE id = $3",
            [
                .text(flags.joined(separator: " ")), .text(roles.joined(separator: " ")),
                .integer(account),
            ])
    }

    func account(_ id: Int64) throws(DatabaseFault) -> AccountRecord? {
        let rows = try store.run(
            """
            SELECT id, application, name, blocked, flags, roles FROM account WHERE id = $1
            """, [.integer(id)])
        guard let row = rows.first else { return nil }
        return try AccountRecord(row)
    }

    /// Returns the account with this name, creating it if it does not exist.
    ///
    /// Its `trail` is the id of the last audit line so far: earlier lines concern an earlier
    /// account.
    func makeAccount(
        _ name: String, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> AccountRecord {
        _ = try store.run(
            """
            INSERT INTO account (application, name, blocked, flags, roles, created, trail)
            VALUES ($1, $2, 0, '', '', $3, (SELECT COALESCE(MAX(id), 0) FROM audit))
            ON CONFLICT (application, name) DO NOTHING
            """, [.integer(application), .text(name), .integer(now)])
        guard let account = try account(name, of: application) else {
            throw .broken("an account that was just made is not there")
        }
        return account
    }

    /// Locks an account's row until this transaction ends.
    ///
    /// So decisions that depend on several rows of an account are made one after the other, and the
    /// account cannot be blocked meanwhile. To avoid deadlocks, take this lock before those of
    /// registrations. SQLite has a single writer, so there is nothing to lock.
    func lockAccount(_ id: Int64) throws(DatabaseFault) {
        if store.isAlone { return }
        // As strong as the lock of the UPDATE that blocks; rows that refer to the account may be
        // inserted.
        try store.add("SELECT id FROM account WHERE id = $1 FOR NO KEY UPDATE", [.integer(id)])
    }
}
