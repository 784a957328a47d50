// SPDX-License-Identifier: Apache-2.0
import Database

/// The rows of activation codes.
struct ActivationRows {
    let store: any Transaction
}

extension Transaction {
    var activations: ActivationRows { ActivationRows(store: self) }
}

extension ActivationRows {
    /// Keeps the hash of an activation code; the account's earlier ones are good no more.
    func keepActivation(
        _ hash: [UInt8], account: Int64, maker: String, at now: Int64, until expires: Int64
    ) throws(DatabaseFault) {
        _ = try store.run(
            "UPDATE activation SET used = $1 WHERE account = $2 AND used IS NULL",
            [.integer(now), .integer(account)])
        _ = try store.run(
            """
            INSERT INTO activation (hash, account, maker, created, expires)
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .bytes(hash), .integer(account), .text(maker), .integer(now),
                .integer(expires),
            ])
    }

    /// Uses a code up and gives its account; nil where it is unknown, used or too old. That of a
    /// blocked account stays as it is.
    func useActivation(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> Int64? {
        let rows = try store.run(
            """
            UPDATE activation SET used = $1
            WHERE hash = $2 AND used IS NULL AND expires > $3
                AND EXISTS (SELECT 1 FROM account a
                    WHERE a.id = activation.account AND a.blocked = 0)
            RETURNING account
            """, [.integer(now), .bytes(hash), .integer(now)])
        guard let row = rows.first else { return nil }
        return try row.integer(0)
    }

    /// Whose a code is, good or not; nil for an unknown one.
    func activationAccount(_ hash: [UInt8]) throws(DatabaseFault) -> Int64? {
        let rows = try store.run("SELECT account FROM activation WHERE hash = $1", [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return try row.integer(0)
    }
}
