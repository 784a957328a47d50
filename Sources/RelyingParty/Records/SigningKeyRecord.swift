// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL

/// One of the server's signing keys: a row of the table `signing_key`.
struct SigningKeyRecord: Sendable {
    /// The key's thumbprint (RFC 7638), which is the `kid` in its tokens.
    let id: String
    /// The uncompressed point, 65 bytes.
    let publicKey: [UInt8]
    /// The private key, sealed by `RowSeal` for the row of this public key.
    let sealed: [UInt8]
    let created: Int64
    /// When the key stops signing, in seconds since 1970; may be in the future.
    let retired: Int64?

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        id = try row.text(0)
        publicKey = try row.bytes(1)
        sealed = try row.bytes(2)
        created = try row.integer(3)
        retired = try row.optionalInteger(4)
    }
}

extension [SigningKeyRecord] {
    /// Selects the key that signs now; nil if there is none.
    ///
    /// That is a key that will retire within its successor's lead time, or else the one that has no
    /// retirement. Creation times, and a retirement further ahead, are ignored, because the clock
    /// may have been wrong when they were written.
    func signing(_ use: KeyUse, at now: Int64) -> SigningKeyRecord? {
        let leaving = filter { key in
            key.retired.map { $0 > now && $0 - now <= use.leadSeconds } ?? false
        }
        return leaving.min { ($0.retired ?? .max) < ($1.retired ?? .max) }
            ?? first { $0.retired == nil }
    }
}

/// A key pair that was just generated, with its private key sealed.
struct NewKey: Sendable {
    let id: String
    let publicKey: [UInt8]
    let sealed: [UInt8]

    /// Generates a key whose id does not begin with `-`, which a command would take for an option.
    ///
    /// The id follows from the key: one key in 64 is thrown away.
    init(_ seal: RowSeal) throws(CryptoFault) {
        var key: P256PrivateKey
        var id: String
        repeat {
            key = try P256PrivateKey.generate()
            id = String(
                decoding: try JSONWebKey(P256PublicKey(point: key.publicPoint)).id, as: UTF8.self)
        } while id.hasPrefix("-")
        self.id = id
        publicKey = key.publicPoint
        sealed = try seal.seal(try key.pkcs8(), row: publicKey)
    }
}

/// The table `signing_key`; a unique index ensures that at most one key per use is not retired.
struct SigningKeyRows {
    let store: any Transaction
}

extension Transaction {
    var signingKeys: SigningKeyRows { SigningKeyRows(store: self) }
}

extension SigningKeyRows {
    static let table = "signing_key"

    /// Whether there is any key, for whatever use.
    func areAny() throws(DatabaseFault) -> Bool {
        try !store.run("SELECT id FROM signing_key LIMIT 1").isEmpty
    }

    /// The keys for a use, oldest first.
    func list(_ use: KeyUse) throws(DatabaseFault) -> [SigningKeyRecord] {
        let rows = try store.run(
            """
            SELECT id, public_key, sealed, created, retired FROM signing_key
            WHERE use = $1 ORDER BY created, id
            """, [.text(use.rawValue)])
        var keys: [SigningKeyRecord] = []
        for row in rows { keys.append(try SigningKeyRecord(row)) }
        return keys
    }

    /// Stores a new key; returns false if a key for this use exists that is not retired.
    func keep(_ key: NewKey, for use: KeyUse, at now: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO signing_key (id, use, public_key, sealed, created)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id
            """,
            [
                .text(key.id), .text(use.rawValue), .bytes(key.publicKey), .bytes(key.sealed),
                .integer(now),
            ]
        ).isEmpty
    }

    /// Sets when the current key for a use stops signing, in seconds since 1970.
    func endSigningKey(_ use: KeyUse, at moment: Int64) throws(DatabaseFault) {
        try store.run(
            "UPDATE signing_key SET retired = $1 WHERE use = $2 AND retired IS NULL",
            [.integer(moment), .text(use.rawValue)])
    }

    /// Deletes a key, so that its tokens can no longer be verified.
    func forgetSigningKey(_ id: String) throws(DatabaseFault) {
        try store.run("DELETE FROM signing_key WHERE id = $1", [.text(id)])
    }
}

/// The purpose of a signing key; no key serves two.
enum KeyUse: String, CaseIterable, Sendable {
    /// Signs access tokens.
    case token = "token"
    /// Signs verdicts for PAM modules.
    case verdict = "verdict"

    /// How long a new key is published before it signs, in seconds.
    ///
    /// Verifiers may cache the published keys for five minutes, and servers reload them every
    /// second. A verdict key is not published but pinned by the machines, so it needs no lead time.
    var leadSeconds: Int64 {
        switch self {
        case .token: 600
        case .verdict: 0
        }
    }
}
