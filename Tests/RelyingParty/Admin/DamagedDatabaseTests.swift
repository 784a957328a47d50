// SPDX-License-Identifier: Apache-2.0
import Foundation
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A database that is damaged")
struct DamagedDatabaseTests {
    /// Overwrites all pages of a file but the first ones.
    private func damage(_ path: String, from page: Int = 3) throws {
        let size = try Layout.read(path).count
        let outcome = try Program(
            Command([
                "dd", "if=/dev/urandom", "of=\(path)", "bs=4096", "seek=\(page)",
                "count=\(size / 4_096 - page)", "conv=notrunc", "status=none",
            ])
        ).expectEnd()
        #expect(outcome.succeeded)
    }

    private func damagedHome() throws -> ServerHome {
        let home = try ServerHome(.sqlite)
        try ServerProcess(home).stop()
        guard case .sqlite(let path) = home.place else { throw Unexpected("no file") }
        try damage(path)
        return home
    }

    private func expectWords(_ text: String) {
        #expect(text.contains("the database is damaged: "), "\(text)")
        #expect(text.contains("restore a backup"))
        for word in ["broken(", "damaged(", "DatabaseFault", "KeyFault"] {
            #expect(!text.contains(word), "\(text)")
        }
    }

    @Test("is found at the start, which says what to do")
    func start() throws {
        let home = try damagedHome()
        let outcome = try Program(
            Command([ServerProcess.program, "--config", try home.configuration()])
        ).expectEnd()
        #expect(outcome.ending == .exited(1))
        expectWords(outcome.errors)
    }

    @Test("is reported with one finding a line, and exit status 1")
    func check() throws {
        let home = try damagedHome()
        let outcome = try home.administer("check-database")
        #expect(outcome.ending == .exited(1))
        #expect(!outcome.output.isEmpty || outcome.errors.contains("the database is damaged: "))
        #expect(outcome.errors.contains("restore a backup"))
    }

    @Test("is reported in words if a running server meets it")
    func running() async throws {
        let home = try ServerHome(.sqlite)
        let server = try ServerProcess(home)
        guard case .sqlite(let path) = home.place else { throw Unexpected("no file") }
        // What is in the log is moved into the file, so that the file is read.
        let moved = try Program(Command(["sqlite3", path, "PRAGMA wal_checkpoint(TRUNCATE)"]))
            .expectEnd()
        #expect(moved.succeeded)
        try damage(path)
        var status = 0
        // Pages that the server holds in memory are not read again: only some calls meet the damage.
        for name in 0..<200 where status != 503 {
            status = try await server.ask("POST", "/v1/activations", ["account": "a\(name)"]).status
        }
        #expect(status == 503)
        expectWords(try server.stop().errors)
    }

    @Test("is not reported of a sound database", arguments: Backend.allCases)
    func sound(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        try await server.register(try TestDevice())
        // Beside the running server, and without it.
        for isRunning in [true, false] {
            if !isRunning { try server.stop() }
            let outcome = try home.administer("check-database")
            #expect(outcome.ending == .exited(0), "\(outcome.errors)")
            #expect(outcome.output == "no damage was found in the database\n")
            let json = try home.administer("check-database", "--json")
            #expect(json.output == "{\"findings\":[]}\n")
        }
    }

    @Test("is distinguished from one of another form", arguments: Backend.allCases)
    func form(backend: Backend) throws {
        let home = try ServerHome(backend)
        if case .sqlite(let path) = home.place {
            let outcome = try home.administer("check-database")
            #expect(outcome.ending == .exited(1))
            #expect(outcome.errors.contains("there is no database \(path)"))
            #expect(throws: (any Error).self) { try Layout.read(path) }
        } else {
            let outcome = try home.administer("check-database")
            #expect(outcome.ending == .exited(1))
            #expect(outcome.output.contains("the database has format 0"), "\(outcome.output)")
        }
    }

    @Test(
        "has findings as sentences: a row whose counterpart is missing", arguments: Backend.allCases
    )
    func dangling(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        try await server.register(try TestDevice())
        try server.stop()
        let words =
            switch home.place {
            case .sqlite(let path):
                ["sqlite3", path, "PRAGMA foreign_keys = OFF; DELETE FROM account"]
            case .postgreSQL(let connection):
                [
                    "psql", "-d", connection, "-c",
                    "SET session_replication_role = replica; DELETE FROM account",
                ]
            }
        let deleted = try Program(Command(words)).expectEnd()
        #expect(deleted.succeeded, "\(deleted.errors)")
        let outcome = try home.administer("check-database")
        #expect(outcome.ending == .exited(1))
        #expect(
            outcome.output.contains(
                "1 row of registration refers to a row of account that is missing\n"))
    }

    @Test("is not read whole at the start where its file is large")
    func large() throws {
        #expect(ServerFiles.quickCheckLimit == 64 * 1024 * 1024)
        let home = try ServerHome(.sqlite)
        try ServerProcess(home).stop()
        guard case .sqlite(let path) = home.place else { throw Unexpected("no file") }
        // Rows beyond the limit, whose last pages are damaged; the start does not look there.
        let grown = try Program(
            Command([
                "sqlite3", path,
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
                INSERT INTO forgotten (what, before) SELECT hex(randomblob(524288)) || i, 0 FROM n;
                PRAGMA wal_checkpoint(TRUNCATE);
                """,
            ])
        ).expectEnd()
        #expect(grown.succeeded, "\(grown.errors)")
        let pages = try Layout.read(path).count / 4_096
        #expect(pages * 4_096 > 64 * 1024 * 1024)
        try damage(path, from: pages - 20)
        try ServerProcess(home, apiKey: "").stop()
        #expect(try home.administer("check-database").ending == .exited(1))
    }
}
