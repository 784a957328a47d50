// SPDX-License-Identifier: Apache-2.0
import ServerAPI
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

/// How a person was authenticated.
///
/// Sessions store the factor, so that a later policy can end them.
enum Factor {
    /// A fingerprint, as statements encode it.
    static let fingerprint = [UInt8]("fingerprint".utf8)
    /// A fingerprint, as answers and sessions name it.
    static let touch = "fingerprint"
    /// Possession of the device alone, without a touch.
    static let possession = "possession"
}

/// Reasons for refusing a correctly signed request: the registration, the account or the policy.
extension Signer {
    /// Why a statement that this signer has signed is refused; nil if it is acceptable.
    ///
    /// It checks the registration and account (`statusObjection`), then the policy. The reason is given
    /// only to callers that signed with the registered key; check the signature first.
    func objection(to claims: StatementClaims) -> Problem? {
        statusObjection ?? policyObjection(to: claims)
    }

    /// Why the registration or its account rules out any request; nil if neither does.
    ///
    /// It is nil only if the registration is ACTIVE and the account is not blocked.
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

    /// Why a token that was issued to this signer is refused; nil if it is acceptable.
    ///
    /// `factor` is how the person was authenticated when the token was issued (`Factor.touch` or
    /// `Factor.possession`).
    func objection(toFactor factor: String) -> Problem? {
        statusObjection ?? policyObjection(toFactor: factor)
    }

    /// Applies the policy to a token: to the kind of key that was registered, and to the Secure
    /// Boot state that the device last reported.
    private func policyObjection(toFactor factor: String) -> Problem? {
        let policy = application.policy
        if factor == Factor.touch && !policy.biometrics { return .policy }
        return policy.permits(
            isInTPM: registration.keyKind == KeyProtection.tpm.name,
            isBootedSecurely: registration.secureBoot == SecureBoot.on.name,
            attested: registration.attested) ? nil : .policy
    }

    /// Whether a token session may continue, by the present policy, registration and account.
    func holds(_ session: TokenSession, at now: Int64) -> Bool {
        !session.isRevoked && session.end(by: application.policy) > now
            && objection(toFactor: session.factor) == nil
    }

    /// Applies the policy to the claims that a device signed about itself in a statement.
    ///
    /// The factor must be a fingerprint. Key kind and Secure Boot are the device's claims, which
    /// prove nothing beyond what is attested.
    ///
    /// - Parameter attested: what is attested of the key; nil for what was when it was registered.
    func policyObjection(
        to claims: StatementClaims, attested: [AttestedProperty]? = nil
    ) -> Problem? {
        guard claims.factor == Factor.fingerprint, application.policy.biometrics else {
            return .policy
        }
        return application.policy.permits(
            isInTPM: claims.integrity.key == .tpm,
            isBootedSecurely: claims.integrity.secureBoot == .on,
            attested: attested ?? registration.attested) ? nil : .policy
    }

    /// The authentication methods (RFC 8176) that a factor (`Factor`) with this key stands for.
    ///
    /// `hwk` needs proof. A key that the device only says is in a TPM is `pop`, which claims no
    /// more than that there is a key.
    func methods(ofFactor factor: String) -> [String] {
        let key =
            registration.attested.contains(.key)
            ? "hwk" : registration.keyKind == KeyProtection.file.name ? "swk" : "pop"
        return factor == Factor.touch ? ["fpt", key] : [key]
    }

    /// How many counted failures are left until the registration is BLOCKED.
    var remainingAttempts: Int64 {
        max(0, application.policy.maximumFailures - registration.failures)
    }

    /// Whether the registered key signed this text in this namespace; false before a key is proven.
    func hasSigned(
        _ text: [UInt8], signature: [UInt8], namespace: SignatureNamespace
    ) -> Bool {
        guard let point = registration.publicKey else { return false }
        return isSigned(text, signature: signature, namespace: namespace, by: point)
    }
}

extension ApplicationPolicy {
    /// Whether a device with these properties fulfils the policy.
    fileprivate func permits(
        isInTPM: Bool, isBootedSecurely: Bool, attested: [AttestedProperty]
    ) -> Bool {
        let isKeyGood =
            switch keys {
            case .any: true
            case .tpm: isInTPM
            case .attested: isInTPM && attested.contains(.key)
            }
        let isBootGood =
            switch secureBoot {
            case .any: true
            case .on: isBootedSecurely
            case .attested: isBootedSecurely && attested.contains(.secureBoot)
            }
        return isKeyGood && isBootGood
    }
}

extension LineWord {
    /// The word as records and bodies have it.
    var name: String { "\(word)" }
}
