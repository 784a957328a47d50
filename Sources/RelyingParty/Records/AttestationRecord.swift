// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// An attestation that was begun: a row of the table `attestation` without evidence.
struct AttestationRecord: Equatable, Sendable {
    /// The certificate of the TPM's endorsement key in DER, which was checked.
    let certificate: [UInt8]
    /// The public area of its attestation key, which was checked.
    let keyArea: [UInt8]
    /// The SHA-256 of the secret that the TPM has to read.
    let secretHash: [UInt8]
}

/// The table `attestation`: one row for each registration whose device has named its TPM.
///
/// It is deleted with its registration. A secret can be used once: keeping the evidence forgets it.
struct AttestationRows {
    let store: any Transaction
}

extension Transaction {
    var attestations: AttestationRows { AttestationRows(store: self) }
}

extension AttestationRows {
    /// Stores an attestation that begins, in place of one that the registration has begun before.
    func begin(
        _ record: AttestationRecord, of registration: RegistrationID, until expires: Int64
    ) throws(DatabaseFault) {
        // In one statement: of several at once, none meets a row that it did not see.
        try store.run(
            """
            INSERT INTO attestation (registration, certificate, key_area, secret_hash, expires)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (registration) DO UPDATE SET certificate = excluded.certificate,
                key_area = excluded.key_area, secret_hash = excluded.secret_hash,
                expires = excluded.expires, evidence = NULL
            """,
            [
                .id(registration), .bytes(record.certificate), .bytes(record.keyArea),
                .bytes(record.secretHash), .integer(expires),
            ])
    }

    /// The attestation that a registration has begun; nil if there is none, if it has expired, or
    /// if it has evidence already.
    func begun(
        by registration: RegistrationID, at now: Int64
    ) throws(DatabaseFault) -> AttestationRecord? {
        let rows = try store.run(
            """
            SELECT certificate, key_area, secret_hash FROM attestation
            WHERE registration = $1 AND secret_hash IS NOT NULL AND expires > $2
            """, [.id(registration), .integer(now)])
        return try rows.first.map { row throws(DatabaseFault) in
            AttestationRecord(
                certificate: try row.bytes(0), keyArea: try row.bytes(1),
                secretHash: try row.bytes(2))
        }
    }

    /// Stores the evidence of a registration, and forgets the secret.
    func keep(
        evidence: String, of registration: RegistrationID
    ) throws(DatabaseFault) {
        try store.run(
            """
            UPDATE attestation SET evidence = $1, secret_hash = NULL WHERE registration = $2
            """, [.text(evidence), .id(registration)])
    }

    /// The evidence of a registration; nil if it is not attested.
    func evidence(of registration: RegistrationID) throws(DatabaseFault) -> String? {
        let rows = try store.run(
            "SELECT evidence FROM attestation WHERE registration = $1 AND evidence IS NOT NULL",
            [.id(registration)])
        return try rows.first?.text(0)
    }
}
