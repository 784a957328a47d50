// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix

/// Creates and checks the file of an SQLite database.
enum SQLiteFile {
    /// "Sgnt", the application id in the file's header, which distinguishes it from other
    /// databases.
    static let application: Int32 = 0x5367_6e74

    /// Creates the file if it is missing, and ensures that only this account (and root) can access
    /// it.
    ///
    /// - Throws: `.broken` if the file belongs to another account, the directory belongs neither to
    ///   root nor to this account, or group or others may write to it; `.full` or `.unavailable` if
    ///   the file cannot be opened.
    static func prepare(_ path: String) throws(DatabaseFault) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard path.hasPrefix("/"), parts.count > 1, !path.utf8.contains(0) else {
            throw .broken("\(path) is not the absolute path of a file")
        }
        let directory = "/" + parts.dropLast().joined(separator: "/")
        guard let look = FileLook(directory, following: true), look.kind == .directory else {
            throw .unavailable("\(directory) is not a directory")
        }
        guard look.owner == 0 || look.owner == effectiveUID(), look.permissions & 0o022 == 0 else {
            throw .broken("\(directory) belongs to another or others may write to it")
        }
        // SQLite gives the journal files the same mode.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = unsafe open(path, flags, 0o600)
        guard number >= 0 else {
            let code = errno
            throw code == ENOSPC || code == EDQUOT
                ? .full : .unavailable("\(path) cannot be opened: error \(code)")
        }
        let file = Descriptor(adopting: number)
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == effectiveUID(), status.st_nlink == 1
        else {
            throw .broken("\(path) is not a file that only this program's account can use")
        }
        guard status.st_mode & 0o077 == 0 || fchmod(file.number, 0o600) == 0 else {
            throw .broken("\(path) can be read by others: error \(errno)")
        }
    }

    /// Marks an empty database with the application id.
    ///
    /// A database that has the mark is only read, so that this need not wait for other writers.
    ///
    /// - Throws: `.broken` for another program's database.
    static func claim(
        _ connection: SQLiteConnection, turn: SQLiteTurn
    ) throws(DatabaseFault) {
        if try mark(connection) == Int64(application) { return }
        try turn.begin(on: connection)
        do throws(DatabaseFault) {
            let found = try mark(connection)
            if found != Int64(application) {
                let tables = try connection.run("SELECT COUNT(*) FROM sqlite_schema", [])
                guard found == 0, try tables.first?.integer(0) == 0 else {
                    throw .broken("the file is another program's database")
                }
                try connection.execute("PRAGMA application_id = \(application)")
            }
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private static func mark(_ connection: SQLiteConnection) throws(DatabaseFault) -> Int64? {
        try connection.run("PRAGMA application_id", []).first?.integer(0)
    }
}
