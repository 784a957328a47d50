// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix

/// Whose turn it is to begin a write, of all programs that write to a file: an empty file beside it,
/// locked from when somebody asks for SQLite's own lock until they have it.
///
/// SQLite lets in whoever asks at the right moment, and has the others sleep and ask again. Beside
/// a program that commits without a pause, another would sleep whenever the moment came, until it
/// is told that the database is locked. With this, who has just written waits behind who asks.
final class SQLiteTurn: Sendable {
    /// So many milliseconds it is waited for at the most. It is a courtesy: who was stopped while
    /// they had it keeps nobody out.
    private static let patience = 1_000
    private let file: Descriptor

    /// Opens the file beside the database's, or makes it.
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

    /// Begins a transaction that writes, in turn.
    func begin(on connection: SQLiteConnection) throws(DatabaseFault) {
        wait()
        defer { _ = flock(file.number, LOCK_UN) }
        _ = try connection.run("BEGIN IMMEDIATE", [])
    }

    // There is no lock on a file with a time limit: so it is asked for again, as SQLite asks for its own.
    private func wait() {
        for _ in 0..<Self.patience {
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
            _ = poll(nil, 0, 1)
        }
    }
}
