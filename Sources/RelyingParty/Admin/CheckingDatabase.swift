// SPDX-License-Identifier: Apache-2.0
import Configuration
import LoginMessages
import Posix
import SQL

extension AdminVerbs {
    /// The check of the whole database, which changes nothing and may run beside the server.
    static let databaseCheck = AdminVerb(
        "check-database", operands: [], options: [],
        summary: "check the whole database for damage, and report what is damaged",
        work: .configuration { settings, output throws(AdminFault) in
            try await DatabaseCheck(settings).run(output)
        })
}

/// Looks for damage in the database that a configuration names, whatever its form.
private struct DatabaseCheck {
    /// How long a part of the check may take on PostgreSQL.
    private static let patience = Duration.seconds(12 * 3_600)

    private let settings: Configuration

    init(_ settings: Configuration) { self.settings = settings }

    /// Shows each finding as a line.
    ///
    /// - Throws: `.unusable` if there is any, or the check could not be completed.
    func run(_ output: AdminOutput) async throws(AdminFault) {
        try requireFile()
        let database = try AdminFiles.open(settings, patience: Self.patience)
        let findings: [String]
        do throws(DatabaseFault) {
            findings = try await Self.formFindings(of: database) + database.findings()
        } catch {
            await database.close()
            throw AdminFault(error)
        }
        await database.close()
        output.show(
            ["findings": findings],
            lines: findings.isEmpty ? ["no damage was found in the database"] : findings)
        guard findings.isEmpty else {
            throw .unusable(
                """
                the check of the database has findings, listed on standard output; where it is \
                damaged, stop the server, restore a backup and find out whether the disk fails
                """)
        }
    }

    /// Opening a file that does not exist would create it.
    private func requireFile() throws(AdminFault) {
        guard settings.word(ServerSettings.databaseKind) == "sqlite" else { return }
        let path = settings.word(ServerSettings.databasePath)
        guard FileLook(path) != nil else {
            throw .unusable(
                "there is no database \(path): start the server first, or correct the settings")
        }
    }

    private static func formFindings(
        of database: any Database
    ) async throws(DatabaseFault) -> [String] {
        let known = Schema.steps.count
        let found =
            try await database.hasTable("schema_version") ? await database.schemaVersion() : 0
        return switch found {
        case known: []
        case ..<known:
            [
                "the database has format \(found), and this program needs \(known): start the server, or run 'signet-server admin migrate'"
            ]
        default: ["\(DatabaseFault.newer(found: found, known: known))"]
        }
    }
}
