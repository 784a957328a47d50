// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Why a registration was removed.
enum RemovalReason {
    /// Another device was registered where only one may be.
    static let replaced = "replaced"
    /// The device asked for it.
    static let device = "device"
    /// The application asked for it.
    static let application = "application"
    /// The administrator did, on the server's own machine.
    static let administrator = "administrator"
}

/// How a person was recognised.
enum Factor {
    /// A finger, as statements say it.
    static let fingerprint = [UInt8]("fingerprint".utf8)
    /// The same, as answers and sessions have it.
    static let touch = "fingerprint"
    /// The device alone, without a touch.
    static let possession = "possession"
}

/// What stands against a signer: by the registration, the account and the application's policy.
extension Signer {
    /// Why what they signed is of no use, beside its signature; nil if nothing stands against it.
    ///
    /// Told only to who signed with the registered key: so say why.
    func objection(to claims: StatementClaims) -> Problem? {
        standing ?? policyObjection(to: claims)
    }

    /// What stands against whatever they prove; nil for an ACTIVE registration of an account that
    /// is not blocked.
    var standing: Problem? {
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

    /// Why what they show without a statement, by a token that the device was given, is of no use.
    ///
    /// `factor` is how the person was recognised when it was given.
    func objection(toFactor factor: String) -> Problem? {
        standing ?? policyObjection(toFactor: factor)
    }

    /// What the application's policy has against a token: by the key as it was registered, and the
    /// last start of the device that it told of.
    private func policyObjection(toFactor factor: String) -> Problem? {
        let policy = application.policy
        if factor == Factor.touch && !policy.biometrics { return .policy }
        if policy.needsTPM && registration.keyKind != "tpm" { return .policy }
        if policy.needsSecureBoot && registration.secureBoot != "on" { return .policy }
        return nil
    }

    /// Whether a session of tokens goes on: not by what it was when it began, but by what holds now.
    func holds(_ session: TokenSession, at now: Int64) -> Bool {
        !session.isRevoked && session.end(by: application.policy) > now
            && objection(toFactor: session.factor) == nil
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

    /// Whether a text was signed by the registered key, for one use.
    func hasSigned(
        _ text: [UInt8], signature: [UInt8], _ namespace: SignatureNamespace
    ) -> Bool {
        guard let point = registration.publicKey else { return false }
        return isSigned(text, signature: signature, namespace, by: point)
    }
}
