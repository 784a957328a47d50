// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix

/// Makes the programs that write to a database file take turns, by a lock on a file beside it.
///
/// SQLite grants its write lock to the process that asks at the right moment; all others sleep and
/// ask again. If one program commits without a pause, another could miss every such moment, until
/// SQLite reports that the database is locked. With this lock, which is held from the request for
/// SQLite's lock until it is granted, the program that has just written waits behind those that
/// already wait.
final class SQLiteTurn: Sendable {
    /// The longest time to wait for a turn, in milliseconds.
    ///
    /// The lock is voluntary: a process that was stopped while it held the lock must not lock out
    /// others, so after this time a program writes without its turn.
    private static let patience = 1_000
    private let file: Descriptor

    /// Opens or creates the lock file, whose name is that of the database with `-turn`.
    init(beside path: String) throws(DatabaseFault) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = unsafe open("\(path)-turn", flags, 0o600)
        guard number >= 0 else {
            let code = errno
            throw code == ENOSPC || code == EDQUOT
                ? .full : .unavailable("\(path)-turn cannot be opened: error \(code)")
        }
        file = Descriptor(adopting: number)
    }

    /// Begins a write transaction when it is this program's turn.
    func begin(on connection: SQLiteConnection) throws(DatabaseFault) {
        wait()
        defer { _ = flock(file.number, LOCK_UN) }
        _ = try connection.run("BEGIN IMMEDIATE", [])
    }

    // flock(2) has no time limit, so the lock is polled, as SQLite polls its own lock.
    private func wait() {
        for _ in 0..<Self.patience {
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
            _ = poll(nil, 0, 1)
        }
    }
}
