// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import SQL
import ServerAPI
import SignedFormats

// Decisions on operations: exactly the text that was shown is approved, once, and in time.
extension Operations {
    /// `POST /v1/operations/{id}/decision`: accepts a signed approval or rejection.
    ///
    /// Anyone may call this; the proof is a statement signed in the namespace of operations by a
    /// key registered for the operation's account. The outcome leaves an audit line, also if it is
    /// refused.
    ///
    /// - Throws: `.malformed` if the statement is not canonical, `.refused` if it is for another
    ///   operation, names no registration, or fails a check, and `.conflict` if the operation is
    ///   no longer pending. A caller that signed with the registered key may also get the
    ///   reasons of `Signer.objection`.
    func decideOperation(_ call: Call) async throws(Problem) -> DecisionAnswer {
        let id: OperationID = try call.id()
        let proof = try call.body(SignedText.self)
        let signed = try operationStatement(proof)
        let statement = signed.content
        guard statement.operation == id else { throw .refused }
        let signer = try await core.read { store throws(DatabaseFault) in
            try store.signers.signer(statement.head)
        }
        guard let signer else {
            try await challenges.refuse(statement.head, event: .operationDecided, from: call.origin)
            throw .refused
        }
        let verified = signer.registration.key(for: statement.claims.signer).flatMap {
            signed.verified(by: $0, in: .operation)
        }
        let moment = core.moment
        let now = moment.seconds
        return try await core.write { store throws(DatabaseFault) in
            let result = try DecisionSteps(store: store).decide(
                statement, verified: verified, of: signer, from: call.origin, at: moment)
            var entry = entry(.operationDecided, signer: signer, problem: result.problem)
            entry.detail =
                OperationTrail(
                    operation: id, decision: "\(statement.decision.word)",
                    factor: KeyFactor(line: statement.claims.factor)?.rawValue
                ).text
            try store.auditTrail.note(entry, from: call.origin, at: now)
            return result
        }
    }

    private func operationStatement(
        _ proof: SignedText
    ) throws(Problem) -> UnverifiedStatement<OperationStatement> {
        do throws(LineFault) {
            return try UnverifiedStatement(
                parsing: proof.statement.bytes, signature: proof.signature.bytes)
        } catch {
            throw .malformed("'statement' is not the canonical text of an operation")
        }
    }
}

/// What an accepted decision does to its operation.
private enum DecisionEffect {
    /// It is the first of two factors, and the operation stays PENDING.
    case half
    /// It ends the operation, decided by this factor, a word of `Factor`.
    case ended(OperationStatus, factor: String)

    /// A rejection takes effect with either factor; an approval that requires both does so once the
    /// same device has given the other one.
    init(
        _ decision: OperationDecision, factor: KeyFactor, accepted: AcceptedFactors,
        on operation: OperationRecord, by registration: RegistrationID
    ) {
        switch decision {
        case .reject: self = .ended(.rejected, factor: factor.rawValue)
        case .approve where accepted == .both:
            let isSecond =
                operation.half == registration && operation.factor == factor.other.rawValue
            self = isSecond ? .ended(.approved, factor: AuthenticationFactor.both) : .half
        case .approve: self = .ended(.approved, factor: factor.rawValue)
        }
    }

    /// The answer to the device, whose failures the accepted statement has reset.
    func answer(
        for operation: OperationID, by signer: Signer, factor: KeyFactor, at now: Int64
    ) -> DecisionAnswer {
        let (status, missing): (OperationStatus, KeyFactor?) =
            switch self {
            case .half: (.pending, factor.other)
            case .ended(let status, _): (status, nil)
            }
        return DecisionAnswer(
            operation: operation, status: status, decided: now, missing: missing,
            remainingAttempts: signer.application.policy.maximumFailures,
            application: signer.application.name, applicationRoles: signer.application.roles)
    }
}

