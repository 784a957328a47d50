// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import SignedFormats

/// Challenges, and their answers: each is used once, whoever asks how often at the same time.
struct Challenges: Sendable {
    let core: ServerCore
    let signatures: SignatureVerification
}

extension Challenges {
    /// Checks a signed challenge and, where everything holds, does what it is for, all in one
    /// transaction: of many parallel uses of a challenge, one wins.
    func settle<T: Sendable>(
        _ proof: SignedText, _ action: ChallengeAction, _ event: AuditEntry.Event,
        from origin: Origin,
        _ grant:
            @escaping @Sendable (any Transaction, Signer, LoginStatement) throws(DatabaseFault) ->
            Result<T, Problem>
    ) async throws(Problem) -> T {
        let statement = try loginStatement(proof)
        guard statement.action == [UInt8](action.rawValue.utf8) else { throw .refused }
        let head = statement.head
        guard let key = try await signatures.key(of: head) else {
            try await refuse(head, event, from: origin)
            throw .refused
        }
        let isSigned = signatures.verifies(
            proof.statement.bytes, signature: proof.signature.bytes, .login, by: key,
            of: head.credential)
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            guard let signer = try store.signers.signer(head),
                signer.registration.publicKey == key.point
            else {
                try store.auditTrail.note(unknown(head, event), from: origin, at: now)
                return .failure(.refused)
            }
            let verdict = try store.settle(
                statement, action, of: signer, isSigned: isSigned, at: now)
            let result: Result<T, Problem> =
                switch verdict {
                case .failure(let problem): .failure(problem)
                case .success(let signer): try grant(store, signer, statement)
                }
            try store.auditTrail.note(entry(event, signer, result.problem), from: origin, at: now)
            return result
        }
    }

    private func loginStatement(_ proof: SignedText) throws(Problem) -> LoginStatement {
        do throws(LineFault) {
            return try LoginStatement(parsing: proof.statement.bytes)
        } catch {
            throw .malformed("'statement' is not the canonical text of a login")
        }
    }

    /// Writes down that somebody unknown was refused; what they say of themselves is quoted.
    func refuse(
        _ head: StatementHead, _ event: AuditEntry.Event, from origin: Origin
    ) async throws(Problem) {
        let now = core.now
        let entry = unknown(head, event)
        _ = try await core.write { store throws(DatabaseFault) in
            try store.auditTrail.note(entry, from: origin, at: now)
            return .success(())
        }
    }
}

/// A line of the audit trail of somebody unknown.
private func unknown(_ head: StatementHead, _ event: AuditEntry.Event) -> AuditEntry {
    AuditEntry(
        event: event, outcome: Problem.refused.code,
        detail: "unknown credential \(hexadecimal(head.credential))")
}

/// A line of the audit trail of what a device asked for.
func entry(_ event: AuditEntry.Event, _ signer: Signer, _ problem: Problem?) -> AuditEntry {
    AuditEntry(
        event: event, outcome: problem?.code ?? "ok", application: signer.application.name,
        account: signer.account.name, registration: signer.registration.id)
}

extension Transaction {
    /// The checks of a signed challenge, in the order of docs/developer/SERVER.md; gives the signer as it is
    /// now.
    fileprivate func settle(
        _ statement: LoginStatement, _ action: ChallengeAction, of former: Signer, isSigned: Bool,
        at now: Int64
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        let binding = ChallengeBinding(
            application: former.application.id, account: former.account.name,
            device: statement.head.device, action: action)
        guard try challenges.use(challenge: statement.challenge, binding, at: now) else {
            return .failure(.refused)
        }
        // Read anew, behind the lock that blocking takes too; where one writes, there is none.
        try accounts.lockAccount(former.account.id)
        let current = isAlone ? former : try signers.signer(statement.head)
        guard let signer = current else { return .failure(.refused) }
        // Not counted: whoever knows the ids could lock somebody out. It costs the address that
        // sent it, and no number of tries finds a signature.
        guard isSigned else { return .failure(.refused) }
        // Taking back what it has is the device's own right, without a touch and by any policy.
        let objection =
            action == .remove ? signer.standing : signer.objection(to: statement.claims)
        if let objection { return .failure(objection) }
        guard try registrations.advance(signer.registration.id, to: statement.claims, at: now)
        else {
            let asked = try challenges.issued(challenge: statement.challenge)
            return .failure(try countSetBack(of: signer, askedAt: asked, at: now))
        }
        return .success(signer)
    }

    /// The registered key has signed with a counter that is not above the last one: the device was
    /// set back to an old state, or copied, if it was asked after that last one was taken.
    ///
    /// Else its answer may be older, and was overtaken: whoever holds some back on their way, and
    /// lets a later one pass, blocks nobody.
    func countSetBack(
        of signer: Signer, askedAt asked: Int64, at now: Int64
    ) throws(DatabaseFault) -> Problem {
        var problem = Problem.refused
        problem.remainingAttempts = try registrations.countFailure(
            signer.registration.id, askedAt: asked,
            limit: signer.application.policy.maximumFailures, at: now)
        return problem
    }
}

extension Result where Failure == Problem {
    /// The problem, if it is one.
    var problem: Problem? {
        if case .failure(let problem) = self { return problem }
        return nil
    }
}

extension Challenges {
    /// `POST /v1/login/challenge`: for whoever asks. Whether there is such an account is not told,
    /// also not by the time that the answer takes: a challenge is kept either way.
    func issueChallenge(_ call: Call) async throws(Problem) -> ChallengeAnswer {
        let wish = try call.body(ChallengeRequest.self)
        let action = wish.action ?? .login
        guard action != .register else { throw .malformed("'action' is not one of a challenge") }
        let challenge = try core.random(32)
        let expires = core.now + ChallengeBinding.seconds
        return try await core.write { store throws(DatabaseFault) in
            guard let application = try store.applications.application(name: wish.application.text)
            else {
                return .failure(.notFound)
            }
            let binding = ChallengeBinding(
                application: application.id, account: wish.account.text,
                device: wish.device.bytes, action: action)
            try store.challenges.keep(challenge: challenge, binding, until: expires)
            return .success(
                ChallengeAnswer(
                    challenge: Binary(challenge), audience: application.audience,
                    expires: expires))
        }
    }
}
