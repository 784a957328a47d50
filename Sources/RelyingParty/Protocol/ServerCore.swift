// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import SQL

/// Dependencies that all parts of the protocol share: database, keys, clock and public URL.
///
/// Its methods convert faults of the server (database, cryptography, random numbers) into
/// `Problem.unavailable` and report the cause to the log, so callers never learn it.
struct ServerCore: Sendable {
    let database: any Database
    let keys: ServerSigningKeys
    let clock: Clock
    /// The server's URL as seen from outside, which is the issuer of its tokens.
    let issuer: String

    /// Seconds since 1970.
    var now: Int64 { clock.wallSeconds() }

    /// The current time in microseconds, where the order within a second counts.
    var moment: Moment { Moment(microseconds: clock.wallMicroseconds()) }

    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(Problem) -> T {
        do throws(DatabaseFault) {
            return try await database.read(body)
        } catch {
            throw problem(of: error)
        }
    }

    /// Runs `body` in one transaction and commits it, even if `body` returns a failure.
    ///
    /// So the rows that a refusal wrote are stored: the failure count, the used challenge, the
    /// audit line. Only a thrown `DatabaseFault` rolls the transaction back. `body` may run again
    /// after a conflict, so it must have no other effects.
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

    /// Returns `count` random bytes.
    func random<ID: FixedBytes>() throws(Problem) -> ID { ID(random: try random(ID.count)) }

    func random(_ count: Int) throws(Problem) -> [UInt8] {
        do throws(SystemFault) {
            return try randomBytes(count)
        } catch {
            report("no random bytes: \(error)")
            throw .unavailable
        }
    }

    /// Runs a cryptographic operation that can fail only by a fault of the server.
    func made<T>(_ make: () throws(CryptoFault) -> T) throws(Problem) -> T {
        do throws(CryptoFault) {
            return try make()
        } catch {
            report("cryptography failed: \(error)")
            throw .unavailable
        }
    }

    private func problem(of fault: DatabaseFault) -> Problem {
        report("\(fault)")
        return .unavailable
    }
}
