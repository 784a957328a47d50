// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// The administrator's commands on the database, for the command line and for calls over HTTP.
///
/// Each change has a line in the audit trail, in its own transaction, even if it was refused.
/// Commands that delete or end many rows use several transactions, and record the command in the
/// first.
struct Administration: Sendable {
    let service: Service
    let output: AdminOutput
    /// The administrator, as recorded in the audit trail.
    let origin: Origin
    /// The application that commands are confined to: all others do not exist for them. Nil if
    /// there is no such restriction.
    let confined: ApplicationRecord?
    /// The digest of the API key of an administrator who is not on the server's own machine.
    let apiKey: [UInt8]?
    /// Whether the administrator is not on the server's own machine.
    var isRemote: Bool { apiKey != nil }

    /// `user` identifies the administrator, a user of this machine, in the audit trail.
    init(_ service: Service, output: AdminOutput, by user: String) {
        self.service = service
        self.output = output
        origin = Origin(address: "administrator", agent: user)
        confined = nil
        apiKey = nil
    }

    /// For a call over HTTP, confined to the API key's own application unless the key's scope is
    /// the whole server.
    init(
        _ service: Service, output: AdminOutput, by application: AskingApplication,
        from origin: Origin
    ) {
        self.service = service
        self.output = output
        self.origin = origin
        confined = application.scopes.contains(.server) ? nil : application.record
        apiKey = application.apiKey
    }

    /// Whether commands may concern an application.
    func reaches(_ application: ApplicationRecord) -> Bool {
        confined == nil || confined?.id == application.id
    }

    /// Runs `body` in a read transaction.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(AdminFault) -> T {
        do throws(DatabaseFault) {
            return try await service.database.read(body)
        } catch { throw AdminFault(error) }
    }

    /// Makes a change in one transaction, with an audit line that is also written for a refusal.
    ///
    /// `what` describes the change in the audit trail, with the command and its options; it must
    /// not contain a secret.
    func change<T: Sendable>(
        _ what: String, of application: String = "", account: String = "",
        registration: RegistrationID? = nil,
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

    /// Makes a change to an existing application, behind the application's lock.
    ///
    /// So concurrent changes are made one after the other, each on the result of the one before.
    /// The rest is as in `change`.
    ///
    /// - Throws: `.missing` if there is no such application, or none that commands may concern, and
    ///   the fault that `body` returns.
    func changeApplication<T: Sendable>(
        _ what: String, application: String, account: String = "",
        registration: RegistrationID? = nil,
        _ body:
            @escaping @Sendable (any Transaction, ApplicationRecord, Int64) throws(DatabaseFault)
            -> Result<T, AdminFault>
    ) async throws(AdminFault) -> T {
        if let confined, confined.name != application {
            // The line belongs to the key's own application: the other one is not concerned.
            return try await change("\(what): of another application", of: confined.name) {
                _, _ throws(DatabaseFault) in .failure(.noApplication(application))
            }
        }
        return try await change(
            what, of: application, account: account, registration: registration
        ) {
            store, now throws(DatabaseFault) in
            guard let record = try store.applications.lockedApplication(name: application),
                reaches(record)
            else {
                return .failure(.noApplication(application))
            }
            return try body(store, record, now)
        }
    }

    /// Returns the application of this name; throws `.missing` if there is none, or none that
    /// commands may concern.
    func application(_ name: String) async throws(AdminFault) -> ApplicationRecord {
        let found = try await read { store throws(DatabaseFault) in
            try store.applications.application(name: name)
        }
        guard let found, reaches(found) else { throw .noApplication(name) }
        return found
    }

    /// Runs a function of the service, and translates its problems to faults of the command.
    func serve<T>(
        _ body: (Service) async throws(Problem) -> T
    ) async throws(AdminFault) -> T {
        do throws(Problem) {
            return try await body(service)
        } catch { throw AdminFault(error) }
    }
}
