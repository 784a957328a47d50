// SPDX-License-Identifier: Apache-2.0
/// Why a database operation failed.
package enum DatabaseFault: Error, Equatable {
    /// The database cannot be reached, or the connection broke; a later attempt may succeed.
    ///
    /// If the connection broke during a commit, the transaction may or may not have been committed.
    case unavailable(String)
    /// There is no space left on the disk.
    case full
    /// Other transactions hold what this one needs, or it took too long; a later attempt may
    /// succeed.
    case busy(String)
    /// The database was migrated by a later version of the program; the numbers are schema
    /// versions.
    case newer(found: Int, known: Int)
    /// The database itself says that what it has stored is damaged, for example by a failing disk.
    case damaged(String)
    /// A sound program and database would not cause this: one of them has a fault.
    case broken(String)
}

extension DatabaseFault {
    /// The kind of a fault, by which faults are counted; the raw values are labels of metrics.
    package enum Kind: String, CaseIterable, Sendable {
        case full = "full"
        case busy = "busy"
        case damaged = "damaged"
        case unreachable = "unreachable"
        case other = "other"
    }

    /// The kind that this fault is counted as.
    package var kind: Kind {
        switch self {
        case .full: .full
        case .busy: .busy
        case .damaged: .damaged
        case .unavailable: .unreachable
        case .newer, .broken: .other
        }
    }
}

/// What people read of a database fault, everywhere: what happened, then what to do.
///
/// A single line without a full stop. Neither password nor stored value is in it.
extension DatabaseFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let reason):
            "the database does not answer: \(reason)"
        case .full:
            "the database's disk is full: free space and try again"
        case .busy(let reason):
            "the database is busy: \(reason). Try again later"
        case .newer(let found, let known):
            """
            the database has format \(found), and this program supports up to \(known): use the \
            version of signet-server that created it, or a later one
            """
        case .damaged(let reason):
            """
            the database is damaged: \(reason); stop the server, restore a backup and find out \
            whether the disk fails ('signet-server admin check-database' says what is damaged)
            """
        case .broken(let reason):
            "the database cannot be used: \(reason)"
        }
    }
}
