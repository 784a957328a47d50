// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import SQL

// Blocks and unblocks accounts, sets their flags and roles, and creates activation codes. A block
// ends the account's sessions in the transaction that records it.
extension AdminVerbs {
    /// The commands for accounts, and for the activation codes of their devices.
    static let accounts: [AdminVerb] = [
        AdminVerb(
            "account list", operands: ["APPLICATION"], options: [.after, .limit],
            summary: "list the accounts of an application by name"
        ) { admin, words throws(AdminFault) in try await admin.listAccounts(words) },
        AdminVerb(
            "account set", operands: ["APPLICATION", "ACCOUNT"],
            options: [.flags, .roles],
            summary: "replace the flags or roles of an account"
        ) { admin, words throws(AdminFault) in try await admin.setAccount(words) },
        AdminVerb(
            "account block", operands: ["APPLICATION", "ACCOUNT"], options: [],
            summary: "block an account and end its sessions"
        ) { admin, words throws(AdminFault) in try await admin.setBlocked(words, isBlocked: true) },
        AdminVerb(
            "account unblock", operands: ["APPLICATION", "ACCOUNT"], options: [],
            summary: "unblock an account"
        ) {
            admin, words throws(AdminFault) in try await admin.setBlocked(words, isBlocked: false)
        },
        AdminVerb(
            "activation add", operands: ["APPLICATION", "ACCOUNT"], options: [.minutes],
            summary: "create an activation code for an account and show it once"
        ) { admin, words throws(AdminFault) in try await admin.addActivation(words) }
        .unseen { words in
            """
            a code for '\(words[1])' was created but could not be shown. Run 'activation add' \
            again to replace it
            """
        },
    ].map { $0.overHTTP(.application) }
}

extension Administration {
    fileprivate func listAccounts(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        let after = words.text(.after) ?? ""
        let most = words.limit
        let found = try await read { store throws(DatabaseFault) in
            try store.accounts.list(of: application.id, after: after, most: most)
        }
        output.list(found.map(ListedAccount.init))
    }

    fileprivate func setAccount(_ words: AdminArguments) async throws(AdminFault) {
        let flags = try words.words(.flags)
        let roles = try words.words(.roles)
        guard flags != nil || roles != nil else {
            throw .usage("nothing to change: give --flags or --roles")
        }
        try await changeAccount("account set \(words.changes)", words: words) {
            store, account, _ throws(DatabaseFault) in
            try store.accounts.setWords(
                of: account.id, flags: flags ?? account.flags, roles: roles ?? account.roles)
        }
        output.done("'\(words[1])' was changed; new tokens will show it")
    }

    fileprivate func setBlocked(
        _ words: AdminArguments, isBlocked: Bool
    ) async throws(AdminFault) {
        let what = isBlocked ? "account block" : "account unblock"
        try await changeAccount(what, words: words) { store, account, now throws(DatabaseFault) in
            try store.accounts.setBlocked(account.id, isBlocked: isBlocked, at: now)
            guard isBlocked else { return }
            for registration in try store.registrations.list(ofAccount: account.id) {
                try store.sessions.revokeSessions(
                    ofRegistration: registration.id, reason: "account-blocked", at: now)
            }
        }
        output.done(
            isBlocked
                ? "'\(words[1])' is blocked; access tokens remain valid until they expire"
                : "'\(words[1])' is unblocked")
    }

    private func changeAccount(
        _ what: String, words: AdminArguments,
        _ body:
            @escaping @Sendable (any Transaction, AccountRecord, Int64) throws(DatabaseFault) ->
            Void
    ) async throws(AdminFault) {
        let (application, name) = (words[0], words[1])
        try await changeApplication(what, application: application, account: name) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            guard let found = try store.accounts.account(name, of: record.id) else {
                return .failure(.noAccount(name, of: application))
            }
            // Read again behind the lock, so that no concurrent change is lost.
            try store.accounts.lockAccount(found.id)
            guard let account = try store.accounts.account(found.id) else {
                return .failure(.noAccount(name, of: application))
            }
            try body(store, account, now)
            return .success(())
        }
    }

    fileprivate func addActivation(_ words: AdminArguments) async throws(AdminFault) {
        let name = try words.name(1)
        let seconds = (words.count(.minutes) ?? 10) * 60
        let application = try await application(words[0])
        let made = try await serve { service throws(Problem) in
            try await service.registrations.makeActivation(
                of: name, application: application, seconds: seconds, from: origin)
        }
        output.show(made, lines: [made.code])
    }
}

/// An account in a list.
private struct ListedAccount: AdminListed {
    let name: String
    let blocked: Bool
    let flags: [String]
    let roles: [String]

    init(_ record: AccountRecord) {
        name = record.name
        blocked = record.isBlocked
        flags = record.flags
        roles = record.roles
    }

    static let columns = ["NAME", "STATE", "FLAGS", "ROLES"]
    var cells: [String] { [name, blocked ? "blocked" : "ok", shown(flags), shown(roles)] }
}

extension OptionSyntax {
    fileprivate static let after = OptionSyntax(
        "after", ValueSyntax("NAME"), summary: "start after this name")
    fileprivate static let roles = OptionSyntax(
        "roles", ValueSyntax("WORDS", kind: .words),
        summary: "the roles, separated by commas; empty for none")
    fileprivate static let minutes = OptionSyntax(
        "minutes", .number(1...1_440), summary: "how long the code can be used; the default is 10")
}
