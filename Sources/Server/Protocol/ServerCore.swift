// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import Posix

/// What every part of the protocol works with: the records, the clock, the server's keys and its name.
struct ServerCore: Sendable {
    let database: any Database
    let keys: ServerKeys
    let clock: Clock
    /// How this server is called from outside: the issuer of tokens.
    let issuer: String

    /// Seconds since 1970.
    var now: Int64 { clock.wallSeconds() }

    /// Reads in one transaction.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(Problem) -> T {
        do throws(DatabaseFault) {
            return try await database.read(body)
        } catch {
            throw problem(of: error)
        }
    }

    /// Writes in one transaction. A refusal that `body` gives back is kept as well: the failure
    /// that it counted, the challenge that it used up, the line of the audit trail.
    func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> Result<T, Problem>
    ) async throws(Problem) -> T {
        let result: Result<T, Problem>
        do throws(DatabaseFault) {
            result = try await database.write(body)
        } catch {
            throw problem(of: error)
        }
        return try result.get()
    }

    /// Fresh random bytes; a fault is one of the machine.
    func random(_ count: Int) throws(Problem) -> [UInt8] {
        do throws(SystemFault) {
            return try randomBytes(count)
        } catch {
            report("no random bytes: \(error)")
            throw .unavailable
        }
    }

    /// What cryptography makes; a fault is one of the machine.
    func made<T>(_ make: () throws(CryptoFault) -> T) throws(Problem) -> T {
        do throws(CryptoFault) {
            return try make()
        } catch {
            report("cryptography failed: \(error)")
            throw .unavailable
        }
    }

    private func problem(of fault: DatabaseFault) -> Problem {
        report("the database: \(fault)")
        return .unavailable
    }
}
