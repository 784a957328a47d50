// SPDX-License-Identifier: Apache-2.0
import Domain
import JSONFormat
import Posix
import SQL
import ServerAPI

/// Operations: texts that an application asks a person to approve or reject on a device.
///
/// An operation is PENDING until it is approved, rejected, cancelled or FAILED, or until it
/// expires; each of these ends it for good. Its text is filled in from a template when the
/// operation is created and never changes, so the device signs exactly what the application asked.
/// One account has at most `TemplatePurpose.mostPending` pending operations of a purpose, not
/// counting logins begun for visitors, of which it has at most `VisitorShare.account`.
struct Operations: Sendable {
    let challenges: Challenges
    let core: ServerCore
}

/// An operation as determined by its template and the request, before it is stored for an account.
struct DraftedOperation: Sendable {
    let template: OperationTemplate
    let purpose: TemplatePurpose
    /// The template's text with the request's values filled in.
    let text: String
    /// The id of the only device that may decide; nil if any device of the account may.
    let device: DeviceID?
    /// The visitor's network, by which visitors' logins are counted; nil for all other operations.
    let network: [UInt8]?
    let additional: AdditionalData
    let expires: Int64
}

extension Operations {
    /// `POST /v1/operations`: asks an account for an approval.
    ///
    /// The caller is the application. A login for a visitor is not created here, but by
    /// `Logins.beginLogin`.
    ///
    /// - Throws: `.notFound` if the application has no such account or template, `.malformed` if
    ///   the request does not fit its template, and `.conflict` if the account is blocked, has too
    ///   many pending operations, or has no such device.
    func makeOperation(_ call: Call) async throws(Problem) -> OperationReport {
        let fields = try call.body(OperationRequest.self)
        guard fields.visitor == nil else { throw .malformed("'visitor' is only for logins") }
        let (draft, account) = try await draft(fields, purpose: .operation, call: call)
        guard let account else { throw .notFound }
        let record = try await keep(draft, of: account, session: nil, call: call)
        return try OperationReport(record, account: account, at: core.now)
    }

    /// Checks a request against its template and looks up its account, without storing anything.
    ///
    /// The account is nil if the application has none of this name; whether that may be reported is
    /// up to the caller. `additional` gets the visitor's address unless the application reported
    /// another.
    ///
    /// - Throws: `.notFound` if there is no such template, `.conflict` if the template has another
    ///   purpose, and `.malformed` if the values, the device or the time do not fit the template.
    func draft(
        _ fields: OperationRequest, purpose: TemplatePurpose, call: Call
    ) async throws(Problem) -> (DraftedOperation, AccountRecord?) {
        let application = try call.caller()
        let (account, found) = try await core.read { store throws(DatabaseFault) in
            (
                try store.accounts.account(fields.account.text, of: application.id),
                try store.templates.template(fields.template.text, of: application.id)
            )
        }
        guard let template = found else { throw .notFound }
        guard template.purpose == purpose else {
            throw .conflict("the template is for another purpose: '\(template.purpose)'")
        }
        var additional = fields.additional?.printed ?? AdditionalData()
        additional.address = additional.address ?? fields.visitor?.text
        let draft = DraftedOperation(
            template: template, purpose: purpose, text: try template.filled(for: fields),
            device: try template.device(of: fields),
            network: fields.visitor.map { PeerNetwork($0.text).bytes }, additional: additional,
            expires: core.now + (try template.seconds(of: fields)))
        return (draft, account)
    }

    /// Stores an operation for an account, with an audit line, unless `objection` refuses it.
    ///
    /// The limits are checked and the row is written behind the account's lock. `session` is the
    /// digest of the secret with which a login is confirmed; nil for other operations. A refusal
    /// leaves an audit line only for a visitor's login, because then the caller's answer does not
    /// give the reason.
    func keep(
        _ draft: DraftedOperation, of account: AccountRecord, session: [UInt8]?, call: Call
    ) async throws(Problem) -> OperationRecord {
        let application = try call.caller()
        let moment = core.moment
        let now = moment.seconds
        let operation = NewOperation(
            id: try core.random(), challenge: try core.random(), account: account,
            template: draft.template, data: draft.text, device: draft.device, session: session,
            network: draft.network,
            additional: String(decoding: JSON.encode(draft.additional), as: UTF8.self),
            expires: draft.expires)
        return try await core.write { store throws(DatabaseFault) in
            // Checked behind the account's lock, so that concurrent calls cannot exceed the limit.
            try store.accounts.lockAccount(account.id)
            let objection = try store.objection(to: operation, purpose: draft.purpose, at: now)
            var entry = AuditEntry(
                event: .operationCreated, outcome: objection?.code ?? "ok",
                application: application.name, account: account.name)
            if let objection {
                // The caller gets the reason, except for a visitor's login: there it is only
                // recorded.
                if draft.network != nil {
                    try store.auditTrail.note(entry, from: call.origin, at: now)
                }
                return .failure(objection)
            }
            try store.operations.keep(operation, at: moment)
            entry.detail =
                OperationTrail(
                    operation: operation.id, template: draft.template.name,
                    device: operation.device, additional: draft.additional
                ).text
            try store.auditTrail.note(entry, from: call.origin, at: now)
            guard let record = try store.operations.operation(operation.id) else {
                throw .broken("an operation that was just made is not there")
            }
            return .success(record)
        }
    }