extension KeyFactor {
    /// The other factor.
    var other: KeyFactor {
        switch self {
        case .fingerprint: .password
        case .password: .fingerprint
        }
    }
}

extension OperationRecord {
    /// Whether a statement contains exactly the operation's template name and text, byte for byte.
    fileprivate func isShown(in statement: OperationStatement) -> Bool {
        [UInt8](template.utf8) == statement.template && [UInt8](data.utf8) == statement.data
    }
}

/// What a decision on an operation must fulfil, within one transaction.
private struct DecisionSteps {
    let store: any Transaction
}

extension DecisionSteps {
    /// Runs the checks of a decision, in the order of docs/developer/SERVER-INTEGRATE.md, and
    /// applies it.
    ///
    /// A failure is counted only if the sender knows the operation's challenge, which only devices
    /// of the account receive, and only if the sending device may still decide. So no other sender
    /// can make an operation FAILED. The counter and the decision are stored in this transaction;
    /// of several concurrent decisions, one takes effect and the others get `.conflict`. `verified` is
    /// nil if the signature is wrong.
    fileprivate func decide(
        _ statement: OperationStatement, verified: VerifiedStatement<OperationStatement>?,
        of former: Signer, from origin: Origin, at moment: Moment
    ) throws(DatabaseFault) -> Result<DecisionAnswer, Problem> {
        let now = moment.seconds
        // Read again behind the lock that blocking also takes: the registration may have been
        // blocked or replaced while the signature was checked.
        try store.accounts.lockAccount(former.account.id)
        guard let signer = try store.signers.signer(statement.head),
            signer.registration.id == former.registration.id,
            let operation = try store.operations.operation(statement.operation),
            operation.isFor(signer),
            // A secret shared by server and devices, so it is compared in constant time.
            constantTimeEqual(operation.challenge.bytes, statement.challenge.bytes)
        else { return .failure(.refused) }
        guard let verified, verified.content == statement,
            signer.registration.key(for: statement.claims.signer) == verified.key,
            operation.isShown(in: statement)
        else {
            return .failure(try countWrong(operation, by: signer, at: now))
        }
        let claims = statement.claims
        let accepted = operation.acceptedFactors(by: signer.application.policy)
        if let objection = signer.objection(to: claims, accepting: accepted) {
            return .failure(objection)
        }
        let status = operation.status(at: now)
        guard status == .pending else { return .failure(.over(status)) }
        let registration = signer.registration.id
        guard try store.registrations.advance(registration, to: claims, at: moment) else {
            return .failure(
                try store.challengeSteps.countSetBack(
                    of: signer, askedAt: operation.issued, at: now))
        }
        let effect = DecisionEffect(
            statement.decision, factor: claims.signer, accepted: accepted, on: operation,
            by: registration)
        let isApplied =
            switch effect {
            case .half:
                try store.operations.keepHalf(
                    of: operation.id, factor: claims.signer, by: registration, at: now)
            case .ended(let status, let factor):
                try store.operations.end(
                    operation: operation.id, as: status, by: registration, factor: factor,
                    from: origin, at: now)
            }
        guard isApplied else {
            // Another decision was committed between the read above and this update.
            let winner = try store.operations.operation(operation.id)?.status(at: now)
            return .failure(.over(winner ?? .expired))
        }
        return .success(
            effect.answer(for: operation.id, by: signer, factor: claims.signer, at: now))
    }

    /// Counts a signature that is wrong, or that covers another text than the operation's.
    ///
    /// It is not counted for a device that may no longer decide. Such a device may have read the
    /// challenge before it or its account was blocked, and must not be able to make the operation
    /// FAILED.
    private func countWrong(
        _ operation: OperationRecord, by signer: Signer, at now: Int64
    ) throws(DatabaseFault) -> Problem {
        var problem = Problem.refused
        if signer.statusObjection == nil {
            problem.remainingAttempts = try store.operations.countFailure(
                ofOperation: operation.id, at: now)
        }
        return problem
    }
}
