// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import ServerAPI

// Conversions from database records to the response bodies of the API.

extension OperationReport {
    init(_ record: OperationRecord, account: AccountRecord, at now: Int64) throws(Problem) {
        operation = record.id
        self.account = account.name
        template = record.template
        purpose = record.session == nil ? .operation : .login
        data = record.data
        status = record.status(at: now)
        failureCount = record.failures
        maxFailureCount = record.maximumFailures
        device = record.device
        created = record.created
        expires = record.expires
        decided = record.decided
        registration = record.registration
        deviceName = record.deviceName
        approver = record.approver.map { Approver($0) }
        factors = record.factors.named
        factor = record.decidedBy(at: now)
        confirmed = record.consumed
        additional = try JSON.decode(AdditionalData.self, from: [UInt8](record.additional.utf8))
    }
}

extension Approver {
    fileprivate init(_ origin: Origin) {
        self.init(
            address: origin.address.isEmpty ? nil : origin.address,
            agent: origin.agent.isEmpty ? nil : origin.agent)
    }
}

extension PendingOperation {
    init(_ record: OperationRecord) {
        self.init(
            operation: record.id, template: record.template, data: record.data,
            created: record.created, expires: record.expires)
    }
}

extension OperationDetail {
    init(_ record: OperationRecord, for signer: Signer, at now: Int64) {
        self.init(
            operation: record.id, application: signer.application.name,
            audience: signer.application.audience, account: signer.account.name,
            template: record.template, data: record.data, challenge: record.challenge,
            status: record.status(at: now), failureCount: record.failures,
            maxFailureCount: record.maximumFailures, created: record.created,
            expires: record.expires, decided: record.decided,
            factors: record.acceptedFactors(by: signer.application.policy),
            missing: record.missing(for: signer, at: now))
    }
}

extension OperationRecord {
    /// The factor by which it was decided; nil if no device has decided it.
    fileprivate func decidedBy(at now: Int64) -> String? {
        switch status(at: now) {
        case .approved, .rejected: factor
        case .pending, .canceled, .expired, .failed: nil
        }
    }

    /// The factor that approves it next, if both are required and the device has given the other.
    fileprivate func missing(for signer: Signer, at now: Int64) -> KeyFactor? {
        guard status(at: now) == .pending, half == signer.registration.id else { return nil }
        return KeyFactor(rawValue: factor)?.other
    }
}

extension RegistrationState {
    init(_ record: RegistrationRecord, account: AccountRecord) {
        self.init(
            registration: record.id, account: account.name, device: record.device,
            credential: record.credential, deviceName: record.name, status: record.status,
            reason: record.reason.isEmpty ? nil : record.reason,
            fingerprint: record.publicKey.flatMap { keyFingerprint($0) },
            key: record.keyKind.isEmpty ? nil : record.keyKind,
            secureBoot: record.secureBoot.isEmpty ? nil : record.secureBoot,
            attested: record.keyKind.isEmpty ? nil : record.attested,
            factors: KeyFactor.allCases.filter { record.key(for: $0) != nil }, flags: record.flags,
            failures: record.failures, created: record.created, lastUsed: record.lastUsed)
    }
}

extension AuthenticationAnswer {
    /// The answer for a proof that was accepted.
    init(_ device: AuthenticatedDevice) {
        let signer = device.signer
        valid = true
        code = nil
        remainingAttempts = signer.remainingAttempts
        application = signer.application.name
        applicationRoles = signer.application.roles
        account = signer.account.name
        registration = signer.registration.id
        self.device = signer.registration.device
        status = signer.registration.status
        factor = device.factor
        flags = signer.flags
        roles = signer.account.roles
    }
}

extension MACTokenState {
    init(_ record: MACTokenRecord) {
        token = record.id
        name = record.name
        created = record.created
        expires = record.expires
        revoked = record.isRevoked
    }
}

extension IntrospectionAnswer {
    /// The answer for an access token that is currently valid, with the present roles and flags.
    init(_ claims: AccessClaims, signer: Signer) {
        active = true
        iss = claims.iss
        sub = claims.sub
        aud = claims.aud
        iat = claims.iat
        exp = claims.exp
        jti = claims.jti
        sid = claims.sid
        reg = claims.reg
        amr = claims.amr
        roles = signer.account.roles
        flags = signer.flags
        application = signer.application.name
        applicationRoles = signer.application.roles
        remainingAttempts = signer.remainingAttempts
        tokenType = "Bearer"
    }
}
