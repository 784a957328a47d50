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
        guard let signer = try signer(credential: head.credential),
            signer.registration.device == head.device,
            ServerAccountName(signer.account.name) == head.account,
            Audience(signer.application.audience) == head.audience
        else { return nil }
        return signer
    }

    private func signer(credential: CredentialID) throws(DatabaseFault) -> Signer? {
        let rows = try store.run(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, c.id, c.application, c.name, c.blocked, c.flags, c.roles,
                a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds,
                a.roles, a.passwords
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.credential = $1 AND a.removed IS NULL
            """, [.id(credential)])
        return try rows.first.map { row throws(DatabaseFault) in try Signer(row) }
    }

    /// Returns the signer of a registration in any status, unless its application is being removed.
    func signer(registration id: RegistrationID) throws(DatabaseFault) -> Signer? {
        let rows = try store.run(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, c.id, c.application, c.name, c.blocked, c.flags, c.roles,
                a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds,
                a.roles, a.passwords
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.id = $1 AND a.removed IS NULL
            """, [.id(id)])
        return try rows.first.map { row throws(DatabaseFault) in try Signer(row) }
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
