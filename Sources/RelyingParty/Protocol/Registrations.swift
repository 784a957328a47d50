// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

/// The life of a device's registration, from the activation code to its removal.
///
/// It begins with an activation code (CREATED), is proven by a signature of the new key, and, if
/// the policy requires it, awaits a commit by the application (PENDING_COMMIT). Then it is ACTIVE
/// and can be BLOCKED, unblocked or REMOVED.
///
/// An existing registration is changed only behind its account's lock, and each change leaves an
/// audit line. A registration must be proven within 300 seconds. One that becomes ACTIVE replaces
/// the account's other registrations of the same device, and, if the policy allows only one device,
/// all others of the account.
struct Registrations: Sendable {
    let challenges: Challenges
    let core: ServerCore
}

extension Registrations {
    /// The time within which a new registration must be proven, in seconds.
    static let proofSeconds: Int64 = 300
    /// The default validity of an activation code, in seconds.
    private static let activationSeconds: Int64 = 600

    /// `POST /v1/activations`: issues an activation code for an account, creating the account if
    /// new.
    ///
    /// The caller is the application. The code is valid for 600 seconds unless the request says
    /// otherwise (30 seconds to a day).
    ///
    /// - Throws: `.malformed` for any other time, and `.conflict` if the account is blocked.
    func makeActivation(_ call: Call) async throws(Problem) -> ActivationAnswer {
        let fields = try call.body(ActivationRequest.self)
        let application = try call.caller()
        let seconds = fields.expiresIn ?? Self.activationSeconds
        guard (30...86_400).contains(seconds) else {
            throw .malformed("'expiresIn' must be 30 to 86400 seconds")
        }
        return try await makeActivation(
            of: fields.account, application: application, seconds: seconds, from: call.origin)
    }

