// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// An application: a back end that people log in to, with its policy.
///
/// Applications whose removal has begun are not returned by the queries in this file.
struct ApplicationRecord: Equatable, Sendable {
    let id: Int64
    let name: String
    /// The audience that every statement for this application must name.
    let audience: String
    let policy: ApplicationPolicy
    /// What the application itself is, in words that the administrator has set; verifications state
    /// them.
    let roles: [String]

    /// How many columns `init` reads.
    static let columns = 13

    /// Reads `columns` columns, starting at `first`.
    init(_ row: Row, from first: Int = 0) throws(DatabaseFault) {
        id = try row.integer(first)
        name = try row.text(first + 1)
        audience = try row.text(first + 2)
        policy = ApplicationPolicy(
            severalDevices: try row.text(first + 3) == "several",
            commitRequired: try row.integer(first + 4) != 0,
            biometrics: try row.integer(first + 5) != 0,
            passwords: try row.integer(first + 12) != 0,
            keys: try row.requirement(first + 6), secureBoot: try row.requirement(first + 7),
            maximumFailures: try row.integer(first + 8),
            accessSeconds: try row.integer(first + 9),
            refreshSeconds: try row.integer(first + 10))
        roles = try row.words(first + 11)
    }
}

/// The requirements of an application for its devices, and the lifetimes of its tokens.
///
/// Key kind and Secure Boot are claims that the device has signed; the server can verify them only if
/// they are attested.
struct ApplicationPolicy: Equatable, Sendable {
    /// Whether an account may have several devices; if not, a new one replaces the others.
    var severalDevices = true
    /// Whether a person must compare the fingerprint of a new key before the key can be used.
    var commitRequired = false
    /// Whether a fingerprint is accepted as a factor.
    var biometrics = true
    /// Whether the password of the account on the device is accepted in place of a fingerprint.
    var passwords = false
    /// What is required of where keys are held.
    var keys = KeyRequirement.any
    /// What is required of Secure Boot.
    var secureBoot = BootRequirement.any
    /// How many counted failures in a row, as in `RegistrationRecord.failures`, block a
    /// registration.
    var maximumFailures: Int64 = 5
    /// The lifetime of an access token, in seconds.
    var accessSeconds: Int64 = 300
    /// The lifetime of a session and its refresh tokens, in seconds.
    var refreshSeconds: Int64 = 86_400

    /// Whether something must be attested, which rules out passwords: their keys are not.
    var needsAttestation: Bool { keys == .attested || secureBoot == .attested }

    /// The factors that the policy accepts where nothing else says so.
    var factors: AcceptedFactors { passwords && !needsAttestation ? .either : .fingerprint }
}

extension ApplicationRows {
    func list() throws(DatabaseFault) -> [ApplicationRecord] {
        let rows = try store.run(
            """
            SELECT id, name, audience, devices, commit_required, biometrics, minimum_key,
                minimum_boot, max_failures, access_seconds, refresh_seconds, roles, passwords
            FROM application WHERE removed IS NULL ORDER BY name
            """)
        var found: [ApplicationRecord] = []
        for row in rows { found.append(try ApplicationRecord(row)) }
        return found
    }

    func application(audience: String) throws(DatabaseFault) -> ApplicationRecord? {
        let rows = try store.run(
            """
            SELECT id, name, audience, devices, commit_required, biometrics, minimum_key,
                minimum_boot, max_failures, access_seconds, refresh_seconds, roles, passwords
            FROM application WHERE audience = $1 AND removed IS NULL
            """, [.text(audience)])
        guard let row = rows.first else { return nil }
        return try ApplicationRecord(row)
    }

    func application(name: String) throws(DatabaseFault) -> ApplicationRecord? {
        let rows = try store.run(
            """
            SELECT id, name, audience, devices, commit_required, biometrics, minimum_key,
                minimum_boot, max_failures, access_seconds, refresh_seconds, roles, passwords
            FROM application WHERE name = $1 AND removed IS NULL
            """, [.text(name)])
        guard let row = rows.first else { return nil }
        return try ApplicationRecord(row)
    }

    func application(ofAccount account: Int64) throws(DatabaseFault) -> ApplicationRecord? {
        let rows = try store.run(
            """
            SELECT a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds,
                a.refresh_seconds, a.roles, a.passwords
            FROM application a JOIN account c ON c.application = a.id
            WHERE c.id = $1 AND a.removed IS NULL
            """, [.integer(account)])
        guard let row = rows.first else { return nil }
        return try ApplicationRecord(row)
    }
}

extension Row {
    /// A column with a word of a policy.
    fileprivate func requirement<Requirement: RawRepresentable<String>>(
        _ column: Int
    ) throws(DatabaseFault) -> Requirement {
        guard let found = Requirement(rawValue: try text(column)) else {
            throw .broken("a policy of unknown form")
        }
        return found
    }
}
