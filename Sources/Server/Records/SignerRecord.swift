// SPDX-License-Identifier: Apache-2.0
import Database
import SignedFormats

/// Who signed, as the database knows them.
///
/// An object, for it goes from hand to hand: a copy of its two dozen texts at each step took longer
/// than it takes to parse what was signed.
final class Signer: Sendable {
    let application: ApplicationRecord
    let account: AccountRecord
    let registration: RegistrationRecord

    /// From its parts.
    init(application: ApplicationRecord, account: AccountRecord, registration: RegistrationRecord) {
        self.application = application
        self.account = account
        self.registration = registration
    }

    /// The words that answers and tokens say: the account's, and then the registration's.
    var flags: [String] { account.flags + registration.flags }
}

/// The rows of a registration with its account and application, in one.
struct SignerRows {
    let store: any Transaction
}

extension Transaction {
    var signers: SignerRows { SignerRows(store: self) }
}

extension SignerRows {
    /// Who a statement says that it is from; nil unless there is exactly that registration, of
    /// that device, account and application.
    func signer(_ head: StatementHead) throws(DatabaseFault) -> Signer? {
        guard let signer = try signer(credential: head.credential),
            signer.registration.device == head.device,
            [UInt8](signer.account.name.utf8) == head.account,
            [UInt8](signer.application.audience.utf8) == head.audience
        else { return nil }
        return signer
    }

    private func signer(credential: [UInt8]) throws(DatabaseFault) -> Signer? {
        let rows = try store.run(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                c.id, c.application, c.name, c.blocked, c.flags, c.roles,
                a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.credential = $1 AND a.removed IS NULL
            """, [.bytes(credential)])
        return try rows.first.map { row throws(DatabaseFault) in try Signer(row) }
    }

    /// Whose registration this is.
    func signer(registration id: [UInt8]) throws(DatabaseFault) -> Signer? {
        let rows = try store.run(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                c.id, c.application, c.name, c.blocked, c.flags, c.roles,
                a.id, a.name, a.audience, a.devices, a.commit_required, a.biometrics,
                a.minimum_key, a.minimum_boot, a.max_failures, a.access_seconds, a.refresh_seconds
            FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE r.id = $1 AND a.removed IS NULL
            """, [.bytes(id)])
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