    /// Issues an activation code, for the API and for the administrator's command.
    ///
    /// The account's earlier codes become invalid. The code is returned only here; the database
    /// stores its digest. A refusal because the account is blocked leaves an audit line.
    ///
    /// - Throws: `.conflict` if the account is blocked, `.apiKeyRefused` if the application is
    ///   being removed.
    func makeActivation(
        of account: Name, application: ApplicationRecord, seconds: Int64, from origin: Origin
    ) async throws(Problem) -> ActivationAnswer {
        let code = try core.made { () throws(CryptoFault) in try ActivationCode.generate() }
        let hash = try core.made { () throws(CryptoFault) in try code.digest() }
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            // The application may have been removed since its API key was checked.
            guard try store.applications.hold(application: application.id) else {
                return .failure(.apiKeyRefused)
            }
            let record = try store.accounts.makeAccount(account.text, of: application.id, at: now)
            // Of several codes issued at once, only the last one is valid.
            try store.accounts.lockAccount(record.id)
            var entry = AuditEntry(
                event: .activation, outcome: "ok", application: application.name,
                account: record.name)
            // Read behind the lock that blocking also takes.
            guard try store.accounts.account(record.id)?.isBlocked == false else {
                let problem = Problem.accountBlocked
                entry.outcome = problem.code
                try store.auditTrail.note(entry, from: origin, at: now)
                return .failure(problem)
            }
            try store.activations.keepActivation(
                hash, account: record.id, maker: origin.address, at: now, until: now + seconds)
            try store.auditTrail.note(entry, from: origin, at: now)
            return .success(
                ActivationAnswer(
                    code: String(decoding: code.text, as: UTF8.self), account: record.name,
                    application: application.name,
                    expires: now + seconds))
        }
    }

    /// `POST /v1/registrations`: uses up an activation code and begins a registration.
    ///
    /// Anyone may call this; the code is the proof. The answer contains the challenge that the new
    /// key must sign within 300 seconds.
    ///
    /// - Throws: `.activationRefused` for a code that is malformed, unknown, used or expired, or
    ///   whose account is blocked; the caller cannot tell these apart, and all but the first leave
    ///   an audit line.
    func beginRegistration(_ call: Call) async throws(Problem) -> BegunRegistration {
        let fields = try call.body(RegistrationRequest.self)
        guard let code = try? ActivationCode(typed: [UInt8](fields.code.utf8)) else {
            throw .activationRefused
        }
        let hash = try core.made { () throws(CryptoFault) in try code.digest() }
        let id: RegistrationID = try core.random()
        let challenge: Challenge = try core.random()
        let moment = core.moment
        let now = moment.seconds
        return try await core.write { store throws(DatabaseFault) in
            guard let account = try store.activations.useActivation(hash, at: now),
                let record = try store.accounts.account(account),
                let application = try store.applications.application(ofAccount: account)
            else {
                try store.registrationSteps.audit(refusedCode: hash, from: call.origin, at: now)
                return .failure(.activationRefused)
            }
            try store.registrations.keepRegistration(
                id, account: account, device: fields.device, name: fields.deviceName, at: now)
            let binding = ChallengeBinding(
                application: application.id, account: record.name, device: fields.device,
                action: .register)
            try store.challenges.keep(
                challenge: challenge, binding: binding, issued: moment,
                until: now + Self.proofSeconds)
            var entry = AuditEntry(
                event: .registration, outcome: AuditEntry.begun, application: application.name,
                account: record.name, registration: id)
            entry.detail = fields.deviceName.map { "name: \($0.text)" } ?? ""
            try store.auditTrail.note(entry, from: call.origin, at: now)
            return .success(
                BegunRegistration(
                    registration: id, account: record.name, application: application.name,
                    audience: application.audience, challenge: challenge,
                    expires: now + Self.proofSeconds,
                    factors: try store.challengeSteps.acceptPasswords(application)
                        ? [.fingerprint, .password] : [.fingerprint]))
        }
    }

    /// `POST /v1/registrations/{id}/proof`: accepts a new key that has signed the challenge.
    ///
    /// The signature must be by the key in the body, over a statement in the namespace of
    /// registrations. A wrong signature changes nothing, so the device may try again; see `prove`
    /// for the checks and for the use of the challenge.
    ///
    /// - Throws: `.malformed` if the statement is not canonical or not for a registration,
    ///   `.attestationRefused` if what its TPM has stated does not hold, `.policy` if the policy
    ///   does not permit the key, `.conflict` if the credential is already
    ///   registered, and `.refused` if any other check fails.
    func proveRegistration(_ call: Call) async throws(Problem) -> RegistrationState {
        let id: RegistrationID = try call.id()
        let proof = try call.body(RegistrationProof.self)
        let signed = try registrationStatement(proof)
        let statement = signed.content
        let keys = ProvenKeys(proof, signed: signed)
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            let result =
                try keys.map { keys throws(DatabaseFault) in
                    try store.registrationSteps.prove(id, keys: keys, proof: proof, at: now)
                } ?? .failure(.refused)
            // The names of the registration's owner, not those that the unverified statement
            // claims.
            var line: AuditEntry
            if let signer = try store.signers.signer(registration: id) {
                line = entry(.registration, signer: signer, problem: result.problem)
                line.detail = proofDetail(of: result, claims: statement.claims)
            } else {
                line = AuditEntry(
                    event: .registration, outcome: result.problem?.code ?? "ok",
                    detail: "unknown registration \(hexadecimal(id))")
            }
            try store.auditTrail.note(line, from: call.origin, at: now)
            return result
        }
    }

    /// `POST /v1/registrations/{id}/password-key`: replaces the registration's key for the
    /// password, or adds one.
    ///
    /// The proof is a challenge for the action `password-key`, signed with the fingerprint key
    /// after a touch; its purpose names the new key, which has signed the same statement in the
    /// namespace of registrations.
    ///
    /// - Throws: `.refused` if the new key has not signed, `.policy` if neither the application nor
    ///   any of its templates accepts passwords, `.notFound` if the statement is of another
    ///   registration, and the problems of `Challenges.redeem`.
    func replacePasswordKey(_ call: Call) async throws(Problem) -> RegistrationState {
        let id: RegistrationID = try call.id()
        let fields = try call.body(PasswordKeyRequest.self)
        let key = fields.passwordKey
        let now = core.now
        return try await challenges.redeem(
            fields.proof, action: .passwordKey, event: .passwordKey, from: call.origin
        ) {
            store, signer, statement throws(DatabaseFault) in
            guard signer.registration.id == id else { return .failure(.notFound) }
            // Two factors are two keys.
            guard let proven = key.proven(by: statement.content),
                proven.key != signer.registration.publicKey
            else { return .failure(.refused) }
            guard try store.challengeSteps.acceptPasswords(signer.application) else {
                return .failure(.policy(.factor))
            }
            let isKept = try store.registrations.setPasswordKey(
                proven.key, of: id, at: now)
            return isKept ? .success(try store.registrationSteps.state(id)) : .failure(.changed)
        }
    }

    /// `POST /v1/registrations/{id}/commit`: activates a registration of the calling application.
    ///
    /// The application calls this after a person has compared the fingerprint of the new key.
    func commitRegistration(_ call: Call) async throws(Problem) -> RegistrationState {
        let fields = try call.body(CommitRequest.self)
        return try await commit(
            try call.id(), of: try call.caller(), fingerprint: fields.fingerprint,
            from: call.origin)
    }

    /// Commits a registration, for the API and for the administrator's command.
    ///
    /// - Throws: `.notFound` if the application has no such registration, and `.conflict` unless it
    ///   is PENDING_COMMIT and `fingerprint` is that of its key, in the form of `ssh-keygen -l`.
    func commit(
        _ id: RegistrationID, of application: ApplicationRecord, fingerprint: String,
        from origin: Origin
    ) async throws(Problem) -> RegistrationState {
        try await changeOwn(id, of: application, event: .commit, from: origin) {
            store, signer, now throws(DatabaseFault) in
            guard signer.registration.status == .pendingCommit else {
                return .failure(.conflict("this registration does not await a comparison"))
            }
            guard let key = signer.registration.publicKey,
                fingerprint == keyFingerprint(key)
            else { return .failure(.conflict("the fingerprint does not match")) }
            return try store.registrationSteps.activate(signer, at: now)
                ? .success(()) : .failure(.changed)
        }
    }

    /// `…/block`, `…/unblock` and `…/remove`: changes the status of the application's registration.
    func change(
        _ call: Call, to status: RegistrationStatus
    ) async throws(Problem) -> RegistrationState {
        try call.emptyBody()
        return try await change(
            try call.id(), of: try call.caller(), to: status,
            because: RemovalReason.application, from: call.origin)
    }

    /// Changes the status, for the API and for the administrator's command.
    ///
    /// ACTIVE may become BLOCKED, BLOCKED may become ACTIVE, and each status except REMOVED may
    /// become REMOVED, which is final. Unblocking resets the failure count. `reason` is stored with
    /// BLOCKED and REMOVED.
    ///
    /// - Throws: `.notFound` if the application has no such registration, and `.conflict` for any
    ///   other change, or if the status was changed at the same time.
    func change(
        _ id: RegistrationID, of application: ApplicationRecord, to status: RegistrationStatus,
        because reason: String, from origin: Origin
    ) async throws(Problem) -> RegistrationState {
        let event: AuditEntry.Event =
            switch status {
            case .active: .unblock
            case .blocked: .block
            case .created, .pendingCommit, .removed: .removal
            }
        return try await changeOwn(id, of: application, event: event, from: origin) {
            store, signer, now throws(DatabaseFault) in
            let from = signer.registration.status
            let isAllowed =
                switch status {
                case .blocked: from == .active
                case .active: from == .blocked
                case .removed: from != .removed
                case .created, .pendingCommit: false
                }
            guard isAllowed else {
                return .failure(.conflict("not possible: the registration is \(from.rawValue)"))
            }
            guard
                try store.registrations.setStatus(
                    signer.registration.id, from: from, to: status,
                    reason: status == .active ? "" : reason, at: now)
            else { return .failure(.changed) }
            if status == .active { try store.registrations.forgetFailures(signer.registration.id) }
            return .success(())
        }
    }

    /// `POST /v1/registrations/{id}/disable`: removes a registration at the request of its device.
    ///
    /// The proof is a signed challenge for the action `remove`. A device can give up its
    /// registration under any policy, but not while it or its account is blocked.
    func disableRegistration(_ call: Call) async throws(Problem) -> RegistrationState {
        let id: RegistrationID = try call.id()
        let proof = try call.body(SignedText.self)
        let now = core.now
        return try await challenges.redeem(
            proof, action: .remove, event: .removal, from: call.origin
        ) {
            store, signer, _ throws(DatabaseFault) in
            guard signer.registration.id == id else { return .failure(.notFound) }
            let isRemoved = try store.registrations.setStatus(
                id, from: .active, to: .removed, reason: RemovalReason.device, at: now)
            return isRemoved ? .success(try store.registrationSteps.state(id)) : .failure(.changed)
        }
    }

    /// `GET /v1/registrations/{id}`: shows a registration of the calling application.
    func showRegistration(_ call: Call) async throws(Problem) -> RegistrationState {
        let id: RegistrationID = try call.id()
        let application = try call.caller()
        let found = try await core.read { store throws(DatabaseFault) -> RegistrationState? in
            guard let registration = try store.registrations.registration(id),
                let account = try store.accounts.account(registration.account),
                account.application == application.id
            else { return nil }
            return RegistrationState(registration, account: account)
        }
        guard let found else { throw .notFound }
        return found
    }

    /// `GET /v1/accounts/{name}/registrations`: lists an account's registrations in any status.
    ///
    /// The list is empty if the calling application has no such account.
    func listRegistrations(_ call: Call) async throws(Problem) -> RegistrationList {
        let application = try call.caller()
        guard let name = Name(decoding: call.parameters.first ?? "") else { throw .notFound }
        return try await core.read { store throws(DatabaseFault) in
            guard let account = try store.accounts.account(name.text, of: application.id) else {
                return RegistrationList(registrations: [])
            }
            let records = try store.registrations.list(ofAccount: account.id)
            return RegistrationList(
                registrations: records.map { RegistrationState($0, account: account) })
        }
    }

    /// What the audit line of a proof adds to its outcome: what is attested, or why it is not.
    private func proofDetail(
        of result: Result<RegistrationState, Problem>, claims: StatementClaims
    ) -> String {
        switch result {
        case .success(let state):
            let attested = state.attested ?? []
            guard claims.signer == .fingerprint, !attested.isEmpty else {
                return FactorTrail.detail(claims, attested: attested)
            }
            return "attested: \(attested.map(\.rawValue).joined(separator: " "))"
        case .failure(let problem):
            return problem.isAboutAttestation ? problem.title : FactorTrail.detail(claims)
        }
    }

    private func registrationStatement(
        _ proof: RegistrationProof
    ) throws(Problem) -> UnverifiedStatement<LoginStatement> {
        do throws(LineFault) {
            let signed = try UnverifiedStatement<LoginStatement>(
                parsing: proof.statement.bytes, signature: proof.signature.bytes)
            guard signed.content.action == LoginAction.register else { throw .malformed }
            return signed
        } catch {
            throw .malformed("'statement' is not the canonical text of a registration")
        }
    }

    /// Runs `change` on a registration of the application and writes the audit line.
    ///
    /// `change` runs with the account locked, on the registration as it is then. The audit line is
    /// also written if `change` refuses, with the code of its problem.
    private func changeOwn(
        _ id: RegistrationID, of application: ApplicationRecord, event: AuditEntry.Event,
        from origin: Origin,
        _ change:
            @escaping @Sendable (any Transaction, Signer, Int64) throws(DatabaseFault) -> Result<
                Void, Problem
            >
    ) async throws(Problem) -> RegistrationState {
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            guard let found = try store.registrations.registration(id),
                let account = try store.accounts.account(found.account),
                account.application == application.id
            else { return .failure(.notFound) }
            // Read again behind the lock: of two changes, the second sees the result of the first.
            try store.accounts.lockAccount(account.id)
            guard let registration = try store.registrations.registration(id) else {
                return .failure(.notFound)
            }
            let signer = Signer(
                application: application, account: account, registration: registration)
            let result = try change(store, signer, now)
            try store.auditTrail.note(
                entry(event, signer: signer, problem: result.problem), from: origin, at: now)
            if let problem = result.problem { return .failure(problem) }
            return .success(try store.registrationSteps.state(id))
        }
    }
}

