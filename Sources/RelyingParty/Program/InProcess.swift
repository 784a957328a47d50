// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import SQL

extension Dispatcher {
    /// Creates a dispatcher without sockets and maintenance, for benchmarks.
    ///
    /// By default, the limits of networks are never reached.
    ///
    /// The database is migrated first. Returns nil, and reports why, if that fails or the keys
    /// cannot be created.
    package static func inProcess(
        _ database: any Database, master: SecretBytes, issuer: String,
        rates: NetworkRates = NetworkRates(standard: 1_000_000_000)
    ) async -> Dispatcher? {
        let clock = Clock.system
        do {
            try await database.migrate(Schema.steps)
            let keys = try await ServerSigningKeys(
                database, master: master, at: clock.wallSeconds())
            return Dispatcher(
                service: Service(
                    database: database, keys: keys, clock: clock, issuer: issuer),
                limits: CallLimits(rates, clock: clock), trustsProxy: false)
        } catch {
            report("the server cannot be measured: \(error)")
            return nil
        }
    }
}
