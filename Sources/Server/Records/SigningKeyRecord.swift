// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database

/// One of the server's own keys, as it lies in the database.
struct SigningKeyRecord: Sendable {
    /// The thumbprint: the `kid` of its tokens.
    let id: String
    /// 65 bytes.
    let publicKey: [UInt8]
    /// The private half, sealed for the row of this public key.
    let sealed: [UInt8]
    let created: Int64
    /// From when on nothing is signed with it; that may be to come.
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
    /// The one of them, of a use, that signs: that which is to be retired within the time that its
    /// successor is published before it signs, else the one that is not retired. When they were
    /// made, and a retirement far ahead, say nothing: a clock may have been wrong then.
    func signing(_ use: KeyUse, at now: Int64) -> SigningKeyRecord? {
        let leaving = filter { key in
            key.retired.map { $0 > now && $0 - now <= use.leadSeconds } ?? false
        }
        return leaving.min { ($0.retired ?? .max) < ($1.retired ?? .max) }
            ?? first { $0.retired == nil }
    }
}

/// A key that was just made.
struct NewKey: Sendable {
    let id: String
    let publicKey: [UInt8]
    let sealed: [UInt8]

    init(_ seal: RowSeal) throws(CryptoFault) {
        let key = try P256PrivateKey.generate()
        publicKey = key.publicPoint
        id = String(
            decoding: try JSONWebKey(P256PublicKey(point: publicKey)).id, as: UTF8.self)
        sealed = try seal.seal(try key.pkcs8(), row: publicKey)
    }
}

/// The rows of the server's own keys.
struct SigningKeyRows {
    let store: any Transaction
}

extension Transaction {
    var signingKeys: SigningKeyRows { SigningKeyRows(store: self) }
}

extension SigningKeyRows {
    /// The keys for a use, the oldest first.
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

    /// Keeps a new key; false where there is one for this use that signs.
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

    /// Has the newest key for a use sign no more from a moment on.
    func endSigningKey(_ use: KeyUse, at moment: Int64) throws(DatabaseFault) {
        try store.run(
            "UPDATE signing_key SET retired = $1 WHERE use = $2 AND retired IS NULL",
            [.integer(moment), .text(use.rawValue)])
    }

    /// Forgets a key.
    func forgetSigningKey(_ id: String) throws(DatabaseFault) {
        try store.run("DELETE FROM signing_key WHERE id = $1", [.text(id)])
    }
}

/// What a key is for; a key for one use serves no other.
enum KeyUse: String, CaseIterable, Sendable {
    /// Access tokens.
    case token = "token"
    /// Verdicts for PAM modules.
    case verdict = "verdict"

    /// How long a new key is published before it signs, in seconds: whoever verifies has kept the
    /// others for five minutes, and a server reads them anew each second. A verdict's is pinned, and
    /// published nowhere.
    var leadSeconds: Int64 {
        switch self {
        case .token: 600
        case .verdict: 0
        }
    }
}
