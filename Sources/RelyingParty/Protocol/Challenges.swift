// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import ServerAPI
import SignedFormats

/// Issues challenges, and verifies the signed answers to them.
///
/// A challenge is 32 random bytes, bound to an application, account, device and action
/// (`ChallengeBinding`), and valid for 60 seconds; `Registrations` issues its own, valid for 300.
/// It is used at most once: of any number of concurrent answers, exactly one succeeds.
struct Challenges: Sendable {
    let core: ServerCore
    let signatures: SignatureVerification
}

extension Challenges {
    /// Verifies a signed challenge and, if all checks pass, runs `grant` in the same transaction.
    ///
    /// The use of the challenge, the counter, the audit line and the rows that `grant` writes are
    /// committed together, also for a refusal. `grant` gets the signer as read behind the account's
    /// lock, so nothing is granted after a block.
    ///
    /// - Throws: `.malformed` if the statement is not canonical, `.refused` if it is for another
    ///   action, names no registration, or if its challenge, signature or counter is not accepted;
    ///   otherwise the reason of `Signer.objection` or of `grant`.
    func redeem<T: Sendable>(
        _ proof: SignedText, action: ChallengeAction, event: AuditEntry.Event,
        from origin: Origin,
        _ grant:
            @escaping @Sendable (any Transaction, Signer, VerifiedStatement<LoginStatement>)
            throws(DatabaseFault) -> Result<T, Problem>
    ) async throws(Problem) -> T {
        let signed = try loginStatement(proof)
        let statement = signed.content
        guard statement.action == [UInt8](action.rawValue.utf8) else { throw .refused }
        let head = statement.head
        let factor = statement.claims.signer
        guard let key = try await signatures.key(of: head, for: factor) else {
            try await refuse(head, event: event, from: origin)
            throw .refused
        }
        let verified = signatures.verified(
            signed, in: .login, by: key,
            of: KeyName(credential: head.credential, factor: factor))
        let moment = core.moment
        let now = moment.seconds
        return try await core.write { store throws(DatabaseFault) in
            guard let signer = try store.signers.signer(head),
                signer.registration.key(for: factor) == key.point
            else {
                try store.auditTrail.note(unknown(head, event: event), from: origin, at: now)
                return .failure(.refused)
            }
            let verdict = try store.challengeSteps.redeem(
                statement, verified: verified, action: action, of: signer, at: moment)
            let result: Result<T, Problem> =
                switch verdict {
                case .failure(let problem): .failure(problem)
                case .success(let redeemed):
                    try grant(store, redeemed.signer, redeemed.statement)
                }
            var line = entry(event, signer: signer, problem: result.problem)
            line.detail = FactorTrail.detail(statement.claims)
            try store.auditTrail.note(line, from: origin, at: now)
            return result
        }
    }

    private func loginStatement(
        _ proof: SignedText
    ) throws(Problem) -> UnverifiedStatement<LoginStatement> {
        do throws(LineFault) {
            return try UnverifiedStatement(
                parsing: proof.statement.bytes, signature: proof.signature.bytes)
        } catch {
            throw .malformed("'statement' is not the canonical text of a login")
        }
    }

    /// Records in the audit trail that an unknown credential was refused, quoting its id.
    func refuse(
        _ head: StatementHead, event: AuditEntry.Event, from origin: Origin
    ) async throws(Problem) {
        let now = core.now
        let entry = unknown(head, event: event)
        _ = try await core.write { store throws(DatabaseFault) in
            try store.auditTrail.note(entry, from: origin, at: now)
            return .success(())
        }
    }
}

/// The audit line for a statement that names an unknown credential.
private func unknown(_ head: StatementHead, event: AuditEntry.Event) -> AuditEntry {
    AuditEntry(
        event: event, outcome: Problem.refused.code,
        detail: "unknown credential \(hexadecimal(head.credential))")
}

