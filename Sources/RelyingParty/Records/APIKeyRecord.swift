// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// Whether an API key may be used, and what for.
struct APIKeyState: Equatable, Sendable {
    /// Words of the database that name no scope are left out, so they permit nothing.
    let scopes: Set<Scope>
    /// The time from which on the key is not valid; nil if it does not expire.
    let expires: Int64?
    /// Whether the key was revoked, or the removal of its application has begun.
    let isRevoked: Bool

    /// Reads 4 columns, starting at `first`: scopes, expiry, revocation, and the application's
    /// removal.
    init(_ row: Row, from first: Int = 0) throws(DatabaseFault) {
        scopes = Set(try row.words(first).compactMap { Scope(rawValue: $0) })
        expires = try row.optionalInteger(first + 1)
        let revoked = try row.optionalInteger(first + 2)
        let removed = try row.optionalInteger(first + 3)
        isRevoked = revoked != nil || removed != nil
    }
}

/// An API key with its application, which may be under removal.
struct APIKeyRecord: Sendable {
    /// The key's name within its application.
    let name: String
    let application: ApplicationRecord
    let state: APIKeyState
}

/// What `key set` changes of an API key; nil leaves a part as it is.
struct APIKeyChange: Sendable {
    let scopes: [Scope]?
    let expires: APIKeyExpiry?
}

/// When an API key ends.
enum APIKeyExpiry: Equatable, Sendable {
    case never
    /// In seconds since 1970; the key is not valid from then on.
    case at(Int64)

    fileprivate var value: Value {
        switch self {
        case .never: .null
        case .at(let moment): .integer(moment)
        }
    }
}

extension ApplicationRows {
    /// Returns an API key by its digest, whether or not it is valid; nil if there is none.
    func apiKey(_ hash: [UInt8]) throws(DatabaseFault) -> APIKeyRecord? {
        let rows = try store.run(
            """
            SELECT a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds,
                a.refresh_seconds, a.roles, a.passwords, k.name, k.scopes, k.expires, k.revoked,
                a.removed
            FROM application a JOIN api_key k ON k.application = a.id WHERE k.hash = $1
            """, [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return APIKeyRecord(
            name: try row.text(ApplicationRecord.columns), application: try ApplicationRecord(row),
            state: try APIKeyState(row, from: ApplicationRecord.columns + 1))
    }

    /// Returns whether an API key with this digest may be used now; nil if there is none.
    func stateOfAPIKey(_ hash: [UInt8]) throws(DatabaseFault) -> APIKeyState? {
        let rows = try store.run(
            """
            SELECT k.scopes, k.expires, k.revoked, a.removed
            FROM api_key k JOIN application a ON a.id = k.application WHERE k.hash = $1
            """, [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return try APIKeyState(row)
    }

    /// Stores an API key's hash; returns false if the application has or had a key of this name.
    func keepAPIKey(
        _ hash: [UInt8], name: Name, scopes: [Scope] = Scope.ofApplications,
        expires: APIKeyExpiry = .never, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO api_key (hash, application, name, scopes, expires, created)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING name
            """,
            [
                .bytes(hash), .integer(application), .text(name.text), .text(words(scopes)),
                expires.value, .integer(now),
            ]
        ).isEmpty
    }

    /// The API keys of an application, oldest first.
    func apiKeys(of application: Int64) throws(DatabaseFault) -> [ListedKey] {
        try store.run(
            """
            SELECT name, scopes, created, expires, last_used, revoked FROM api_key
            WHERE application = $1 ORDER BY created, name
            """, [.integer(application)]
        ).map { (row) throws(DatabaseFault) in
            ListedKey(
                name: try row.text(0), scopes: try row.words(1), created: try row.integer(2),
                expires: try row.optionalInteger(3), lastUsed: try row.optionalInteger(4),
                revoked: try row.optionalInteger(5))
        }
    }

    /// The scopes of an API key that is not revoked; none if there is no such key.
    func scopes(ofAPIKey name: String, of application: Int64) throws(DatabaseFault) -> [Scope] {
        let rows = try store.run(
            """
            SELECT scopes FROM api_key WHERE application = $1 AND name = $2 AND revoked IS NULL
            """, [.integer(application), .text(name)])
        guard let row = rows.first else { return [] }
        return try row.words(0).compactMap { Scope(rawValue: $0) }
    }

    /// Changes an API key; returns false if the application has no key of this name that is not
    /// revoked.
    func changeAPIKey(
        _ name: String, of application: Int64, to change: APIKeyChange
    ) throws(DatabaseFault) -> Bool {
        var isThere = true
        if let scopes = change.scopes {
            isThere =
                try store.change(
                    """
                    UPDATE api_key SET scopes = $1
                    WHERE application = $2 AND name = $3 AND revoked IS NULL
                    """, [.text(words(scopes)), .integer(application), .text(name)]) > 0
        }
        if let expires = change.expires {
            isThere =
                try store.change(
                    """
                    UPDATE api_key SET expires = $1
                    WHERE application = $2 AND name = $3 AND revoked IS NULL
                    """, [expires.value, .integer(application), .text(name)]) > 0
        }
        return isThere
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

    /// Stores when a key was last used, unless a later time is stored or the key was revoked.
    func noteUse(ofAPIKey hash: [UInt8], at moment: Int64) throws(DatabaseFault) {
        try store.add(
            """
            UPDATE api_key SET last_used = $1
            WHERE hash = $2 AND revoked IS NULL AND (last_used IS NULL OR last_used < $1)
            """, [.integer(moment), .bytes(hash)])
    }
}

/// An API key in a list, without the key itself.
struct ListedKey: Encodable, Equatable {
    let name: String
    let scopes: [String]
    let created: Int64
    let expires: Int64?
    /// When the key was last used, up to a minute ago not yet stored; nil if it never was.
    let lastUsed: Int64?
    let revoked: Int64?
}

/// Scopes as they are stored, in the order of their declaration.
private func words(_ scopes: [Scope]) -> String {
    Scope.allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
}
