import Crypto
import Database
import Statement

/// Who signed, as the database knows them.
struct Signer: Sendable {
    let application: ApplicationRecord
    let account: AccountRecord
    let registration: RegistrationRecord

    /// Why what they signed is of no use, beside its signature; nil if nothing stands against it.
    ///
    /// Told only to who signed with the registered key: so say why.
    func objection(to claims: StatementClaims) -> Problem? {
        statusObjection ?? policyObjection(to: claims)
    }

    /// The same without how it came about: why the registered key, or the account, is of no use.
    var statusObjection: Problem? {
        switch registration.status {
        case .active: break
        case .created, .pendingCommit:
            return .conflict("this device's registration is not complete")
        case .blocked: return .keyBlocked
        case .removed:
            return registration.reason == RemovalReason.replaced ? .keyReplaced : .keyRemoved
        }
        return account.isBlocked ? .keyBlocked : nil
    }

    /// What the application's policy has against how a statement came about.
    func policyObjection(to claims: StatementClaims) -> Problem? {
        guard claims.factor == Factor.fingerprint, application.policy.biometrics else {
            return .policy
        }
        let integrity = claims.integrity
        if application.policy.needsTPM && integrity.key != .tpm { return .policy }
        if application.policy.needsSecureBoot && integrity.secureBoot != .on { return .policy }
        return nil
    }
}

/// Why a registration was removed.
enum RemovalReason {
    /// Another device was registered where only one may be.
    static let replaced = "replaced"
    /// The device asked for it.
    static let device = "device"
    /// The application asked for it.
    static let application = "application"
}

/// How a person was recognised.
enum Factor {
    /// A finger, as statements say it.
    static let fingerprint = [UInt8]("fingerprint".utf8)
    /// The device alone, without a touch.
    static let possession = "possession"
}

extension Transaction {
    /// Who a statement says that it is from; nil unless there is exactly that registration, of
    /// that device, account and application.
    func signer(_ head: StatementHead) throws(DatabaseFault) -> Signer? {
        guard let registration = try registration(credential: head.credential),
            registration.device == head.device,
            let account = try account(registration.account),
            [UInt8](account.name.utf8) == head.account,
            let application = try application(ofAccount: account.id),
            [UInt8](application.audience.utf8) == head.audience
        else { return nil }
        return Signer(application: application, account: account, registration: registration)
    }
}

extension Signer {
    /// Whether a text was signed by the registered key, for one use.
    func hasSigned(
        _ text: [UInt8], signature: [UInt8], _ namespace: SignatureNamespace
    ) -> Bool {
        guard let point = registration.publicKey else { return false }
        return isSigned(text, signature: signature, namespace, by: point)
    }
}
