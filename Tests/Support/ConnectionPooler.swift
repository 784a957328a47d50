// SPDX-License-Identifier: Apache-2.0
import Glibc

/// PgBouncer in front of a server, on a socket in a private directory and nowhere else.
package final class ConnectionPooler: Sendable {
    private let scratch: Scratch
    private let program: Program

    /// Starts one, in `session`, `transaction` or `statement` mode, with room for `size` sessions of
    /// the server; `settings` are further lines of its file.
    package init(
        for server: PostgreSQLServer, mode: String, size: Int = 20, settings: String = ""
    ) throws(TestFault) {
        scratch = try Scratch()
        let path = scratch.at("pgbouncer.ini")
        try scratch.write(
            "pgbouncer.ini",
            Array(
                """
                [databases]
                * = host=\(scratch.at("server")) port=\(server.port) user=signet
                [pgbouncer]
                listen_addr =
                unix_socket_dir = \(scratch.path)
                listen_port = 6432
                auth_type = any
                pool_mode = \(mode)
                default_pool_size = \(size)
                server_login_retry = 1
                \(settings)

                """.utf8))
        try Self.link(scratch.at("server"), to: server)
        for path in [scratch.path, path] {
            guard unsafe chown(path, PostgreSQLServer.uid, PostgreSQLServer.uid) == 0 else {
                throw .system(call: "chown", subject: path, code: errno)
            }
        }
        program = try PostgreSQLServer.run(
            "\(Layout.unpacked)/usr/sbin/pgbouncer", [path], home: scratch.path)
        try program.expectError("process up")
    }

    /// Has its next sessions be those of this server, as where an address moves to another machine.
    package func lead(to server: PostgreSQLServer) throws(TestFault) {
        try Self.link(scratch.at("server"), to: server)
    }

    private static func link(_ path: String, to server: PostgreSQLServer) throws(TestFault) {
        guard unsafe unlink(path) == 0 || errno == ENOENT,
            unsafe symlink(server.socketDirectory, path) == 0
        else { throw .system(call: "symlink", subject: path, code: errno) }
    }

    deinit {
        program.signal(SIGTERM)
        _ = try? program.expectEnd(within: .seconds(10))
    }

    /// A connection string that leads through it to `database`.
    package func connection(_ database: String = "postgres") -> String {
        "host=\(scratch.path) port=6432 user=signet dbname=\(database)"
    }
}
