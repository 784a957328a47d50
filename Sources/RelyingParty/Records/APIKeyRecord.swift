// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// Whether an API key may be used, and what for.
struct APIKeyState: Equatable, Sendable {
    /// Words of the database that name no scope are left out, so they permit nothing. A key that
    /// another one made administers nothing, whatever was granted to it: what it made would outlive
    /// that one.
    let scopes: Set<Scope>
    /// The time from which on the key is not valid; nil if it does not expire.
    let expires: Int64?
    /// Whether the key was revoked, or the removal of its application has begun.
    let isRevoked: Bool

    /// Reads 6 columns, starting at `first`: scopes, expiry, and revocation or the application's
    /// removal; these two of the key that made it, which it never outlives; and whether there is
    /// such a key.
    init(_ row: Row, from first: Int) throws(DatabaseFault) {
        let granted = Set(try row.words(first).compactMap { Scope(rawValue: $0) })
        expires = earlier(try row.optionalInteger(first + 1), try row.optionalInteger(first + 3))
        let revoked = try row.optionalInteger(first + 2)
        let makerRevoked = try row.optionalInteger(first + 4)
        isRevoked = revoked != nil || makerRevoked != nil
        let isOwn = try row.integer(first + 5) == 0
        scopes = isOwn ? granted : granted.subtracting(Scope.ofAdministration)
    }
}

/// An API key with its application, which may be under removal.
struct APIKeyRecord: Sendable {
    /// The key's name within its application.
    let name: String
    let application: ApplicationRecord
    let state: APIKeyState
}

/// What was granted to an API key itself, without regard to the key that made it.
struct APIKeyGrant: Sendable {
    let scopes: Set<Scope>
    let expires: APIKeyExpiry
    /// Whether another key made it, over HTTP.
    let isDelegated: Bool

    /// Whether a key that is changed as stated may do something, or at some time, that it may not now.
    func isExceeded(by change: APIKeyChange) -> Bool {
        if let scopes = change.scopes, !self.scopes.isSuperset(of: scopes) { return true }
        if let expires = change.expires, expires.isLater(than: self.expires) { return true }
        return false
    }
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

    func isLater(than other: APIKeyExpiry) -> Bool {
        switch (self, other) {
        case (_, .never): false
        case (.never, .at): true
        case (.at(let one), .at(let other)): one > other
        }
    }

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
                a.refresh_seconds, a.roles, a.passwords, k.name, k.scopes, k.expires,
                COALESCE(k.revoked, a.removed), m.expires,
                CASE WHEN k.made_by IS NULL THEN NULL WHEN m.hash IS NULL THEN 0
                    ELSE COALESCE(m.revoked, b.removed) END,
                CASE WHEN k.made_by IS NULL THEN 0 ELSE 1 END
            FROM application a JOIN api_key k ON k.application = a.id
                LEFT JOIN api_key m ON m.hash = k.made_by
                LEFT JOIN application b ON b.id = m.application
            WHERE k.hash = $1
            """, [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return APIKeyRecord(
            name: try row.text(ApplicationRecord.columns), application: try ApplicationRecord(row),
            state: try APIKeyState(row, from: ApplicationRecord.columns + 1))
    }

    /// Stores an API key's hash; returns false if the application has or had a key of this name.
    ///
    /// `maker` is the digest of the API key by which it is made over HTTP.
    func keepAPIKey(
        _ hash: [UInt8], name: Name, scopes: [Scope] = Scope.ofApplications,
        expires: APIKeyExpiry = .never, madeBy maker: [UInt8]? = nil, of application: Int64,
        at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO api_key (hash, application, name, scopes, expires, created, made_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING name
            """,
            [
                .bytes(hash), .integer(application), .text(name.text), .text(words(scopes)),
                expires.value, .integer(now), maker.map(Value.bytes) ?? .null,
            ]
        ).isEmpty
    }

    /// The API keys of an application, oldest first.
    func apiKeys(of application: Int64) throws(DatabaseFault) -> [ListedKey] {
        try store.run(
            """
            SELECT k.name, k.scopes, k.created, k.expires, k.last_used, k.revoked, m.expires,
                CASE WHEN k.made_by IS NULL THEN NULL WHEN m.hash IS NULL THEN k.created
                    ELSE COALESCE(m.revoked, b.removed) END,
                CASE WHEN k.made_by IS NULL THEN NULL WHEN m.hash IS NULL THEN '(removed)'
                    ELSE b.name || '/' || m.name END
            FROM api_key k LEFT JOIN api_key m ON m.hash = k.made_by
                LEFT JOIN application b ON b.id = m.application
            WHERE k.application = $1 ORDER BY k.created, k.name
            """, [.integer(application)]
        ).map { (row) throws(DatabaseFault) in
            ListedKey(
                name: try row.text(0), scopes: try row.words(1), created: try row.integer(2),
                expires: earlier(try row.optionalInteger(3), try row.optionalInteger(6)),
                lastUsed: try row.optionalInteger(4),
                revoked: earlier(try row.optionalInteger(5), try row.optionalInteger(7)),
                madeBy: try row.optionalText(8))
        }
    }

    /// What was granted to an API key that is not revoked; nil if there is no such key.
    func grant(ofAPIKey name: String, of application: Int64) throws(DatabaseFault) -> APIKeyGrant? {
        let rows = try store.run(
            """
            SELECT scopes, expires, CASE WHEN made_by IS NULL THEN 0 ELSE 1 END FROM api_key
            WHERE application = $1 AND name = $2 AND revoked IS NULL
            """, [.integer(application), .text(name)])
        return try rows.first.map { row throws(DatabaseFault) in
            APIKeyGrant(
                scopes: Set(try row.words(0).compactMap { Scope(rawValue: $0) }),
                expires: try row.optionalInteger(1).map(APIKeyExpiry.at) ?? .never,
                isDelegated: try row.integer(2) != 0)
        }
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
    /// The API key that made it over HTTP and with which it ends at the latest, as
    /// `APPLICATION/NAME`, or `(removed)` with its application; nil for one made on the command line.
    var madeBy: String?
}

/// The earlier of two moments, of which each may never come.
private func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}

/// Scopes as they are stored, in the order of their declaration.
private func words(_ scopes: [Scope]) -> String {
    Scope.allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
}