    /// `GET /v1/operations/{id}`: shows an operation that the calling application created.
    ///
    /// - Throws: `.notFound` if it is another application's or does not exist, and `.scopeMissing`
    ///   if the API key is only for logins and this is none.
    func showOperation(_ call: Call) async throws(Problem) -> OperationReport {
        let id: OperationID = try call.id()
        let asking = try call.asking()
        let found = try await core.read { store throws(DatabaseFault) in
            try store.ownOperation(id, of: asking.record)
        }
        guard let (record, account) = found else { throw .notFound }
        guard asking.reaches(record) else { throw .scopeMissing(.operations) }
        return try OperationReport(record, account: account, at: core.now)
    }

    /// `POST /v1/operations/{id}/cancel`: cancels an operation of the calling application.
    ///
    /// - Throws: `.notFound` if it is another application's or does not exist, `.scopeMissing` if
    ///   the API key is only for logins and this is none, and `.conflict` if it is no longer
    ///   pending.
    func cancelOperation(_ call: Call) async throws(Problem) -> OperationReport {
        try call.emptyBody()
        let id: OperationID = try call.id()
        let asking = try call.asking()
        let application = asking.record
        let now = core.now
        let (record, account): (OperationRecord, AccountRecord) = try await core.write {
            store throws(DatabaseFault) in
            guard let (found, _) = try store.ownOperation(id, of: application) else {
                return .failure(.notFound)
            }
            guard asking.reaches(found) else { return .failure(.scopeMissing(.operations)) }
            let isCanceled = try store.operations.end(
                operation: id, as: .canceled, by: nil, at: now)
            guard let (record, account) = try store.ownOperation(id, of: application) else {
                return .failure(.notFound)
            }
            let problem: Problem? = isCanceled ? nil : .over(record.status(at: now))
            var entry = AuditEntry(
                event: .operationCancelled, outcome: problem?.code ?? "ok",
                application: application.name, account: account.name)
            entry.detail = OperationTrail(operation: id).text
            try store.auditTrail.note(entry, from: call.origin, at: now)
            if let problem { return .failure(problem) }
            return .success((record, account))
        }
        return try OperationReport(record, account: account, at: now)
    }

    /// `GET /v1/device/operations`: lists the operations that the calling device may decide now.
    ///
    /// The caller is the device that signed the request. Logins are included; operations bound to
    /// another device are not.
    func awaitedOperations(_ call: Call) async throws(Problem) -> PendingOperations {
        let signer = try call.deviceSigner()
        let now = core.now
        let records = try await core.read { store throws(DatabaseFault) in
            try store.operations.pendingOperations(
                ofAccount: signer.account.id, device: signer.registration.device, at: now)
        }
        return PendingOperations(operations: records.map { PendingOperation($0) })
    }

    /// `GET /v1/device/operations/{id}`: shows the calling device an operation, pending or not.
    ///
    /// The answer contains the challenge, so only a device that may decide the operation gets it;
    /// all others get `.notFound`.
    func operationDetail(_ call: Call) async throws(Problem) -> OperationDetail {
        let id: OperationID = try call.id()
        let signer = try call.deviceSigner()
        let record = try await core.read { store throws(DatabaseFault) in
            try store.operations.operation(id)
        }
        guard let record, record.isFor(signer) else { throw .notFound }
        return OperationDetail(record, for: signer, at: core.now)
    }
}

extension Problem {
    /// A change was refused because the operation already has this status.
    static func over(_ status: OperationStatus) -> Problem {
        .conflict("not possible: the operation is \(status.rawValue)")
    }
}

/// The `detail` of an audit line about an operation, in addition to the line's own columns.
struct OperationTrail: Encodable {
    let operation: OperationID
    var template: String?
    var decision: String?
    var device: DeviceID?
    var additional: AdditionalData?
    /// How it was decided, if it was.
    var factor: String?

