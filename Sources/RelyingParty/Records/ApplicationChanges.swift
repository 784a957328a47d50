import SQL
// SPDX-License-Identifier: Apache-2.0
import ServerAPI

struct ApplicationRows {
    let store: any Transaction
}

extension Transaction {
    var applications: ApplicationRows { ApplicationRows(store: self) }
}

extension ApplicationRows {
    /// Stores a new application; nil if the name or the audience is taken.
    func makeApplication(
        _ name: Name, audience: String, policy: ApplicationPolicy, at now: Int64
    ) throws(DatabaseFault) -> ApplicationRecord? {
        let rows = try store.run(
            """
            INSERT INTO application (name, audience, devices, commit_required, biometrics,
                minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds, created)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT DO NOTHING RETURNING id
            """,
            [.text(name.text), .text(audience)] + policy.values + [.integer(now)])
        return rows.isEmpty ? nil : try application(name: name.text)
    }

    /// Returns the application with this name, and locks its row until this transaction ends.
    ///
    /// Transactions that lock it as well, its removal included, wait for that; rows that refer to
    /// it may be inserted meanwhile. Take this lock before those of accounts, to avoid deadlocks.
    func lockedApplication(name: String) throws(DatabaseFault) -> ApplicationRecord? {
        if store.isAlone { return try application(name: name) }
        // Read by the statement that locks, which sees the row as it is after the wait.
        let rows = try store.run(
            """
            SELECT id, name, audience, devices, commit_required, biometrics, minimum_key,
                minimum_boot, max_failures, access_seconds, refresh_seconds
            FROM application WHERE name = $1 AND removed IS NULL FOR NO KEY UPDATE
            """, [.text(name)])
        guard let row = rows.first else { return nil }
        return try ApplicationRecord(row)
    }

    /// Replaces an application's policy; existing registrations stay.
    func setPolicy(
        of application: Int64, policy: ApplicationPolicy
    ) throws(DatabaseFault) {
        try store.run(
            """
            UPDATE application SET devices = $1, commit_required = $2, biometrics = $3,
                minimum_key = $4, minimum_boot = $5, max_failures = $6, access_seconds = $7,
                refresh_seconds = $8 WHERE id = $9
            """, policy.values + [.integer(application)])
    }

    /// Stores an API key's hash; returns false if the application has or had a key of this name.
    func keepAPIKey(
        _ hash: [UInt8], name: Name, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO api_key (hash, application, name, created) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING RETURNING name
            """, [.bytes(hash), .integer(application), .text(name.text), .integer(now)]
        ).isEmpty
    }

    /// The API keys of an application, oldest first.
    func apiKeys(of application: Int64) throws(DatabaseFault) -> [ListedKey] {
        try store.run(
            "SELECT name, created, revoked FROM api_key WHERE application = $1 ORDER BY created, name",
            [.integer(application)]
        ).map { (row) throws(DatabaseFault) in
            ListedKey(
                name: try row.text(0), created: try row.integer(1),
                revoked: try row.optionalInteger(2))
        }
    }

    /// Revokes an API key; returns false if the application has no valid key of this name.
    func revokeAPIKey(
        _ name: String, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE api_key SET revoked = $1
            WHERE application = $2 AND name = $3 AND revoked IS NULL RETURNING name
            """, [.integer(now), .integer(application), .text(name)]
        ).isEmpty
    }
}

extension ApplicationRows {
    /// Counts an application's registrations that have a key and are not REMOVED.
    func countDevices(of application: Int64) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(
            """
            SELECT CAST(COUNT(*) AS BIGINT) FROM registration r JOIN account c ON c.id = r.account
            WHERE c.application = $1 AND r.status <> 'REMOVED' AND r.credential IS NOT NULL
            """, [.integer(application)])
        return try rows.first?.integer(0) ?? 0
    }
}

extension ApplicationPolicy {
    /// The values of the columns from `devices` on.
    fileprivate var values: [Value] {
        [
            .text(severalDevices ? "several" : "one"), .integer(commitRequired ? 1 : 0),
            .integer(biometrics ? 1 : 0), .text(needsTPM ? "tpm" : "any"),
            .text(needsSecureBoot ? "on" : "any"), .integer(maximumFailures),
            .integer(accessSeconds), .integer(refreshSeconds),
        ]
    }
}

/// An API key in a list, without the key itself.
struct ListedKey: Encodable, Equatable {
    let name: String
    let created: Int64
    let revoked: Int64?
}