/// The audit line for a call by a known device; a nil `problem` means success.
func entry(_ event: AuditEntry.Event, signer: Signer, problem: Problem?) -> AuditEntry {
    AuditEntry(
        event: event, outcome: problem?.code ?? "ok", application: signer.application.name,
        account: signer.account.name, registration: signer.registration.id)
}

/// A challenge that was answered with a right signature, and is used up.
private struct RedeemedChallenge {
    let signer: Signer
    let statement: VerifiedStatement<LoginStatement>
}

extension Transaction {
    var challengeSteps: ChallengeSteps { ChallengeSteps(store: self) }
}

/// What a signed challenge must fulfil, within one transaction.
struct ChallengeSteps {
    let store: any Transaction
}

extension ChallengeSteps {
    /// Runs the checks of a signed challenge, in the order given in docs/developer/SERVER-INTEGRATE.md.
    ///
    /// The challenge is used up even if a later check fails, also if `verified` is nil because the
    /// signature is wrong. Returns the signer as it is in the database now, which may differ from
    /// `former`, with the evidence that its key signed the statement.
    fileprivate func redeem(
        _ statement: LoginStatement, verified: VerifiedStatement<LoginStatement>?,
        action: ChallengeAction, of former: Signer, at moment: Moment
    ) throws(DatabaseFault) -> Result<RedeemedChallenge, Problem> {
        let now = moment.seconds
        let binding = ChallengeBinding(
            application: former.application.id, account: former.account.name,
            device: statement.head.device, action: action)
        guard try store.challenges.use(challenge: statement.challenge, binding: binding, at: now)
        else {
            return .failure(.refused)
        }
        // Read again behind the lock that blocking also takes; with a single writer there is no
        // need.
        try store.accounts.lockAccount(former.account.id)
        let current = store.isAlone ? former : try store.signers.signer(statement.head)
        guard let signer = current else { return .failure(.refused) }
        // Not counted: otherwise anyone who knows the ids could lock the owner out. The rate limit
        // of the sender's address applies instead, and a signature cannot be found by trying.
        guard let verified, verified.content == statement,
            signer.registration.key(for: statement.claims.signer) == verified.key
        else { return .failure(.refused) }
        // A device may always give up its registration, without a touch and whatever the policy.
        if let objection = try objection(to: statement.claims, of: signer, action: action) {
            return .failure(objection)
        }
        guard
            try store.registrations.advance(
                signer.registration.id, to: statement.claims, at: moment)
        else {
            let asked = try store.challenges.issued(challenge: statement.challenge)
            return .failure(try countSetBack(of: signer, askedAt: asked, at: now))
        }
        return .success(RedeemedChallenge(signer: signer, statement: verified))
    }

    /// Why a correctly signed answer to a challenge is refused; nil if it is acceptable.
    private func objection(
        to claims: StatementClaims, of signer: Signer, action: ChallengeAction
    ) throws(DatabaseFault) -> Problem? {
        guard let accepted = try accepted(action, by: signer.application) else {
            return signer.statusObjection
        }
        return signer.objection(to: claims, accepting: accepted)
    }

    /// The factors that are accepted for the answer to a challenge; nil if it needs none, and no
    /// policy applies.
    ///
    /// A password key is changed only with a touch. Devices are registered, and MAC tokens issued,
    /// by password also where only a template accepts it, since a device reads operations with one.
    func accepted(
        _ action: ChallengeAction, by application: ApplicationRecord
    ) throws(DatabaseFault) -> AcceptedFactors? {
        switch action {
        case .remove: nil
        case .login: application.policy.factors
        case .register, .macToken: try acceptedByDevices(of: application)
        case .passwordKey: .fingerprint
        }
    }

    /// What a device must fulfil to answer a challenge; nil for nothing.
    func policy(
        for action: ChallengeAction, of application: ApplicationRecord
    ) throws(DatabaseFault) -> DevicePolicy? {
        guard let accepted = try accepted(action, by: application) else { return nil }
        let policy = application.policy.forDevices(accepting: accepted)
        let isPasswordAccepted = try acceptPasswords(application)
        guard action != .passwordKey || isPasswordAccepted else {
            // A key for a password that is not accepted is not made with any factor.
            return DevicePolicy(factors: [], keys: policy.keys, secureBoot: policy.secureBoot)
        }
        return policy
    }

