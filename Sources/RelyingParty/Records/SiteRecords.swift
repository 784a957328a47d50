// SPDX-License-Identifier: Apache-2.0
import SQL

/// A sign-in at the server's own page that awaits approval.
struct SiteLogin: Sendable {
    /// The digest of the browser's cookie, which is also that of the login's session secret.
    let hash: [UInt8]
    /// The operation's id; for an unknown account, an id that belongs to no operation.
    let operation: [UInt8]
    /// The exact text that the device shows.
    let text: String
    let expires: Int64
}

/// A browser that is signed in.
struct SiteSession: Sendable {
    /// The token session of the confirmed login; when that ends, so does this.
    let tokenSession: [UInt8]
    let expires: Int64
}

struct SiteRows {
    let store: any Transaction
}

extension Transaction {
    var site: SiteRows { SiteRows(store: self) }
}

extension SiteRows {
    /// Stores a sign-in that awaits approval.
    func keep(
        siteLogin login: SiteLogin, of application: Int64, at now: Int64
    ) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO site_login (hash, application, operation, data, created, expires)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .bytes(login.hash), .integer(application), .bytes(login.operation),
                .text(login.text), .integer(now), .integer(login.expires),
            ])
    }

    /// Returns the sign-in that a browser awaits at an application's page.
    func siteLogin(
        _ hash: [UInt8], of application: Int64
    ) throws(DatabaseFault) -> SiteLogin? {
        let rows = try store.run(
            """
            SELECT operation, data, expires FROM site_login WHERE hash = $1 AND application = $2
            """, [.bytes(hash), .integer(application)])
        guard let row = rows.first else { return nil }
        return SiteLogin(
            hash: hash, operation: try row.bytes(0), text: try row.text(1),
            expires: try row.integer(2))
    }

    /// Deletes a sign-in.
    func endSiteLogin(_ hash: [UInt8]) throws(DatabaseFault) {
        try store.run("DELETE FROM site_login WHERE hash = $1", [.bytes(hash)])
    }

    /// Stores that a browser is signed in.
    func keepSiteSession(
        _ hash: [UInt8], tokenSession: [UInt8], at now: Int64, until expires: Int64
    ) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO site_session (hash, token_session, created, expires)
            VALUES ($1, $2, $3, $4)
            """,
            [.bytes(hash), .bytes(tokenSession), .integer(now), .integer(expires)])
    }

    /// Returns the session of a browser's cookie, unless it has expired.
    func siteSession(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> SiteSession? {
        let rows = try store.run(
            "SELECT token_session, expires FROM site_session WHERE hash = $1 AND expires > $2",
            [.bytes(hash), .integer(now)])
        guard let row = rows.first else { return nil }
        return SiteSession(tokenSession: try row.bytes(0), expires: try row.integer(1))
    }

    /// Signs a browser out.
    func endSiteSession(_ hash: [UInt8]) throws(DatabaseFault) {
        try store.run("DELETE FROM site_session WHERE hash = $1", [.bytes(hash)])
    }

    /// The newest audit lines of an account, newest first.
    ///
    /// The audit trail stores names and outlives accounts, so lines from before the account was
    /// made belong to an earlier account of that name and are left out. Uses an index, since the
    /// trail grows without limit.
    func receipts(
        of account: AccountRecord, application: String, most: Int64
    ) throws(DatabaseFault) -> [ListedAudit] {
        try store.run(
            ReceiptQuery.sql,
            [
                .text(application), .text(account.name), .integer(account.id), .integer(most),
            ]
        ).map { (row) throws(DatabaseFault) in
            ListedAudit(
                time: try row.integer(0), event: try row.text(1), outcome: try row.text(2),
                application: try row.text(3), account: try row.text(4),
                registration: try row.text(5), address: try row.text(6), agent: try row.text(7),
                detail: try row.text(8))
        }
    }
}

/// The query behind `SiteRows.receipts`.
enum ReceiptQuery {
    static let sql: StaticString = """
        SELECT time, event, outcome, application, account, registration, address, agent, detail
        FROM audit
        WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
        ORDER BY id DESC LIMIT $4
        """
}