/// Evidence that the keys of a registration have signed its statement: the fingerprint's, and the
/// password's if the proof has one.
struct ProvenKeys {
    /// The statement, with the fingerprint key.
    let statement: VerifiedStatement<LoginStatement>
    /// The statement, with the password key; nil if the device registers none.
    let passwordKey: VerifiedStatement<LoginStatement>?

    /// Verifies the signatures of a proof; nil if one of them is wrong.
    fileprivate init?(_ proof: RegistrationProof, signed: UnverifiedStatement<LoginStatement>) {
        guard let statement = signed.verified(by: proof.publicKey.bytes, in: .registration) else {
            return nil
        }
        self.statement = statement
        guard let key = proof.passwordKey else {
            passwordKey = nil
            return
        }
        // Two factors are two keys: with one alone, either factor would be both.
        guard let proven = key.proven(by: signed.content), proven.key != statement.key else {
            return nil
        }
        passwordKey = proven
    }
}

extension NewPasswordKey {
    /// The evidence that the key has signed a statement which names it as the new one, or nil.
    fileprivate func proven(by statement: LoginStatement) -> VerifiedStatement<LoginStatement>? {
        guard let point = PublicKeyPoint(publicKey.bytes),
            statement.purpose == PasswordKeyPurpose.text(point)
        else { return nil }
        return try? UnverifiedStatement(
            parsing: statement.encoded(), signature: signature.bytes
        ).verified(by: point.bytes, in: .registration)
    }
}