    /// The factors that are accepted for the registration of a device and for its tokens.
    func acceptedByDevices(
        of application: ApplicationRecord
    ) throws(DatabaseFault) -> AcceptedFactors {
        try acceptPasswords(application) ? .either : .fingerprint
    }

    /// Whether an application's policy accepts passwords, or that of any of its templates.
    ///
    /// None is accepted where something must be attested, because a key for the password is not.
    func acceptPasswords(_ application: ApplicationRecord) throws(DatabaseFault) -> Bool {
        if application.policy.needsAttestation { return false }
        if application.policy.passwords { return true }
        return try store.templates.acceptPasswords(of: application.id)
    }

    /// Handles a valid signature whose counter is not above the last accepted one.
    ///
    /// If the challenge was issued (or the operation created) after that counter was accepted, the
    /// device's state was rolled back or copied, and the failure is counted. Otherwise the answer
    /// may only have been overtaken on its way: it is refused but not counted, so that an attacker
    /// who delays messages in the network cannot block a device.
    func countSetBack(
        of signer: Signer, askedAt asked: Moment, at now: Int64
    ) throws(DatabaseFault) -> Problem {
        var problem = Problem.refused
        problem.remainingAttempts = try store.registrations.countFailure(
            signer.registration.id, askedAt: asked,
            limit: signer.application.policy.maximumFailures, at: now)
        return problem
    }
}

/// The `detail` of an audit line about a statement that was not made with a touch.
struct FactorTrail: Codable {
    let factor: String
    /// What was attested of a registration's fingerprint key; nil for nothing.
    let attested: [AttestedProperty]?

    /// JSON for the password; empty for any other factor, as for a touch.
    static func detail(_ claims: StatementClaims, attested: [AttestedProperty] = []) -> String {
        guard KeyFactor(line: claims.factor) == .password else { return "" }
        let trail = FactorTrail(
            factor: AuthenticationFactor.password, attested: attested.isEmpty ? nil : attested)
        return String(decoding: JSON.encode(trail), as: UTF8.self)
    }

    /// The factor in a line's detail; a touch if it names none.
    static func factor(in detail: String) -> String {
        guard let trail = try? JSON(parsing: [UInt8](detail.utf8)).decoded(as: FactorTrail.self)
        else { return AuthenticationFactor.touch }
        return trail.factor
    }
}

extension Result where Failure == Problem {
    var problem: Problem? {
        if case .failure(let problem) = self { return problem }
        return nil
    }
}

extension Challenges {
    /// `POST /v1/login/challenge`: issues a challenge to any caller, for any account and device.
    ///
    /// Neither the answer nor its timing reveals whether the account exists: a challenge is stored
    /// either way. The application must exist.
    ///
    /// - Throws: `.malformed` for the action `register`, `.notFound` for an unknown application.
    func issueChallenge(_ call: Call) async throws(Problem) -> ChallengeAnswer {
        let fields = try call.body(ChallengeRequest.self)
        let action = fields.action ?? .login
        guard action != .register else { throw .malformed("'action' is not one of a challenge") }
        let challenge: Challenge = try core.random()
        let moment = core.moment
        let expires = moment.seconds + ChallengeBinding.seconds
        return try await core.write { store throws(DatabaseFault) in
            guard
                let application = try store.applications.application(name: fields.application.text)
            else {
                return .failure(.notFound)
            }
            let binding = ChallengeBinding(
                application: application.id, account: fields.account.text,
                device: fields.device, action: action)
            try store.challenges.keep(
                challenge: challenge, binding: binding, issued: moment, until: expires)
            return .success(
                ChallengeAnswer(
                    challenge: challenge, audience: application.audience, expires: expires,
                    policy: try store.challengeSteps.policy(for: action, of: application)))
        }
    }
}
