// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

/// SQLite has one writer: there, of two commands one is over before the other begins.
@Suite("Two commands of administration at once on PostgreSQL")
struct AdministrationRaceTests {
    /// Has a command meet a transaction that has made its change, `holding` the application or not,
    /// and is yet to end; gives whether the command waited for it.
    private func race(
        _ server: TestServer, _ command: [String],
        holding: Bool = true,
        beside change:
            @escaping @Sendable (any Transaction, ApplicationRecord) throws(DatabaseFault) -> Void
    ) async throws -> Bool {
        let isOver = Flag()
        let (changed, hasChanged) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await server.database.write { store throws(DatabaseFault) -> Bool in
                let shop =
                    holding
                    ? try store.applications.lockedApplication(name: "shop")
                    : try store.applications.application(name: "shop")
                guard let shop else { throw .broken("no application") }
                try change(store, shop)
                hasChanged.yield()
                while !isOver.isUp {
                    if try store.isAwaited { return true }
                }
                return false
            }
        }
        for await _ in changed { break }
        let fault = await server.fault(command)
        isOver.raise()
        #expect(fault == nil)
        return try await first.value
    }

    @Test("keep what each has changed of a policy")
    func policy() async throws {
        let server = try await TestServer.make(.postgreSQL)
        let waited = try await race(
            server, ["application", "set", "shop", "--max-failures", "3"]
        ) { store, shop throws(DatabaseFault) in
            var policy = shop.policy
            policy.keys = .tpm
            try store.applications.setPolicy(of: shop.id, policy: policy)
        }
        #expect(waited)
        let kept = try await server.rows("SELECT minimum_key, max_failures FROM application")
        #expect(kept == [Row([.text("tpm"), .integer(3)])])
    }

    @Test("keep what each has changed of an account", arguments: [true, false])
    func account(isHeld: Bool) async throws {
        let server = try await TestServer.make(.postgreSQL)
        try await server.administer("activation", "add", "shop", "alice")
        try await server.administer("account", "set", "shop", "alice", "--roles", "admin")
        let waited = try await race(
            server, ["account", "set", "shop", "alice", "--flags", "vip"], holding: isHeld
        ) { store, shop throws(DatabaseFault) in
            guard let alice = try store.accounts.account("alice", of: shop.id) else {
                throw .broken("no account")
            }
            try store.accounts.lockAccount(alice.id)
            // The role is taken away.
            try store.accounts.setWords(of: alice.id, flags: alice.flags, roles: [])
        }
        #expect(waited)
        let kept = try await server.rows("SELECT flags, roles FROM account")
        #expect(kept == [Row([.text("vip"), .text("")])])
    }

    @Test("are all kept of many, and none is refused")
    func many() async throws {
        let server = try await TestServer.make(.postgreSQL)
        let changes = [
            ["--keys", "tpm"], ["--secure-boot", "on"], ["--max-failures", "3"],
            ["--devices", "one"], ["--commit", "yes"], ["--biometrics", "no"],
            ["--access-seconds", "60"], ["--refresh-seconds", "600"],
        ]
        await withTaskGroup(of: AdminFault?.self) { group in
            for change in changes {
                group.addTask { await server.fault(["application", "set", "shop"] + change) }
                let name = String(change[0].dropFirst(2))
                group.addTask { await server.fault("activation", "add", "shop", name) }
            }
            for await fault in group { #expect(fault == nil) }
        }
        let policy = try await server.database.read { store throws(DatabaseFault) in
            try store.applications.application(name: "shop")?.policy
        }
        #expect(
            policy
                == ApplicationPolicy(
                    severalDevices: false, commitRequired: true, biometrics: false, keys: .tpm,
                    secureBoot: .on, maximumFailures: 3, accessSeconds: 60,
                    refreshSeconds: 600))
        #expect(try await server.rows("SELECT id FROM account").count == changes.count)
    }
}
