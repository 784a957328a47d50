// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import Testing

@testable import RelyingParty

/// SQLite has one writer: there, of a block and a call one is over before the other begins.
@Suite("An account that is blocked by PostgreSQL while a call is under way")
struct BlockedMeanwhileTests {
    /// What would be given.
    enum Gift: String, CaseIterable {
        case login, macToken, confirmedLogin, decision, refresh, operation
    }

    /// A call that would be accepted.
    private struct Prepared: Sendable {
        let path: String
        let body: [String: String]
        var isAsking = false
    }

    @Test("gets nothing from the call", arguments: Gift.allCases)
    func blocked(gift: Gift) async throws {
        let server = try await TestServer.make(.postgreSQL)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let call = try await prepare(gift, server, device)
        let isAnswered = Flag()
        let (blocked, hasBlocked) = AsyncStream.makeStream(of: Void.self)
        let block = Task {
            try await server.database.write { store throws(DatabaseFault) in
                guard let shop = try store.applications.application(name: "shop"),
                    let account = try store.accounts.account("alice", of: shop.id)
                else { throw .broken("no account") }
                try store.accounts.setBlocked(account.id, isBlocked: true, at: TestTime.start)
                for registration in try store.registrations.list(ofAccount: account.id) {
                    try store.sessions.revokeSessions(
                        ofRegistration: registration.id, reason: "test", at: TestTime.start)
                }
                hasBlocked.yield()
                while !isAnswered.isUp {
                    if try store.isAwaited { break }
                }
            }
        }
        for await _ in blocked { break }
        let reply = try await server.send(
            "POST", call.path, call.body, key: call.isAsking ? server.apiKey : nil)
        isAnswered.raise()
        try await block.value
        #expect([401, 409].contains(reply.status), "\(reply.status)")
        #expect(try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL").isEmpty)
        #expect(try await server.rows("SELECT id FROM mac_token").isEmpty)
        if gift == .decision {
            let kept = try await server.rows("SELECT status FROM operation")
            #expect(kept == [Row([.text("PENDING")])])
        }
        if gift == .operation {
            #expect(try await server.rows("SELECT id FROM operation").isEmpty)
        }
    }

    private func prepare(
        _ gift: Gift, _ server: TestServer, _ device: TestDevice
    ) async throws -> Prepared {
        switch gift {
        case .login:
            let statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            return Prepared(
                path: "/v1/login", body: try device.signed(statement.encoded(), .login).texts)
        case .macToken:
            let statement = device.answer(
                try await server.challenge(device, "mac-token"), "mac-token",
                at: server.time.now, purpose: "sync")
            return Prepared(
                path: "/v1/mac-tokens", body: try device.signed(statement.encoded(), .login).texts)
        case .confirmedLogin:
            let begun = try await server.ask(
                "POST", "/v1/login/init", ["account": "alice", "template": "login"])
            let id = try begun.text("operation")
            #expect(try await server.decide(id, by: device).status == 200)
            return Prepared(
                path: "/v1/login/confirm",
                body: ["operation": id, "session": try begun.text("session")], isAsking: true)
        case .decision:
            let id = try await server.operation()
            let shown = try await server.detail(id, for: device)
            let statement = device.decision(of: shown, at: server.time.now)
            return Prepared(
                path: "/v1/operations/\(id)/decision",
                body: try device.signed(statement.encoded(), .operation).texts)
        case .refresh:
            let tokens = try await server.logIn(device)["tokens"] as? [String: Any]
            return Prepared(
                path: "/v1/token/refresh",
                body: ["refreshToken": tokens?["refreshToken"] as? String ?? ""])
        case .operation:
            // Without values: bodies here are texts alone.
            try await server.makeTemplate("plain", "agree")
            return Prepared(
                path: "/v1/operations", body: ["account": "alice", "template": "plain"],
                isAsking: true)
        }
    }
}

/// Up once it was raised.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isUp: Bool { value.load(ordering: .sequentiallyConsistent) }
    func raise() { value.store(true, ordering: .sequentiallyConsistent) }
}

extension Transaction {
    /// Whether another transaction waits for this one; asked of PostgreSQL, which notifies no one.
    var isAwaited: Bool {
        get throws(DatabaseFault) {
            try !run(
                """
                SELECT 1 FROM pg_locks, pg_sleep(0.002) WHERE NOT granted
                    AND locktype = 'transactionid'
                    AND transactionid = CAST(pg_current_xact_id() AS xid)
                """
            ).isEmpty
        }
    }
}

extension [String: Any] {
    /// The members that are texts.
    fileprivate var texts: [String: String] { compactMapValues { $0 as? String } }
}
