// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Why a registration was removed, as stored with it.
enum RemovalReason {
    /// Another device was registered where the policy allows only one.
    static let replaced = "replaced"
    /// The device asked for it.
    static let device = "device"
    /// The application asked for it.
    static let application = "application"
    /// The administrator did it with `signet-server admin`.
    static let administrator = "administrator"
}

/// How a person was recognised. Sessions store this, so that a later policy can end them.
enum Factor {
    /// A finger, as statements encode it.
    static let fingerprint = [UInt8]("fingerprint".utf8)
    /// A finger, as answers and sessions name it.
    static let touch = "fingerprint"
    /// Possession of the device alone, without a touch.
    static let possession = "possession"
}

/// Why a correctly signed request is refused, by its registration, account or policy.
extension Signer {
    /// Why what this signer signed is refused; nil if it is acceptable.
    ///
    /// The reason is given only to a caller that signed with the registered key.
    func objection(to claims: StatementClaims) -> Problem? {
        standing ?? policyObjection(to: claims)
    }

    /// Why the registration or its account rules out everything; nil if the registration is ACTIVE
    /// and the account is not blocked.
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

    /// Why a token that was issued to this signer is refused; nil if it is acceptable.
    ///
    /// `factor` is how the person was recognised when the token was issued.
    func objection(toFactor factor: String) -> Problem? {
        standing ?? policyObjection(toFactor: factor)
    }

    /// Applies the policy to a token: to the key as it was registered, and to the secure boot state
    /// that the device reported last.
    private func policyObjection(toFactor factor: String) -> Problem? {
        let policy = application.policy
        if factor == Factor.touch && !policy.biometrics { return .policy }
        if policy.needsTPM && registration.keyKind != "tpm" { return .policy }
        if policy.needsSecureBoot && registration.secureBoot != "on" { return .policy }
        return nil
    }

    /// Whether a token session may continue, judged by the present policy and status.
    func holds(_ session: TokenSession, at now: Int64) -> Bool {
        !session.isRevoked && session.end(by: application.policy) > now
            && objection(toFactor: session.factor) == nil
    }

    /// Applies the policy to what a statement claims about its own making.
    func policyObjection(to claims: StatementClaims) -> Problem? {
        guard claims.factor == Factor.fingerprint, application.policy.biometrics else {
            return .policy
        }
        let integrity = claims.integrity
        if application.policy.needsTPM && integrity.key != .tpm { return .policy }
        if application.policy.needsSecureBoot && integrity.secureBoot != .on { return .policy }
        return nil
    }

    /// Whether the registered key signed this text in this namespace.
    func hasSigned(
        _ text: [UInt8], signature: [UInt8], _ namespace: SignatureNamespace
    ) -> Bool {
        guard let point = registration.publicKey else { return false }
        return isSigned(text, signature: signature, namespace, by: point)
    }
}
