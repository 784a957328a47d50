// SPDX-License-Identifier: Apache-2.0
import SQL

/// The table `activation`: activation codes, stored only as digests.
///
/// An account has at most one valid code. A code is used up in the transaction that begins the
/// registration, so several concurrent uses cannot succeed.
struct ActivationRows {
    let store: any Transaction
}

extension Transaction {
    var activations: ActivationRows { ActivationRows(store: self) }
}

extension ActivationRows {
    /// Stores the digest of an activation code, and invalidates the account's earlier codes.
    ///
    /// `maker` is the address that asked for the code.
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

    /// Uses up a code and returns its account; nil if the code is unknown, used or expired.
    ///
    /// A code of a blocked account is also refused, but not used up.
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

    /// Whether `useActivation` would succeed now; nothing is changed.
    func isValid(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            SELECT 1 FROM activation n JOIN account a ON a.id = n.account
            WHERE n.hash = $1 AND n.used IS NULL AND n.expires > $2 AND a.blocked = 0
            """, [.bytes(hash), .integer(now)]
        ).isEmpty
    }

    /// Returns the account of a code whether or not the code is still valid; nil for an unknown
    /// code.
    func activationAccount(_ hash: [UInt8]) throws(DatabaseFault) -> Int64? {
        let rows = try store.run("SELECT account FROM activation WHERE hash = $1", [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return try row.integer(0)
    }
}