    /// JSON, so that no value can be mistaken for another field.
    var text: String { String(decoding: JSON.encode(self), as: UTF8.self) }
}

extension OperationRecord {
    /// Whether this device may decide the operation: same account, and the bound device if any.
    func isFor(_ signer: Signer) -> Bool {
        account == signer.account.id && (device == nil || device == signer.registration.device)
    }
}

extension OperationTemplate {
    /// The placeholder that a visitor's address fills if the application gives no value for it.
    private static let address = "address"

    /// Fills the request's values into the template's text.
    ///
    /// A visitor's address is used for `{address}` if the application gave no value. A stored
    /// template that cannot be parsed is a fault of the server (`.unavailable`), not of the
    /// request.
    fileprivate func filled(for fields: OperationRequest) throws(Problem) -> String {
        let text: TemplateText
        do throws(FieldFault) {
            text = try TemplateText(self.text)
        } catch {
            report("the template '\(name)' cannot be used: \(error.text)")
            throw .unavailable
        }
        var values = fields.data ?? [:]
        if let visitor = fields.visitor, text.placeholders.contains(Self.address) {
            values[Self.address] = values[Self.address] ?? visitor.text
        }
        return try text.filled(with: values)
    }

    /// The only device that may decide; nil if any device of the account may.
    ///
    /// - Throws: `.malformed` if a visitor's login names a device, or if a device-bound template
    ///   gets none.
    fileprivate func device(of fields: OperationRequest) throws(Problem) -> DeviceID? {
        guard fields.visitor == nil || fields.device == nil else {
            throw .malformed("a login for a visitor names no device")
        }
        guard !isDeviceBound || fields.device != nil else {
            throw .malformed("'device' is missing, and the template requires it")
        }
        return fields.device
    }

    /// How long the operation stays pending, in seconds: 10 up to the template's limit, its
    /// default.
    fileprivate func seconds(of fields: OperationRequest) throws(Problem) -> Int64 {
        let wanted = fields.expiresIn ?? seconds
        guard (10...seconds).contains(wanted) else {
            throw .malformed("'expiresIn' must be 10 to \(seconds) seconds")
        }
        return wanted
    }
}

extension Transaction {
    /// The operation with this id and its account, if it belongs to the application.
    fileprivate func ownOperation(
        _ id: OperationID, of application: ApplicationRecord
    ) throws(DatabaseFault) -> (OperationRecord, AccountRecord)? {
        guard let record = try operations.operation(id), record.application == application.id,
            let account = try accounts.account(record.account)
        else { return nil }
        return (record, account)
    }

    /// Why another operation cannot be created for the account; nil if it can.
    ///
    /// Call this behind the account's lock: it reads the account, the pending operations and the
    /// device again, and the answer holds until the transaction ends.
    fileprivate func objection(
        to operation: NewOperation, purpose: TemplatePurpose, at now: Int64
    ) throws(DatabaseFault) -> Problem? {
        guard try accounts.account(operation.account.id)?.isBlocked == false else {
            return .accountBlocked
        }
        guard try hasPlace(for: operation, purpose: purpose, at: now) else {
            return .conflict("too many operations await this account already")
        }
        guard try hasDevice(for: operation) else {
            return .conflict("no such device is registered for this account")
        }
        return nil
    }

    /// Whether the account's limits allow another pending operation.
    ///
    /// Logins begun for visitors are counted separately, per account and per network, so that
    /// strangers cannot crowd out the application's other logins.
    private func hasPlace(
        for operation: NewOperation, purpose: TemplatePurpose, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        let account = operation.account.id
        guard let network = operation.network else {
            return try operations.countPending(purpose, ofAccount: account, at: now)
                < purpose.mostPending
        }
        let others = try operations.pendingNetworks(ofAccount: account, at: now)
        return others.count < VisitorShare.account
            && others.filter { $0 == network }.count < VisitorShare.network
    }

    /// Whether the device that an operation is bound to, if any, is registered and ACTIVE.
    fileprivate func hasDevice(for operation: NewOperation) throws(DatabaseFault) -> Bool {
        guard let device = operation.device else { return true }
        return try registrations.list(ofAccount: operation.account.id).contains {
            $0.device == device && $0.status == .active
        }
    }
}

extension AskingApplication {
    /// Whether the API key reaches an operation: all with the scope for operations, and otherwise
    /// only logins.
    fileprivate func reaches(_ record: OperationRecord) -> Bool {
        scopes.contains(.operations) || record.session != nil
    }
}
