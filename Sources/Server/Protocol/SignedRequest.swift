// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import SignedFormats

// A request that was signed at a touch: `Authorization: Signet`, one call, no round trip before it.
extension Requests {
    /// Checks a signed request, and uses its nonce up: of many parallel uses, one wins.
    func acceptSigned(
        _ authorization: SignetAuthorization, _ received: ReceivedRequest,
        for application: AskingApplication?, from origin: Origin
    ) async throws(Problem) -> Signer {
        let statement = try requestStatement(authorization.statement)
        let head = statement.head
        let isMeant =
            received.isMeant(by: statement.request)
            && application.map { [UInt8]($0.record.audience.utf8) == head.audience } ?? true
        guard isMeant, let key = try await signatures.key(of: head) else {
            let detail = isMeant ? "unknown credential" : "another request, or another's"
            try await refuseRequest(
                .refused, "\(detail): \(hexadecimal(head.credential))", for: application,
                from: origin)
            throw .refused
        }
        let isSigned = signatures.verifies(
            authorization.statement, signature: authorization.signature, .request, by: key,
            of: head.credential)
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            guard try store.holds(application) else { return .failure(.apiKeyRefused) }
            let result = try store.accept(statement, by: key, isSigned: isSigned, at: now)
            if let problem = result.problem,
                self.refusals.hasLine(for: application, isSigned: isSigned, from: origin)
            {
                try store.audit(
                    refusalOf: head, .request, problem, from: origin, at: now)
            }
            return result
        }
    }

    private func requestStatement(_ text: [UInt8]) throws(Problem) -> RequestStatement {
        do throws(LineFault) {
            return try RequestStatement(parsing: text)
        } catch {
            throw .malformed("'statement' is not the canonical text of a request")
        }
    }
}

extension Transaction {
    /// How far a request's counter may lie below the highest one of a login.
    ///
    /// Requests overtake each other and logins, so the counter need not grow and is not kept; but a
    /// device that was set back to an old state, or copied from it, shows.
    private static var counterSlack: UInt64 { 1_024 }

    /// The checks of a signed request that want the database, in the order of docs/developer/SERVER.md.
    fileprivate func accept(
        _ statement: RequestStatement, by key: P256PublicKey, isSigned: Bool, at now: Int64
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        // Not counted: what such a header names stands in clear in every one that was sent, so
        // anybody who has seen one could block the device.
        guard isSigned else { return .failure(.refused) }
        let isNow = isNow(statement.claims.issued, at: now)
        // What is stale cannot be used again, so its nonce need not be kept.
        if isNow {
            let isNew = try nonces.keepNonce(
                statement.request.nonce, of: statement.head.credential,
                issued: statement.claims.issued)
            guard isNew else { return .failure(.replayed) }
        }
        guard let signer = try signers.signer(statement.head),
            signer.registration.publicKey == key.point
        else { return .failure(.refused) }
        if let objection = signer.objection(to: statement.claims) { return .failure(objection) }
        guard isNow, try !nonces.isForgotten(issued: statement.claims.issued) else {
            return .failure(.clock)
        }
        let (counter, isOver) = statement.claims.counter.addingReportingOverflow(
            Self.counterSlack)
        guard isOver || counter >= signer.registration.counter else { return .failure(.refused) }
        // It was a touch, as good as a login's; with a counter that is not above, maybe a copy's.
        let registration = signer.registration
        if registration.failures > 0, statement.claims.counter > registration.counter {
            try registrations.forgetFailures(registration.id)
        }
        try registrations.noteUse(of: registration, at: now)
        return .success(signer)
    }

    /// Whether a moment is close enough to the server's time.
    func isNow(_ issued: Instant, at now: Int64) -> Bool {
        abs(now - Int64(clamping: issued.seconds)) <= RequestWindow.seconds
    }

    /// Writes a refusal down, with the names of who it concerns where there is such a registration.
    fileprivate func audit(
        refusalOf head: StatementHead, _ event: AuditEntry.Event, _ problem: Problem,
        from origin: Origin, at now: Int64
    ) throws(DatabaseFault) {
        guard let signer = try signers.signer(head) else {
            let detail = "unknown credential: \(hexadecimal(head.credential))"
            let entry = AuditEntry(event: event, outcome: problem.code, detail: detail)
            return try auditTrail.note(entry, from: origin, at: now)
        }
        try auditTrail.note(entry(event, signer, problem), from: origin, at: now)
    }
}
