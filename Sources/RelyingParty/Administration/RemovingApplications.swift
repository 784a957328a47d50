// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import SQL

// Removes applications in two stages. The first transaction ends everything that the application
// can do, at every server of the database; the following ones erase its rows, a batch at a time, so
// that other calls are served in between. An interrupted removal is continued by running the
// command again.
extension Administration {
    /// How many rows of a table one transaction deletes.
    private static let batch: Int64 = 1_000

    /// `application remove`: removes an application, or continues a removal that was interrupted.
    func removeApplication(_ words: AdminArguments) async throws(AdminFault) {
        let name = words[0]
        let takesDevices = words.choice(.registeredDevices, yes: "remove") ?? false
        // The command is recorded and the application made unusable before anything is deleted.
        let id = try await change("application remove \(name)", of: name) {
            store, now throws(DatabaseFault) -> Result<Int64, AdminFault> in
            guard let found = try store.applications.removable(application: name) else {
                return .failure(.noApplication(name))
            }
            // A removal that has begun is completed, whatever is left.
            if found.begun != nil { return .success(found.id) }
            let devices = try store.applications.countDevices(of: found.id)
            guard devices == 0 || takesDevices else {
                return .failure(
                    .refused(
                        """
                        '\(name)' has registered devices (\(devices)). Remove each with \
                        'registration remove', so that it learns that its key is no longer valid; \
                        --devices remove deletes them without notifying the devices
                        """))
            }
            try store.applications.beginRemoval(of: found.id, at: now)
            return .success(found.id)
        }
        try await erase(id)
        try await change("application remove \(name): finished", of: name) {
            store, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            try store.applications.finishRemoval(of: id)
            return .success(())
        }
        output.done("'\(name)' was removed; its audit trail stays")
    }

    private func erase(_ application: Int64) async throws(AdminFault) {
        var isOver = false
        while !isOver {
            do throws(DatabaseFault) {
                isOver = try await service.database.write { store throws(DatabaseFault) in
                    try store.applications.erase(some: Self.batch, of: application)
                }
            } catch { throw AdminFault(error) }
        }
    }
}
