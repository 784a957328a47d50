// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI
import SignedFormats

// The steps of a registration that read and write the records, each within one transaction.

extension Problem {
    /// The registration's status is no longer the one that was read.
    static let changed = Problem.conflict("the registration has just changed")
}

extension Transaction {
    var registrationSteps: RegistrationSteps { RegistrationSteps(store: self) }
}

/// The steps of registrations that take several records.
struct RegistrationSteps {
    let store: any Transaction
}

extension RegistrationSteps {
    /// Records that an activation code was refused, naming its account if the code is known.
    func audit(
        refusedCode hash: [UInt8], from origin: Origin, at now: Int64
    ) throws(DatabaseFault) {
        var entry = AuditEntry(
            event: .registration, outcome: Problem.activationRefused.code)
        if let id = try store.activations.activationAccount(hash),
            let account = try store.accounts.account(id),
            let application = try store.applications.application(ofAccount: id)
        {
            entry.application = application.name
            entry.account = account.name
        }
        try store.auditTrail.note(entry, from: origin, at: now)
    }

    /// Checks a proof and stores the keys that have signed it.
    ///
    /// The registration must be CREATED and belong to the statement's device, account and audience,
    /// the account must not be blocked, and the challenge must be the one issued for it. The
    /// challenge stays valid if one of these checks fails. It is used up even if the attestation or
    /// the policy then refuses the key, or if the credential is already registered.
    ///
    /// The proof's key for the password, if there is one, is refused where passwords are not
    /// accepted. A registration that the password has confirmed needs one.
    func prove(
        _ id: RegistrationID, keys: ProvenKeys, proof: RegistrationProof, at now: Int64
    ) throws(DatabaseFault) -> Result<RegistrationState, Problem> {
        let statement = keys.statement.content
        let head = statement.head
        guard let found = try store.registrations.registration(id) else {
            return .failure(.refused)
        }
        try store.accounts.lockAccount(found.account)
        guard let registration = try store.registrations.registration(id),
            registration.status == .created,
            registration.device == head.device,
            let account = try store.accounts.account(registration.account), !account.isBlocked,
            ServerAccountName(account.name) == head.account,
            let application = try store.applications.application(ofAccount: account.id),
            Audience(application.audience) == head.audience
        else { return .failure(.refused) }
        let binding = ChallengeBinding(
            application: application.id, account: account.name, device: head.device,
            action: .register)
        guard try store.challenges.use(challenge: statement.challenge, binding: binding, at: now)
        else {
            return .failure(.refused)
        }
        let signer = Signer(
            application: application, account: account, registration: registration)
        let begun = try store.attestations.begun(by: id, at: now)
        let attested: AttestedKey?
        do throws(AttestationFault) {
            attested = try attestedKey(proof, begun: begun, at: now)
        } catch { return .failure(.attestationRefused("\(error)")) }
        let properties = attested?.properties ?? []
        let isPasswordAccepted = try store.challengeSteps.acceptPasswords(application)
        if let problem = signer.policyObjection(
            to: statement.claims,
            accepting: try store.challengeSteps.acceptedByDevices(of: application),
            attested: properties)
        {
            return .failure(problem)
        }
        let passwordKey = keys.passwordKey?.key
        guard passwordKey == nil ? statement.claims.signer != .password : isPasswordAccepted else {
            return .failure(.policy(.factor))
        }
        switch try store.registrations.keepKey(
            of: id, statement: statement, key: keys.statement.key, passwordKey: passwordKey,
            attested: properties, at: now)
        {
        case .stored:
            if let attested {
                try store.attestations.keep(evidence: attested.evidence.text, of: id)
            }
        case .credentialInUse:
            return .failure(.conflict("this credential is registered already"))
        case .notCreated: return .failure(.changed)
        case .outOfRange:
            return .failure(.conflict("the statement's counter or enrolment exceeds 63 bits"))
        }
        let isChanged =
            application.policy.commitRequired
            ? try store.registrations.setStatus(
                id, from: .created, to: .pendingCommit, reason: "", at: now)
            : try activate(signer, at: now)
        return isChanged ? .success(try state(id)) : .failure(.changed)
    }

    /// Makes a registration ACTIVE, and removes the registrations that it replaces.
    ///
    /// Those are the account's others of the same device, and all others of the account where the
    /// policy allows only one device. Call this behind the account's lock. Returns false if the
    /// registration's status has changed.
    func activate(_ signer: Signer, at now: Int64) throws(DatabaseFault) -> Bool {
        for other in try store.registrations.list(ofAccount: signer.account.id)
        where other.id != signer.registration.id && other.status != .removed {
            let isSame = other.device == signer.registration.device
            guard isSame || !signer.application.policy.severalDevices else { continue }
            guard
                try store.registrations.setStatus(
                    other.id, from: other.status, to: .removed, reason: RemovalReason.replaced,
                    at: now)
            else { throw .broken("a registration was changed beside its account's lock") }
        }
        return try store.registrations.setStatus(
            signer.registration.id, from: signer.registration.status, to: .active, reason: "",
            at: now)
    }

    /// The current state of an existing registration, as the API reports it.
    func state(_ id: RegistrationID) throws(DatabaseFault) -> RegistrationState {
        guard let registration = try store.registrations.registration(id),
            let account = try store.accounts.account(registration.account)
        else { throw .broken("a registration that was just there is gone") }
        return RegistrationState(registration, account: account)
    }
}

/// What the TPM has proven of a key; nil if the proof has no attestation.
private func attestedKey(
    _ proof: RegistrationProof, begun: AttestationRecord?, at now: Int64
) throws(AttestationFault) -> AttestedKey? {
    guard let attestation = proof.attestation else { return nil }
    guard let begun else { throw .notBegun }
    return try AttestedKey.verify(attestation, begun: begun, proof: proof, at: now)
}
