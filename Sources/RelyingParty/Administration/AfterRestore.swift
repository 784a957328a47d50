// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import SQL

extension AdminVerbs {
    /// The command to run once, after a backup was restored and before the server starts.
    ///
    /// It ends everything in the database that may have been used since the backup: request codes,
    /// and the kinds of rows in `Restored`.
    static let restoring: [AdminVerb] = [
        AdminVerb(
            "after-restore", operands: [], options: [.macTokens],
            summary: "end everything in a restored backup that may have been used since it was made"
        ) { admin, words throws(AdminFault) in
            try await RestoreAdministration(admin: admin).endRestored(words)
        }
    ]
}

/// The command that follows a restore.
private struct RestoreAdministration {
    let admin: Administration

    /// The maximum number of rows that one transaction changes.
    private static let batch: Int64 = 5_000

    func endRestored(_ words: AdminArguments) async throws(AdminFault) {
        let keepsTokens = words.choice(.macTokens, yes: "keep") ?? false
        let kinds = Restored.all + (keepsTokens ? [] : [Restored.macTokens])
        // The command is recorded, and old request codes are invalidated, before any rows are
        // ended.
        try await admin.change("after-restore") {
            store, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            try store.old.forgetNonces(at: now)
            return .success(())
        }
        var all: [EndedKind] = []
        for kind in kinds { all.append(EndedKind(what: kind.what, ended: try await end(kind))) }
        let told = all.map { "\($0.ended) \($0.what)" }.joined(separator: ", ")
        try await admin.change("after-restore: \(told)") {
            _, _ throws(DatabaseFault) -> Result<Void, AdminFault> in .success(())
        }
        admin.output.show(
            all,
            lines: [
                "ended: \(told)",
                """
                next: repeat every block, removal and revocation made since the backup: API keys, \
                accounts, devices, signing keys, roles and policies are as they were then
                """,
            ])
    }

    /// Ends all rows of a kind in small transactions, and returns how many.
    private func end(_ kind: Restored) async throws(AdminFault) -> Int64 {
        let now = admin.service.core.now
        var (count, last) = (0 as Int64, Self.batch)
        while last == Self.batch {
            do throws(DatabaseFault) {
                last = try await admin.service.database.write { store throws(DatabaseFault) in
                    try store.old.end(kind, at: now, most: Self.batch)
                }
            } catch { throw AdminFault(error) }
            count += last
        }
        return count
    }
}

/// The number of rows of a kind that were ended.
private struct EndedKind: Encodable {
    let what: String
    let ended: Int64
}

extension OptionSyntax {
    fileprivate static let macTokens = OptionSyntax(
        "mac-tokens", .choice("revoke", "keep"),
        summary: "what happens to MAC tokens; the default is revoke")
}
