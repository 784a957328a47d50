// SPDX-License-Identifier: Apache-2.0
import Database

/// A sign-in that a browser waits for.
struct SiteLogin: Sendable {
    /// The digest of the browser's cookie, which is that of the login's own session.
    let hash: [UInt8]
    /// The operation; where there is no such account, one that never was.
    let operation: [UInt8]
    /// The exact text that a device shows.
    let text: String
    let expires: Int64
}

/// A browser that is signed in.
struct SiteSession: Sendable {
    /// What the confirmed login began: with it ends this.
    let tokenSession: [UInt8]
    let expires: Int64
}

/// The rows of browsers that sign in, or are signed in, at the site.
struct SiteRows {
    let store: any Transaction
}

extension Transaction {
    var site: SiteRows { SiteRows(store: self) }
}

extension SiteRows {
    /// Keeps a sign-in that waits.
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

    /// The sign-in that a browser waits for at an application's site.
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

    /// Forgets a sign-in.
    func endSiteLogin(_ hash: [UInt8]) throws(DatabaseFault) {
        try store.run("DELETE FROM site_login WHERE hash = $1", [.bytes(hash)])
    }

    /// Keeps a browser that was signed in.
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

    /// The browser of a cookie, if its time is not over.
    func siteSession(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> SiteSession? {
        let rows = try store.run(
            "SELECT token_session, expires FROM site_session WHERE hash = $1 AND expires > $2",
            [.bytes(hash), .integer(now)])
        guard let row = rows.first else { return nil }
        return SiteSession(tokenSession: try row.bytes(0), expires: try row.integer(1))
    }

    /// Forgets a browser.
    func endSiteSession(_ hash: [UInt8]) throws(DatabaseFault) {
        try store.run("DELETE FROM site_session WHERE hash = $1", [.bytes(hash)])
    }

    /// What the audit trail has of an account, the newest first.
    ///
    /// The trail has names, and outlives whoever had them: what is from before the account was made
    /// is of another. By an index, since the trail has no end.
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

/// The newest lines of an account.
enum ReceiptQuery {
    static let sql: StaticString = """
        SELECT time, event, outcome, application, account, registration, address, agent, detail
        FROM audit
        WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
        ORDER BY id DESC LIMIT $4
        """
}
