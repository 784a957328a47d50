// SPDX-License-Identifier: Apache-2.0
import Database

/// What an administrator has done on the server's own machine, on its database.
///
/// Every change leaves a line in the audit trail, also one that was refused.
struct Administration: Sendable {
    let service: Service
    let output: AdminOutput
    /// Who it is, for the audit trail.
    let origin: Origin

    /// `by` says who it is: a user of this machine.
    init(_ service: Service, _ output: AdminOutput, by user: String) {
        self.service = service
        self.output = output
        origin = Origin(address: "administrator", agent: user)
    }

    /// Reads in one transaction.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(AdminFault) -> T {
        do throws(DatabaseFault) {
            return try await service.database.read(body)
        } catch { throw AdminFault(error) }
    }

    /// Changes something in one transaction, with its line in the audit trail.
    func change<T: Sendable>(
        _ what: String, of application: String = "", account: String = "",
        registration: [UInt8] = [],
        _ body:
            @escaping @Sendable (any Transaction, Int64) throws(DatabaseFault) -> Result<
                T, AdminFault
            >
    ) async throws(AdminFault) -> T {
        let now = service.core.now
        let result: Result<T, AdminFault>
        do throws(DatabaseFault) {
            result = try await service.database.write { store throws(DatabaseFault) in
                let result = try body(store, now)
                var outcome = "ok"
                if case .failure(let fault) = result { outcome = fault.outcome }
                let entry = AuditEntry(
                    event: .administration, outcome: outcome,
                    application: printable([UInt8](application.utf8)),
                    account: printable([UInt8](account.utf8)), registration: registration,
                    detail: printable([UInt8](what.utf8)))
                try store.auditTrail.note(entry, from: origin, at: now)
                return result
            }
        } catch { throw AdminFault(error) }
        return try result.get()
    }

    /// Changes something of an application that must be there; such changes of one application are
    /// made one after the other, each on what the last one has left.
    func changeApplication<T: Sendable>(
        _ what: String, _ application: String, account: String = "", registration: [UInt8] = [],
        _ body:
            @escaping @Sendable (any Transaction, ApplicationRecord, Int64) throws(DatabaseFault)
            -> Result<T, AdminFault>
    ) async throws(AdminFault) -> T {
        try await change(what, of: application, account: account, registration: registration) {
            store, now throws(DatabaseFault) in
            guard let record = try store.applications.lockedApplication(name: application) else {
                return .failure(.noApplication(application))
            }
            return try body(store, record, now)
        }
    }

    /// An application that must be there.
    func application(_ name: String) async throws(AdminFault) -> ApplicationRecord {
        let found = try await read { store throws(DatabaseFault) in
            try store.applications.application(name: name)
        }
        guard let found else { throw .noApplication(name) }
        return found
    }

    /// What the service does itself.
    func serve<T>(
        _ body: (Service) async throws(Problem) -> T
    ) async throws(AdminFault) -> T {
        do throws(Problem) {
            return try await body(service)
        } catch { throw AdminFault(error) }
    }
}
