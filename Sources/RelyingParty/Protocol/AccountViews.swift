// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// Lists that an application can show a person about their account: operations and audit lines.
///
/// Both lists are limited to the calling application. An account that does not exist has empty
/// lists, as it has an empty list of registrations.
struct AccountViews: Sendable {
    /// The maximum number of operations or audit lines in a list.
    private static let most: Int64 = 50

    let core: ServerCore
}

extension AccountViews {
    /// `GET /v1/accounts/{name}/operations`: lists the newest operations and logins.
    func operations(_ call: Call) async throws(Problem) -> OperationList {
        let application = try call.caller()
        let name = try call.accountName()
        let found = try await core.read { store throws(DatabaseFault) in
            try store.accounts.account(name.text, of: application.id).map {
                (account) throws(DatabaseFault) in
                (
                    account,
                    try store.operations.latestOperations(ofAccount: account.id, most: Self.most)
                )
            }
        }
        guard let (account, records) = found else { return OperationList(operations: []) }
        let now = core.now
        var operations: [OperationReport] = []
        for record in records {
            operations.append(try OperationReport(record, account: account, at: now))
        }
        return OperationList(operations: operations)
    }

    /// `GET /v1/accounts/{name}/audit`: lists the newest lines of the audit trail.
    func audit(_ call: Call) async throws(Problem) -> AuditLines {
        let application = try call.caller()
        let name = try call.accountName()
        let lines = try await core.read { store throws(DatabaseFault) -> [ListedAudit] in
            guard let account = try store.accounts.account(name.text, of: application.id) else {
                return []
            }
            return try store.auditTrail.newest(
                of: account, application: application.name, most: Self.most
            ).named(in: store)
        }
        return AuditLines(entries: lines.map { AuditLine($0) })
    }
}

extension Call {
    /// Returns the account's name from the path; throws `.notFound` if it is not a valid name.
    fileprivate func accountName() throws(Problem) -> Name {
        guard let name = Name(decoding: parameters.first ?? "") else { throw .notFound }
        return name
    }
}

extension AuditLine {
    init(_ line: ListedAudit) {
        time = line.time
        event = line.event
        outcome = line.outcome
        let isTouch = AuditEntry.Event(rawValue: line.event)?.isTouch == true
        factor = isTouch && line.outcome == "ok" ? FactorTrail.factor(in: line.detail) : nil
        registration = line.registration.isEmpty ? nil : line.registration
        deviceName = line.deviceName
        address = line.address.isEmpty ? nil : line.address
        agent = line.agent.isEmpty ? nil : line.agent
        apiKey = line.apiKey.isEmpty ? nil : line.apiKey
    }
}

extension AuditEntry.Event {
    /// Whether this event is accepted only after a touch.
    fileprivate var isTouch: Bool {
        switch self {
        case .registration, .login, .macToken, .passwordKey, .operationDecided, .operationConsumed:
            true
        case .activation, .commit, .block, .unblock, .removal, .refresh, .revocation, .request,
            .operationCreated, .operationCancelled, .administration, .apiKey, .callback:
            false
        }
    }
}
