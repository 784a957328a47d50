// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

// Requests signed after a touch (`Authorization: Signet`), which need no challenge beforehand.
extension Requests {
    /// Verifies a signed request and uses up its nonce: of any number of concurrent uses, one
    /// succeeds.
    ///
    /// `application` is the back end that asks, whose devices alone are accepted; it is nil if the
    /// device calls this server itself. A refusal leaves an audit line or is counted
    /// (`AuditQuota`).
    ///
    /// - Throws: `.malformed` if the statement is not canonical, and `.refused` if it describes
    ///   another request, names no registration, or is not signed by its key. A right signature is
    ///   refused with its reason, such as `.clock`, `.replayed` or one of `Signer.objection`.
    func acceptSigned(
        _ authorization: SignetAuthorization, received: ReceivedRequest,
        for application: AskingApplication?, from origin: Origin
    ) async throws(Problem) -> Signer {
        let signed = try requestStatement(authorization)
        let statement = signed.content
        let head = statement.head
        let isMeant =
            received.isMeant(by: statement.request)
            && application.map { Audience($0.record.audience) == head.audience } ?? true
        guard isMeant, let key = try await signatures.key(of: head, for: .fingerprint)
        else {
            let detail = isMeant ? "unknown credential" : "another request, or another's"
            try await refuseRequest(
                .refused, detail: "\(detail): \(hexadecimal(head.credential))", for: application,
                from: origin)
            throw .refused
        }
        let verified = signatures.verified(
            signed, in: .request, by: key,
            of: KeyName(credential: head.credential, factor: .fingerprint))
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            if let objection = try store.objection(to: application, at: now) {
                return .failure(objection)
            }
            let result = try store.accept(verified, at: now)
            if let problem = result.problem,
                self.refusals.hasLine(for: application, isSigned: verified != nil, from: origin)
            {
                try store.audit(
                    refusalOf: head, event: .request, problem: problem, from: origin, at: now)
            }
            guard application != nil, let problem = result.problem, let verified else {
                return result
            }
            let signer = try store.signers.signer(head)
            return .failure(
                problem.telling(signer?.registration.publicKey == verified.key ? signer : nil))
        }
    }

    private func requestStatement(
        _ authorization: SignetAuthorization
    ) throws(Problem) -> UnverifiedStatement<RequestStatement> {
        do throws(LineFault) {
            return try UnverifiedStatement(
                parsing: authorization.statement, signature: authorization.signature)
        } catch {
            throw .malformed("'statement' is not the canonical text of a request")
        }
    }
}

extension Transaction {
    /// How far a request's counter may be below the highest accepted counter of the registration.
    ///
    /// Requests overtake each other and logins, so their counters need not grow and are not stored.
    /// A device whose state was rolled back or copied is still detected once it is further behind
    /// than this.
    private static var counterSlack: UInt64 { 1_024 }

    /// Runs the checks of a signed request that need the database, in the order of
    /// docs/developer/SERVER-INTEGRATE.md.
    ///
    /// The nonce of a timely, correctly signed request is stored even if a later check refuses it,
    /// so it cannot be sent again.
    ///
    /// `verified` is nil if the signature is wrong.
    fileprivate func accept(
        _ verified: VerifiedStatement<RequestStatement>?, at now: Int64
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        // Not counted as a failure: such a header carries its ids in clear text, so anyone who has
        // seen one could block the device.
        guard let verified else { return .failure(.refused) }
        let statement = verified.content
        let isNow = isNow(statement.claims.issued, at: now)
        // A stale code cannot be used again, so its nonce need not be stored.
        let use =
            isNow
            ? try requestCodes.use(
                statement.request.nonce, ofRequestBy: statement.head,
                issued: statement.claims.issued)
            : CodeUse(
                isNew: true, isForgotten: false, signed: try signers.signer(statement.head))
        guard use.isNew else { return .failure(.replayed) }
        guard let signer = use.signed, signer.registration.publicKey == verified.key
        else { return .failure(.refused) }
        // Only a touch makes a code, whatever the policy.
        if let objection = signer.objection(to: statement.claims, accepting: .fingerprint) {
            return .failure(objection)
        }
        guard isNow, !use.isForgotten else { return .failure(.clock) }
        let (counter, isOver) = statement.claims.counter.addingReportingOverflow(
            Self.counterSlack)
        guard isOver || counter >= signer.registration.counter else { return .failure(.refused) }
        // A touch is as good as a login, but a counter that is not higher may come from a copy.
        let registration = signer.registration
        if registration.failures > 0, statement.claims.counter > registration.counter {
            try registrations.forgetFailures(registration.id)
        }
        try registrations.noteUse(of: registration, at: now)
        // Read again where failures were forgotten, of which the answer tells.
        guard registration.failures > 0 else { return .success(signer) }
        return .success(try signers.signer(statement.head) ?? signer)
    }

    /// Whether a time is within `RequestWindow` of the server's clock.
    func isNow(_ issued: Instant, at now: Int64) -> Bool {
        abs(now - Int64(clamping: issued.seconds)) <= RequestWindow.seconds
    }

    /// Records a refusal, naming the registration's owner if the registration exists.
    fileprivate func audit(
        refusalOf head: StatementHead, event: AuditEntry.Event, problem: Problem,
        from origin: Origin, at now: Int64
    ) throws(DatabaseFault) {
        guard let signer = try signers.signer(head) else {
            let detail = "unknown credential: \(hexadecimal(head.credential))"
            let entry = AuditEntry(event: event, outcome: problem.code, detail: detail)
            return try auditTrail.note(entry, from: origin, at: now)
        }
        try auditTrail.note(entry(event, signer: signer, problem: problem), from: origin, at: now)
    }
}
