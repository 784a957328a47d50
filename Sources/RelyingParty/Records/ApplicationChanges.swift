// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// The table `application`: the applications and their policies.
///
/// A change locks the application's row first, then those of accounts, so that transactions which
/// change an application, its accounts or its templates run one after the other.
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
                minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds, passwords,
                created)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
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
                minimum_boot, max_failures, access_seconds, refresh_seconds, roles, passwords
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
                refresh_seconds = $8, passwords = $9 WHERE id = $10
            """, policy.values + [.integer(application)])
    }
}

extension ApplicationRows {
    /// Replaces an application's own roles; no word may contain a space.
    func setRoles(of application: Int64, to roles: [String]) throws(DatabaseFault) {
        try store.run(
            "UPDATE application SET roles = $1 WHERE id = $2",
            [.text(roles.joined(separator: " ")), .integer(application)])
    }

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
            .integer(biometrics ? 1 : 0), .text(keys.rawValue),
            .text(secureBoot.rawValue), .integer(maximumFailures),
            .integer(accessSeconds), .integer(refreshSeconds), .integer(passwords ? 1 : 0),
        ]
    }
}
