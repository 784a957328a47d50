// SPDX-License-Identifier: Apache-2.0
import Database

/// An application that is to be removed, or whose removal was begun.
struct RemovedApplication: Equatable, Sendable {
    let id: Int64
    /// When its removal began; nil before that.
    let begun: Int64?
}

// How an application is removed: it is good for nothing from one moment on, then it is erased bit by
// bit, so that others are not kept waiting. What a crash leaves, the next removal finishes.
extension ApplicationRows {
    /// The application of a name, also one whose removal was begun; nobody holds it any more, and
    /// nobody can before this transaction has ended.
    func removable(application name: String) throws(DatabaseFault) -> RemovedApplication? {
        let sql: StaticString =
            store.isAlone
            ? "SELECT id, removed FROM application WHERE name = $1"
            : "SELECT id, removed FROM application WHERE name = $1 FOR UPDATE"
        let rows = try store.run(sql, [.text(name)])
        guard let row = rows.first else { return nil }
        return RemovedApplication(id: try row.integer(0), begun: try row.optionalInteger(1))
    }

    /// Keeps an application's removal from beginning before this transaction has ended; false where
    /// it has begun, or where there is no such application.
    ///
    /// Whoever adds what refers to an application holds it, or an account of it: what came beside
    /// its removal would stand in the way of its end.
    func hold(application: Int64) throws(DatabaseFault) -> Bool {
        let sql: StaticString =
            store.isAlone
            ? "SELECT 1 FROM application WHERE id = $1 AND removed IS NULL"
            : "SELECT 1 FROM application WHERE id = $1 AND removed IS NULL FOR KEY SHARE"
        return try !store.run(sql, [.integer(application)]).isEmpty
    }

    /// The name of an application that is being removed, and still has this name or audience.
    func unfinishedRemoval(name: String, audience: String) throws(DatabaseFault) -> String? {
        let rows = try store.run(
            """
            SELECT name FROM application
            WHERE (name = $1 OR audience = $2) AND removed IS NOT NULL ORDER BY name LIMIT 1
            """, [.text(name), .text(audience)])
        return try rows.first?.text(0)
    }

    /// Ends its API keys, and lets nobody find it any more: neither a call nor a device nor a
    /// session of tokens.
    func beginRemoval(of application: Int64, at now: Int64) throws(DatabaseFault) {
        try store.run(
            "UPDATE api_key SET revoked = $1 WHERE application = $2 AND revoked IS NULL",
            [.integer(now), .integer(application)])
        try store.run(
            "UPDATE application SET removed = $1 WHERE id = $2 AND removed IS NULL",
            [.integer(now), .integer(application)])
    }

    /// Erases some of what is an application's own, no more than `most` rows of a table; true when
    /// nothing is left but the application itself. Not the audit trail.
    func erase(some most: Int64, of application: Int64) throws(DatabaseFault) -> Bool {
        // What was under way before its removal began has ended, or sees that it is removed: else it
        // might add to what goes here.
        if !store.isAlone { try store.run(Removal.lock, [.integer(application)]) }
        for statement in Removal.inOrder {
            let gone = try store.run(statement, [.integer(application), .integer(most)]).count
            // What refers to another goes before it: the rest waits for the next time.
            if gone == most { return false }
        }
        let accounts = try store.run(Removal.accounts, [.integer(application)]).count
        return accounts == 0
    }

    /// Erases an application of which nothing is left, with its keys and templates.
    func finishRemoval(of application: Int64) throws(DatabaseFault) {
        let statements: [StaticString] = [
            "DELETE FROM template WHERE application = $1",
            "DELETE FROM api_key WHERE application = $1",
            "DELETE FROM application WHERE id = $1 AND removed IS NOT NULL",
        ]
        for statement in statements { try store.run(statement, [.integer(application)]) }
    }
}

/// What is erased of an application, some accounts at a time. A challenge is bound to the
/// application's id, which no other gets, and is forgotten at its end by itself.
private enum Removal {
    static let inOrder: [StaticString] = [
        """
        DELETE FROM site_login WHERE hash IN
            (SELECT hash FROM site_login WHERE application = $1 LIMIT $2) RETURNING 1
        """,
        """
        DELETE FROM site_session WHERE hash IN
            (SELECT b.hash FROM site_session b JOIN token_session s ON s.id = b.token_session
                JOIN registration r ON r.id = s.registration WHERE r.account IN
                    (SELECT id FROM account WHERE application = $1 ORDER BY name LIMIT 200)
                LIMIT $2) RETURNING 1
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
