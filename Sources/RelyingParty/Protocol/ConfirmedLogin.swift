// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import ServerAPI
import SignedFormats

// Logins that a person approves as an operation, on another device than the one that logs in.
extension Logins {
    /// How long after its approval a login can still be confirmed, in seconds.
    private static let confirmationSeconds: Int64 = 60

    /// `POST /v1/login/init`: begins a login as an operation, and returns the secret to confirm it.
    ///
    /// The caller is the application. With `visitor`, the answer does not show whether the account
    /// exists, is blocked or has too many pending logins: in these cases a login is pretended, and
    /// the reason is in the audit trail. The number of transactions is the same in all cases.
    ///
    /// - Throws: without `visitor`, the problems of `Operations.makeOperation`.
    func beginLogin(_ call: Call) async throws(Problem) -> LoginBegun {
        let fields = try call.body(OperationRequest.self)
        let session = try core.made { () throws(CryptoFault) in try BearerSecret.session.generate()
        }
        let (draft, account) = try await operations.draft(fields, purpose: .login, call: call)
        var id: OperationID = try core.random()
        do throws(Problem) {
            guard let account else {
                if fields.visitor != nil { try await noteUnknown(fields.account, call: call) }
                throw .notFound
            }
            id = try await operations.keep(draft, of: account, session: session.digest, call: call)
                .id
        } catch {
            guard fields.visitor != nil, error.status == 404 || error.status == 409 else {
                throw error
            }
        }
        return LoginBegun(
            operation: id, session: String(decoding: session.text, as: UTF8.self),
            data: draft.text, status: .pending, expires: draft.expires)
    }

    /// Records that a login for a visitor named an account that does not exist.
    private func noteUnknown(_ account: Name, call: Call) async throws(Problem) {
        let entry = AuditEntry(
            event: .operationCreated, outcome: Problem.notFound.code,
            application: try call.caller().name, account: printable([UInt8](account.text.utf8)))
        let now = core.now
        try await core.write { store throws(DatabaseFault) in
            try store.auditTrail.note(entry, from: call.origin, at: now)
            return .success(())
        }
    }

    /// `POST /v1/login/confirm`: issues an approved login's tokens, once, for its session secret.
    ///
    /// The caller is the application that began the login. The approval must be less than 60
    /// seconds old. The account and the device that approved are checked again behind the account's
    /// lock, so a block that was committed first prevents the login.
    ///
    /// - Throws: `.notFound` for another application's operation, `.refused` for a wrong secret,
    ///   and `.conflict` if the login is not approved, was already confirmed, is too old, or if the
    ///   device that approved may no longer log in.
    func confirmLogin(_ call: Call) async throws(Problem) -> AcceptedLogin {
        let fields = try call.body(ConfirmLoginRequest.self)
        let application = try call.caller()
        let id = fields.operation
        let session = try core.made { () throws(CryptoFault) in
            try BearerSecret.session.digest(of: [UInt8](fields.session.utf8))
        }
        let fresh = try tokens.freshTokens()
        let now = core.now
        let moment = now - Self.confirmationSeconds
        let (signer, factor): (Signer, String) = try await core.write {
            store throws(DatabaseFault) in
            guard let found = try store.operations.operation(id),
                found.application == application.id
            else { return .failure(.notFound) }
            // Read again behind the lock: neither the account nor the device can be blocked from
            // here on.
            try store.accounts.lockAccount(found.account)
            guard let operation = try store.operations.operation(id) else {
                return .failure(.notFound)
            }
            let result = try store.confirm(
                operation, session: session, approvedAfter: moment, at: now)
            var entry = AuditEntry(
                event: .operationConsumed, outcome: result.problem?.code ?? "ok",
                application: application.name)
            let factor = operation.sessionFactor
            var trail = OperationTrail(operation: id)
            if case .success(let signer) = result {
                try store.beginSession(
                    fresh, of: signer, factor: factor, from: operation.sessionOrigin, at: now)
                entry = RelyingParty.entry(.operationConsumed, signer: signer, problem: nil)
                trail.factor = operation.factor
            }
            entry.detail = trail.text
            try store.auditTrail.note(entry, from: call.origin, at: now)
            return result.map { ($0, factor) }
        }
        return AcceptedLogin(
            application: signer.application.name,
            applicationRoles: signer.application.roles, account: signer.account.name,
            registration: signer.registration.id, status: signer.registration.status,
            factor: AuthenticationFactor.shown(factor),
            remainingAttempts: signer.application.policy.maximumFailures,
            flags: signer.flags,
            roles: signer.account.roles,
            tokens: try tokens.pair(
                fresh, of: signer, methods: signer.methods(ofFactor: factor), at: now),
            verdict: nil)
    }
}

extension OperationRecord {
    /// The factor of the session that an approved login begins, a word of `Factor`.
    ///
    /// The policy decides on the password afterwards, too, unless the template named it.
    fileprivate var sessionFactor: String {
        factor == AuthenticationFactor.password && factors.named != nil
            ? AuthenticationFactor.templatePassword : factor
    }

    /// Where the person is who logs in, as the application has reported it: the call itself comes
    /// from the application.
    fileprivate var sessionOrigin: SessionOrigin {
        let told = try? JSON.decode(AdditionalData.self, from: [UInt8](additional.utf8))
        return SessionOrigin(address: told?.address ?? "", agent: told?.agent ?? "")
    }
}

extension Transaction {
    /// Runs the checks of a confirmation, in the order given in docs/developer/SERVER-INTEGRATE.md.
    ///
    /// On success, the operation is used up and the registration marked as used. Returns the signer
    /// who approved.
    fileprivate func confirm(
        _ operation: OperationRecord, session: [UInt8]?, approvedAfter moment: Int64,
        at now: Int64
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        guard let session, operation.session == session else { return .failure(.refused) }
        let status = operation.status(at: now)
        guard status == .approved, let decided = operation.decided,
            let registration = operation.registration
        else { return .failure(.over(status)) }
        guard operation.consumed == nil else { return .failure(.confirmed) }
        guard decided > moment else {
            return .failure(.conflict("the approval is too old"))
        }
        guard try registrations.useActive(registration, at: now),
            let signer = try signer(operation)
        else {
            return .failure(.conflict("the device that approved may no longer log in"))
        }
        guard
            try operations.consume(
                operation: operation.id, session: session, approvedAfter: moment, at: now)
        else { return .failure(.confirmed) }
        return .success(signer)
    }

    /// The signer who approved; nil if the account is blocked or the policy no longer permits the
    /// key.
    private func signer(_ operation: OperationRecord) throws(DatabaseFault) -> Signer? {
        guard let id = operation.registration,
            let registration = try registrations.registration(id),
            let account = try accounts.account(registration.account),
            account.id == operation.account,
            let application = try applications.application(ofAccount: account.id)
        else { return nil }
        let signer = Signer(
            application: application, account: account, registration: registration)
        return signer.objection(toFactor: operation.sessionFactor) == nil ? signer : nil
    }
}

extension Problem {
    fileprivate static let confirmed = Problem.conflict("the login was already confirmed")
}
