// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import SQL

extension Dispatcher {
    /// Creates a dispatcher without sockets, maintenance or rate limits, for benchmarks.
    ///
    /// The database is migrated first. Returns nil, and reports why, if that fails or the keys
    /// cannot be created.
    package static func inProcess(
        _ database: any Database, master: SecretBytes, issuer: String
    ) async -> Dispatcher? {
        let clock = Clock.system
        do {
            try await database.migrate(Schema.steps)
            let keys = try await ServerKeys(database, master: master, at: clock.wallSeconds())
            return Dispatcher(
                service: Service(
                    database: database, keys: keys, clock: clock, issuer: issuer),
                limits: RateLimit(perMinute: 1_000_000_000, clock: clock), trustsProxy: false)
        } catch {
            report("cannot be measured: \(error)")
            return nil
        }
    }
}
