// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// A MAC token: a row of the table `mac_token`.
struct MACTokenRecord: Equatable, Sendable {
    let id: MACTokenID
    let registration: RegistrationID
    let name: String
    /// The token's secret, sealed by `RowSeal` for the row with this id.
    let sealed: [UInt8]
    let created: Int64
    let expires: Int64
    let isRevoked: Bool

    /// Reads 7 columns, starting at `first`.
    fileprivate init(_ row: Row, from first: Int = 0) throws(DatabaseFault) {
        id = try row.id(first)
        registration = try row.id(first + 1)
        name = try row.text(first + 2)
        sealed = try row.bytes(first + 3)
        created = try row.integer(first + 4)
        expires = try row.integer(first + 5)
        isRevoked = try row.optionalInteger(first + 6) != nil
    }
}

/// The table `mac_token`: MAC tokens with their sealed secrets, kept for a day after they expire.
struct MACTokenRows {
    let store: any Transaction
}

extension Transaction {
    var macTokens: MACTokenRows { MACTokenRows(store: self) }
}

extension MACTokenRows {
    /// Stores a new token and revokes the registration's other tokens of this name.
    func keepMACToken(
        _ id: MACTokenID, name: Name, sealed: [UInt8], registration: RegistrationID,
        at now: Int64,
        until expires: Int64
    ) throws(DatabaseFault) {
        try store.run(
            """
            UPDATE mac_token SET revoked = $1
            WHERE registration = $2 AND name = $3 AND revoked IS NULL
            """, [.integer(now), .id(registration), .text(name.text)])
        try store.run(
            """
            INSERT INTO mac_token (id, registration, name, sealed, created, expires)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .id(id), .id(registration), .text(name.text), .bytes(sealed),
                .integer(now), .integer(expires),
            ])
    }

    /// Returns a token with its signer, whether or not the token is still valid.
    ///
    /// Nil if there is no such token, or if its application is being removed.
    func macToken(
        _ id: MACTokenID
    ) throws(DatabaseFault) -> (token: MACTokenRecord, signer: Signer)? {
        try Self.token(in: store.run(SignerRows.reading(macToken: id)))
    }

    /// Returns the token and its signer in the rows of `SignerRows.reading(macToken:)`; nil if there
    /// are none.
    static func token(
        in rows: [Row]
    ) throws(DatabaseFault) -> (token: MACTokenRecord, signer: Signer)? {
        guard let row = rows.first, let signer = try SignerRows.signer(in: rows) else {
            return nil
        }
        return (try MACTokenRecord(row, from: SignerRows.columns), signer)
    }

    /// A registration's stored tokens, oldest first with a resolution of one second.
    func list(
        ofRegistration registration: RegistrationID
    ) throws(DatabaseFault) -> [MACTokenRecord] {
        let rows = try store.run(
            """
            SELECT id, registration, name, sealed, created, expires, revoked FROM mac_token
            WHERE registration = $1 ORDER BY created, id
            """, [.id(registration)])
        var tokens: [MACTokenRecord] = []
        for row in rows { tokens.append(try MACTokenRecord(row)) }
        return tokens
    }

    /// Revokes a token; returns false if it was already revoked.
    func revokeMACToken(_ id: MACTokenID, at now: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            "UPDATE mac_token SET revoked = $1 WHERE id = $2 AND revoked IS NULL RETURNING id",
            [.integer(now), .id(id)]
        ).isEmpty
    }

    /// Revokes all tokens of a registration.
    func revokeMACTokens(
        ofRegistration registration: RegistrationID, at now: Int64
    ) throws(DatabaseFault) {
        try store.run(
            "UPDATE mac_token SET revoked = $1 WHERE registration = $2 AND revoked IS NULL",
            [.integer(now), .id(registration)])
    }
}
