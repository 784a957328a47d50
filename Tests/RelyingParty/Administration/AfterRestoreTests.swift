// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A backup that was restored")
struct AfterRestoreTests {
    @Test(
        "offers nothing from before any more, and its devices can still log in",
        arguments: Backend.allCases)
    func ended(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let tokens = try await server.logIn(device)["tokens"] as? [String: Any]
        let refresh = try #require(tokens?["refreshToken"] as? String)
        let access = try #require(tokens?["accessToken"] as? String)
        let token = try await server.macToken(device)
        let code = try await server.administer("activation", "add", "shop", "bob")
        let challenge = try await server.challenge(device)
        let waiting = try await server.operation()
        let decision = device.decision(
            of: try await server.detail(waiting, for: device), at: server.time.now)
        let approved = try await server.ask(
            "POST", "/v1/login/init", ["account": "alice", "template": "login"])
        let login = try approved.text("operation")
        #expect(try await server.decide(login, by: device).status == 200)
        let done = try await server.operation()
        #expect(try await server.decide(done, by: device).status == 200)
        let request = try device.header(try device.statement(at: server.time.now))

        let told = try await server.administer("after-restore")
        #expect(
            told.first == """
                ended: 1 challenges, 1 operations, 1 approved logins, 1 activation codes, \
                1 sessions, 1 MAC tokens
                """)

        let late = device.answer(challenge, "login", at: server.time.now)
        let answered = try await server.send(
            "POST", "/v1/login", try device.signed(late.encoded(), .login))
        #expect(answered.code == "refused")
        let decided = try await server.decide(
            waiting, device.signed(decision.encoded(), .operation))
        #expect(decided.status == 409)
        #expect(try await server.status(waiting) == "EXPIRED")
        #expect(try await server.status(done) == "APPROVED")
        let confirmed = try await server.ask(
            "POST", "/v1/login/confirm",
            ["operation": login, "session": try approved.text("session")])
        #expect(confirmed.status == 409)
        let begun = try await server.send(
            "POST", "/v1/registrations", ["code": code[0], "device": hexadecimal(device.id)])
        #expect(begun.status == 401 || begun.status == 403)
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": refresh])
        #expect(refreshed.code == "token-refused")
        let introspected = try await server.ask("POST", "/v1/token/introspect", ["token": access])
        #expect(introspected["active"] as? Bool == false)
        // Its nonce may have been used after the copy was made.
        #expect(try await server.refusal(of: request) == "clock")
        server.time.pass(31)
        #expect(
            try await server.refusal(of: token.header(at: server.time.now)) == "token-refused")
        let fresh = try device.header(try device.statement(at: server.time.now + 1))
        #expect(try await server.refusal(of: fresh) == nil)
        #expect(try await server.logIn(device).status == 200)
        let lines = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'administration' ORDER BY id")
        #expect(
            try lines.suffix(2).map { row in try row.text(0) } == [
                "after-restore",
                """
                after-restore: 1 challenges, 1 operations, 1 approved logins, \
                1 activation codes, 1 sessions, 1 MAC tokens
                """,
            ])
    }

    @Test("keeps MAC tokens if asked to, and nothing else", arguments: Backend.allCases)
    func kept(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        #expect(await server.fault("after-restore", "--mac-tokens", "no")?.status == 2)
        let told = try await server.administer("after-restore", "--mac-tokens", "keep")
        #expect(told.first?.contains("MAC") == false)
        server.time.pass(32)
        #expect(try await server.refusal(of: token.header(at: server.time.now)) == nil)
    }

    @Test("is ended in small transactions, all of it, and a second time does nothing")
    func many() async throws {
        let server = try await TestServer.make(.sqlite)
        try await server.database.write { store throws(DatabaseFault) in
            try store.run(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                INSERT INTO challenge (value, application, account, device, action, expires)
                SELECT CAST(printf('%032d', i) AS BLOB), 1, 'a', x'00', 'login', 0 FROM n
                """)
        }
        #expect(
            try await server.administer("after-restore")[0].hasPrefix("ended: 12000 challenges"))
        #expect(
            try await server.rows("SELECT 1 FROM challenge WHERE used IS NULL LIMIT 1").isEmpty)
        #expect(try await server.administer("after-restore")[0].hasPrefix("ended: 0 challenges"))
    }
}
