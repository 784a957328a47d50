// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("Sign-ins at the server's own page")
struct SiteShareTests {
    /// How many logins await alice.
    private func waiting(_ server: TestServer) async throws -> Int {
        try await server.rows(
            "SELECT id FROM operation WHERE status = 'PENDING' AND expires > $1",
            [.integer(server.time.now)]
        ).count
    }

    private func begin(_ server: TestServer, from peer: String) async throws {
        let browser = TestBrowser(server)
        browser.peer = peer
        try await browser.begin()
    }

    @Test(
        "by strangers from everywhere take no place of the application's own logins",
        arguments: Backend.allCases)
    func places(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        for number in 0..<8 { try await begin(server, from: "198.51.100.\(number)") }
        #expect(try await waiting(server) == 3)
        let wish = ["account": "alice", "template": "login"]
        try await server.makeTemplate("login", "log in", purpose: .login)
        for number in 1...6 {
            let begun = try await server.ask("POST", "/v1/login/init", wish)
            #expect(begun.status == (number < 6 ? 201 : 409), "\(number)")
        }
        #expect(try await waiting(server) == 8)
        #expect(try await server.awaited(by: device).count == 8)
        // Nor does the application take the places of browsers.
        server.time.pass(300)
        for _ in 1...5 { _ = try await server.ask("POST", "/v1/login/init", wish) }
        try await begin(server, from: "198.51.100.1")
        #expect(try await waiting(server) == 6)
    }

    @Test(
        "from one network leave a place to another's",
        arguments: Backend.allCases)
    func networks(backend: Backend) async throws {
        let (server, _) = try await TestBrowser.server(backend)
        for number in 0..<5 { try await begin(server, from: "2001:db8::\(number)") }
        #expect(try await waiting(server) == 2)
        try await begin(server, from: "192.0.2.7")
        #expect(try await waiting(server) == 3)
    }

    @Test("are no more than wait, of many at once", arguments: Backend.allCases)
    func race(backend: Backend) async throws {
        let (server, _) = try await TestBrowser.server(backend)
        var requests: [HTTPRequest] = []
        for number in 0..<30 {
            let browser = TestBrowser(server)
            browser.peer = "198.51.100.\(number)"
            try await browser.open("/site/sign-in")
            requests.append(try browser.form("/site/sign-in", "account=alice"))
        }
        let all = requests
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in all { group.addTask { _ = await server.answer(request) } }
            try await group.waitForAll()
        }
        #expect(try await waiting(server) == 3)
    }

    @Test("of one browser take the earlier one back", arguments: Backend.allCases)
    func again(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.begin()
        for _ in 0..<4 {
            let before = try await server.latestOperation()
            try await browser.begin()
            #expect(try await server.status(before) == "CANCELED")
            #expect(try await waiting(server) == 1)
        }
        #expect(try await server.rows("SELECT hash FROM site_login").count == 1)
        #expect(try await server.audited("operation-cancelled", "ok") == 4)
        // Another browser's wait goes on.
        let other = TestBrowser(server)
        try await other.begin()
        #expect(try await waiting(server) == 2)
        try await other.begin("nobody")
        _ = try await server.decide(try await server.latestOperation(), by: device)
        #expect(try await browser.open("/site/waiting").location == "/site")
    }

    @Test(
        "of a browser that is signed in end what it was signed in by", arguments: Backend.allCases)
    func signedInAgain(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.signIn(by: device)
        let former = browser.cookie
        // The page has the token that a form for another sign-in wants.
        #expect(try await browser.post("/site/sign-in", "account=alice").status == 303)
        #expect(try await server.rows("SELECT hash FROM site_session").isEmpty)
        #expect(
            try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL").isEmpty)
        _ = try await server.decide(try await server.latestOperation(), by: device)
        try await browser.open("/site/waiting")
        #expect(try await browser.isSignedIn)
        #expect(try await server.rows("SELECT hash FROM site_session").count == 1)
        browser.cookie = former
        #expect(try await !browser.isSignedIn)
        #expect(try await server.audited("revocation", "ok") == 1)
    }

    @Test(
        "take as many transactions whether there is such an account, a blocked one, or one too busy",
        arguments: Backend.allCases)
    func work(backend: Backend) async throws {
        let (server, _) = try await TestBrowser.server(backend)
        let blocked = try TestDevice(id: 0xd2)
        blocked.account = "blocked"
        try await server.register(blocked)
        try await server.change("UPDATE account SET blocked = 1 WHERE name = 'blocked'")
        func count() -> Int { server.database.figures.waits.snapshot.counts.reduce(0, +) }
        var counts: [Int] = []
        var lines: [Int] = []
        for name in ["nobody", "blocked", "alice", "alice", "alice"] {
            let browser = TestBrowser(server)
            try await browser.open("/site/sign-in")
            let trail = try await server.rows("SELECT id FROM audit").count
            let before = count()
            try await browser.post("/site/sign-in", "account=\(name)")
            counts.append(count() - before)
            lines.append(try await server.rows("SELECT id FROM audit").count - trail)
            try await browser.open("/site/waiting")
            let cancel = count()
            try await browser.post("/site/cancel")
            counts[counts.count - 1] += 100 * (count() - cancel)
            // What waits is not taken back: the last one is to be too busy.
            if name == "alice" { try await browser.begin() }
        }
        #expect(Set(counts).count == 1, "\(counts)")
        #expect(Set(lines) == [1], "\(lines)")
        #expect(try await server.audited("operation-created", "conflict") >= 2)
    }

    @Test("are fewer a minute than what else an address may begin, and never none")
    func rate() {
        for (all, signIns) in [(120, 30), (1_000_000, 250_000), (3, 1), (1, 1)] {
            #expect(Site.signInRate(all) == signIns)
        }
    }

    @Test("are answered at a full step of time, however long the work took")
    func steps() {
        let began = ContinuousClock.now
        for (work, answered) in [(0, 100), (1, 100), (99, 100), (101, 200), (250, 300)] {
            let due = Site.due(since: began, at: began.advanced(by: .milliseconds(work)))
            #expect(began.duration(to: due) == .milliseconds(answered), "\(work)")
        }
    }
}
