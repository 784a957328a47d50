// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI
import SignedFormats

/// A registration with its account and application, as they are in the database.
///
/// It identifies who signed. It is a class because it is passed through many functions: copying its
/// two dozen strings at each step took longer than parsing the statement.
final class Signer: Sendable {
    let application: ApplicationRecord
    let account: AccountRecord
    let registration: RegistrationRecord

    init(application: ApplicationRecord, account: AccountRecord, registration: RegistrationRecord) {
        self.application = application
        self.account = account
        self.registration = registration
    }

    /// The flags in answers and tokens: the account's, followed by the registration's.
    var flags: [String] { account.flags + registration.flags }
}

/// Reads a registration together with its account and application in one query.
struct SignerRows {
    let store: any Transaction
}

extension Transaction {
    var signers: SignerRows { SignerRows(store: self) }
}

extension SignerRows {
    /// Returns the signer that a statement names, whatever its status.
    ///
    /// Nil unless credential, device, account and audience all belong to one registration, and its
    /// application is not being removed.
    func signer(_ head: StatementHead) throws(DatabaseFault) -> Signer? {
        try Self.signer(head, in: store.run(Self.reading(credential: head.credential)))
    }

    /// Returns the signer that a statement names, from the rows of `reading(credential:)`.
    static func signer(
        _ head: StatementHead, in rows: [Row]
    ) throws(DatabaseFault) -> Signer? {
        guard let signer = try signer(in: rows),
            signer.registration.device == head.device,
            ServerAccountName(signer.account.name) == head.account,
            Audience(signer.application.audience) == head.audience
        else { return nil }
        return signer
    }

    /// Returns the signer in the rows of `reading`; nil if there are none.
    static func signer(in rows: [Row]) throws(DatabaseFault) -> Signer? {
        try rows.first.map { row throws(DatabaseFault) in try Signer(row) }
    }

    /// Reads the signer of a credential, as `signer(_:)` does.
    static func reading(credential: CredentialID) -> BoundStatement {
        BoundStatement(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, r.name, c.id, c.application, c.name, c.blocked,
                c.flags, c.roles, a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds,
                a.roles, a.passwords
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.credential = $1 AND a.removed IS NULL
            """, [.id(credential)])
    }

    /// Returns the signer of a registration in any status, unless its application is being removed.
    func signer(registration id: RegistrationID) throws(DatabaseFault) -> Signer? {
        try Self.signer(in: store.run(Self.reading(registration: id)))
    }

    /// Reads the signer of a registration, as `signer(registration:)` does.
    static func reading(registration id: RegistrationID) -> BoundStatement {
        BoundStatement(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, r.name, c.id, c.application, c.name, c.blocked,
                c.flags, c.roles, a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds,
                a.roles, a.passwords
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.id = $1 AND a.removed IS NULL
            """, [.id(id)])
    }

    /// How many columns `signer(in:)` reads.
    static let columns =
        RegistrationRecord.columns + AccountRecord.columns + ApplicationRecord.columns

    /// Reads the signer of a MAC token's registration, followed by the token's own columns; see
    /// `MACTokenRows.token`.
    static func reading(macToken id: MACTokenID) -> BoundStatement {
        BoundStatement(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, r.name, c.id, c.application, c.name, c.blocked,
                c.flags, c.roles, a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds,
                a.roles, a.passwords,
                t.id, t.registration, t.name, t.sealed, t.created, t.expires, t.revoked
            FROM mac_token t JOIN registration r ON r.id = t.registration
                JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE t.id = $1 AND a.removed IS NULL
            """, [.id(id)])
    }
}

extension Signer {
    fileprivate convenience init(_ row: Row) throws(DatabaseFault) {
        self.init(
            application: try ApplicationRecord(
                row, from: RegistrationRecord.columns + AccountRecord.columns),
            account: try AccountRecord(row, from: RegistrationRecord.columns),
            registration: try RegistrationRecord(row))
    }
}
