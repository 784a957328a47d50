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
/// The words are those of answers, sessions and the audit trail. Sessions store the factor, so that
/// a later policy can end them.
enum AuthenticationFactor {
    /// A fingerprint.
    static let touch = KeyFactor.fingerprint.rawValue
    /// The password of the account on the device.
    static let password = KeyFactor.password.rawValue
    /// A fingerprint and the password.
    static let both = AcceptedFactors.both.rawValue
    /// Possession of the device alone, without a touch.
    static let possession = "possession"
    /// The password, for a login whose template accepts it whatever the policy says; only sessions
    /// have this word.
    static let templatePassword = "password-by-template"

    /// The word for answers, given that of a session.
    static func shown(_ session: String) -> String {
        session == templatePassword ? password : session
    }

    /// The registration's key that signs for a factor; the fingerprint's, where both have signed.
    static func key(_ factor: String) -> KeyFactor {
        [password, templatePassword].contains(factor) ? .password : .fingerprint
    }

    /// How the person was recognised, in the words of RFC 8176; nothing for possession alone.
    static func methods(_ factor: String) -> [String] {
        switch factor {
        case touch: ["fpt"]
        case password, templatePassword: ["pwd"]
        case both: ["fpt", "pwd", "mfa"]
        default: []
        }
    }
}

/// Reasons for refusing a correctly signed request: the registration, the account or the policy.
extension Signer {
    /// Why a statement that this signer has signed is refused; nil if it is acceptable.
    ///
    /// It checks the registration and account (`statusObjection`), then the policy. The reason is given
    /// only to callers that signed with the registered key; check the signature first.
    ///
    /// `accepted` are the factors that are accepted; nil for those of the application's policy.
    func objection(
        to claims: StatementClaims, accepting accepted: AcceptedFactors? = nil
    ) -> Problem? {
        statusObjection ?? policyObjection(to: claims, accepting: accepted)
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
    /// `factor` is how the person was authenticated when the token was issued, a word of `Factor`.
    func objection(toFactor factor: String) -> Problem? {
        statusObjection ?? policyObjection(toFactor: factor)
    }

    /// Applies the policy to a token: to the kind of key that was registered, and to the Secure
    /// Boot state that the device last reported.
    private func policyObjection(toFactor factor: String) -> Problem? {
        let policy = application.policy
        if [AuthenticationFactor.touch, AuthenticationFactor.both].contains(factor)
            && !policy.biometrics
        {
            return .policy(.factor)
        }
        if factor == AuthenticationFactor.password && !policy.passwords { return .policy(.factor) }
        return policy.shortfall(
            isInTPM: registration.keyKind == KeyProtection.tpm.name,
            isBootedSecurely: registration.secureBoot == SecureBoot.on.name,
            attested: registration.attested(of: AuthenticationFactor.key(factor))
        ).map { .policy($0) }
    }

    /// Whether a token session may continue, by the present policy, registration and account.
    func holds(_ session: TokenSession, at now: Int64) -> Bool {
        !session.isRevoked && session.end(by: application.policy) > now
            && objection(toFactor: session.factor) == nil
    }

    /// Applies the policy to the claims that a device signed about itself in a statement.
    ///
    /// The factor must be one that is accepted, by default by the policy; a fingerprint never is
    /// where the policy accepts no touches. Key kind and Secure Boot are the device's claims, which
    /// prove nothing beyond what is attested, and nothing is attested of a key for the password.
    ///
    /// - Parameters:
    ///   - accepted: the factors that are accepted; nil for those of the policy.
    ///   - attested: what is attested of the fingerprint's key; nil for what was when it was
    ///     registered.
    func policyObjection(
        to claims: StatementClaims, accepting accepted: AcceptedFactors? = nil,
        attested: [AttestedProperty]? = nil
    ) -> Problem? {
        let policy = application.policy
        guard let factor = KeyFactor(line: claims.factor),
            policy.accepts(factor, among: accepted ?? policy.factors)
        else { return .policy(.factor) }
        return policy.shortfall(
            isInTPM: claims.integrity.key == .tpm,
            isBootedSecurely: claims.integrity.secureBoot == .on,
            attested: factor == .fingerprint ? attested ?? registration.attested : []
        ).map { .policy($0) }
    }

    /// The authentication methods (RFC 8176) that a factor (`Factor`) with this key stands for.
    ///
    /// `hwk` needs proof. A key that the device only says is in a TPM is `pop`, which claims no
    /// more than that there is a key. A fingerprint and a password together are `mfa`, too.
    func methods(ofFactor factor: String) -> [String] {
        let key =
            registration.attested(of: AuthenticationFactor.key(factor)).contains(.key)
            ? "hwk" : registration.keyKind == KeyProtection.file.name ? "swk" : "pop"
        return AuthenticationFactor.methods(factor) + [key]
    }

    /// How many counted failures are left until the registration is BLOCKED.
    var remainingAttempts: Int64 {
        max(0, application.policy.maximumFailures - registration.failures)
    }
}

extension Problem {
    /// The problem of a right code that is refused, as the back end that asked is told it: with how
    /// many failures the device has left. A nil `signer` adds nothing.
    func telling(_ signer: Signer?) -> Problem {
        var told = self
        told.remainingAttempts = remainingAttempts ?? signer?.remainingAttempts
        return told
    }
}

extension StatementClaims {
    /// The factor whose key must have signed: the password's for the password, else the
    /// fingerprint's, also for a removal, which needs neither.
    var signer: KeyFactor { KeyFactor(line: factor) ?? .fingerprint }
}

extension ApplicationPolicy {
    /// Whether a factor is accepted where these are; a fingerprint is not where none is accepted.
    func accepts(_ factor: KeyFactor, among accepted: AcceptedFactors) -> Bool {
        accepted.accepts(factor) && (factor != .fingerprint || biometrics)
    }

    /// What a device must fulfil, where these factors are accepted.
    func forDevices(accepting accepted: AcceptedFactors) -> DevicePolicy {
        DevicePolicy(
            factors: KeyFactor.allCases.filter { accepts($0, among: accepted) }, keys: keys,
            secureBoot: secureBoot)
    }

    /// What a device with these properties does not fulfil of the policy; nil if it fulfils all.
    fileprivate func shortfall(
        isInTPM: Bool, isBootedSecurely: Bool, attested: [AttestedProperty]
    ) -> PolicyRequirement? {
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
        return isKeyGood ? isBootGood ? nil : .secureBoot : .keys
    }
}

extension LineWord {
    /// The word as records and bodies have it.
    var name: String { "\(word)" }
}
