// SPDX-License-Identifier: Apache-2.0
import SQL

/// An application that is to be removed, or whose removal has begun.
struct RemovedApplication: Equatable, Sendable {
    let id: Int64
    /// When its removal began, in seconds since 1970; nil if it has not.
    let begun: Int64?
}

// Removal has two phases: the first transaction makes the application unusable; later ones delete
// its rows in small batches, so that other writers are not held up. If that is interrupted, the
// next removal continues.
extension ApplicationRows {
    /// Returns and locks the application with this name, even if its removal has begun.
    ///
    /// The lock waits for all transactions that hold the application (`hold`), and excludes new
    /// ones until this transaction ends.
    func removable(application name: String) throws(DatabaseFault) -> RemovedApplication? {
        let sql: StaticString =
            store.isAlone
            ? "SELECT id, removed FROM application WHERE name = $1"
            : "SELECT id, removed FROM application WHERE name = $1 FOR UPDATE"
        let rows = try store.run(sql, [.text(name)])
        guard let row = rows.first else { return nil }
        return RemovedApplication(id: try row.integer(0), begun: try row.optionalInteger(1))
    }

    /// Prevents the removal of the application from beginning until this transaction ends.
    ///
    /// Returns false if the removal has begun or there is no such application. A transaction that
    /// adds rows referring to an application must hold the application or lock one of its accounts,
    /// because rows added during the removal would make the final deletion fail.
    func hold(application: Int64) throws(DatabaseFault) -> Bool {
        let sql: StaticString =
            store.isAlone
            ? "SELECT 1 FROM application WHERE id = $1 AND removed IS NULL"
            : "SELECT 1 FROM application WHERE id = $1 AND removed IS NULL FOR KEY SHARE"
        return try !store.run(sql, [.integer(application)]).isEmpty
    }

    /// Returns the name of an application under removal that still occupies this name or audience.
    func unfinishedRemoval(name: String, audience: String) throws(DatabaseFault) -> String? {
        let rows = try store.run(
            """
            SELECT name FROM application
            WHERE (name = $1 OR audience = $2) AND removed IS NOT NULL ORDER BY name LIMIT 1
            """, [.text(name), .text(audience)])
        return try rows.first?.text(0)
    }

    /// Revokes the application's API keys, removes its callback, and hides it from calls, devices and token sessions.
    ///
    /// From then on, every query that looks for an application in use fails to find it.
    func beginRemoval(of application: Int64, at now: Int64) throws(DatabaseFault) {
        try store.run(
            "UPDATE api_key SET revoked = $1 WHERE application = $2 AND revoked IS NULL",
            [.integer(now), .integer(application)])
        try store.run(
            "UPDATE application SET removed = $1 WHERE id = $2 AND removed IS NULL",
            [.integer(now), .integer(application)])
        _ = try store.callbacks.remove(of: application)
    }

    /// Deletes up to `most` rows per table of an application, except from the audit trail.
    ///
    /// Returns true when only the application itself, its API keys and its templates are left.
    func erase(some most: Int64, of application: Int64) throws(DatabaseFault) -> Bool {
        // Waits for transactions that began before the removal and could otherwise add rows to the
        // accounts that are deleted here; later transactions see the removal.
        if !store.isAlone { try store.run(Removal.lock, [.integer(application)]) }
        for statement in Removal.inOrder {
            let gone = try store.run(statement, [.integer(application), .integer(most)]).count
            // Referring rows must be deleted first, so the other tables wait for the next call.
            if gone == most { return false }
        }
        let accounts = try store.run(Removal.accounts, [.integer(application)]).count
        return accounts == 0
    }

    /// Deletes the application itself, with its API keys and templates, once nothing else is left.
    func finishRemoval(of application: Int64) throws(DatabaseFault) {
        let statements: [StaticString] = [
            "DELETE FROM callback_event WHERE application = $1",
            "DELETE FROM template WHERE application = $1",
            "DELETE FROM api_key WHERE application = $1",
            "DELETE FROM application WHERE id = $1 AND removed IS NOT NULL",
        ]
        for statement in statements { try store.run(statement, [.integer(application)]) }
    }
}

/// The statements that delete an application's rows, for 200 accounts at a time.
///
/// Challenges are left to expire: they are bound to the application's id, which is never reused.
private enum Removal {
    static let inOrder: [StaticString] = [
        """
        DELETE FROM callback_event WHERE number IN
            (SELECT number FROM callback_event WHERE application = $1 LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM refresh_token WHERE hash IN
            (SELECT t.hash FROM registration r JOIN token_session s ON s.registration = r.id
                JOIN refresh_token t ON t.session = s.id WHERE r.account IN
                    (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM token_session WHERE id IN
            (SELECT s.id FROM registration r JOIN token_session s ON s.registration = r.id
                WHERE r.account IN
                    (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM mac_token WHERE id IN
            (SELECT t.id FROM registration r JOIN mac_token t ON t.registration = r.id
                WHERE r.account IN
                    (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM operation WHERE id IN
            (SELECT id FROM operation WHERE account IN
                (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM activation WHERE hash IN
            (SELECT hash FROM activation WHERE account IN
                (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM registration WHERE id IN
            (SELECT id FROM registration WHERE account IN
                (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
        """,
    ]

    static let lock: StaticString = """
        SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200 FOR UPDATE
        """

    static let accounts: StaticString = """
        DELETE FROM account WHERE id IN
            (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200) RETURNING 1
        """
}
