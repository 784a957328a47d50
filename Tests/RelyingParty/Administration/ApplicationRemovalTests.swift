// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("The removal of an application")
struct ApplicationRemovalTests {
    /// Begins it as `application remove` does, and goes no further.
    private func begin(_ server: TestServer) async throws -> Int64 {
        try await server.database.write { store throws(DatabaseFault) in
            guard let shop = try store.applications.removable(application: "shop") else {
                throw .broken("no application")
            }
            try store.applications.beginRemoval(of: shop.id, at: TestTime.start)
            return shop.id
        }
    }

    private func erase(_ server: TestServer, _ id: Int64, _ most: Int64) async throws -> Bool {
        try await server.database.write { store throws(DatabaseFault) in
            try store.applications.erase(some: most, of: id)
        }
    }

    private func count(_ server: TestServer, _ sql: StaticString) async throws -> Int {
        try await server.rows(sql).count
    }

    @Test(
        "stops every login at its first moment, and is finished by the next one after a crash",
        arguments: Backend.allCases)
    func crashed(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        let begun = try await server.beginForVisitor()
        _ = try await server.decide(try begun.text("operation"), by: device)
        let token = try await server.macToken(device)
        let challenge = try await server.challenge(device)
        let id = try await begin(server)
        for erased in [false, true] {
            // Some of it is gone, some is there.
            if erased { #expect(try await !self.erase(server, id, 1)) }
            let statement = device.answer(challenge, "login", at: server.time.now)
            let login = try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login))
            #expect(login.status == 401)
            let asked = try await server.ask("POST", "/v1/activations", ["account": "alice"])
            #expect(asked.status == 401)
            let header = try token.header(
                of: TestRequest(method: "GET", resource: "/v1/device/operations", body: []),
                at: server.time.now)
            let list = try await server.send(
                "GET", "/v1/device/operations", headers: [("authorization", header)])
            #expect(list.status == 401)
            #expect(try await server.confirm(begun).status == 401)
            #expect(await server.fault("key", "add", "shop", "more")?.status == 3)
            let audience = "https://id.example.org/shop"
            for words in [["shop"], ["store", "--audience", audience]] {
                let again = await server.fault(["application", "add"] + words)
                #expect(again?.text.contains("run 'application remove shop' to finish it") == true)
            }
        }
        // Without --devices: what is left of its devices is good for nothing.
        try await server.administer("application", "remove", "shop")
        #expect(await server.fault("application", "remove", "shop")?.status == 3)
        for table in [
            "SELECT 1 FROM application", "SELECT 1 FROM account", "SELECT 1 FROM registration",
            "SELECT 1 FROM token_session", "SELECT 1 FROM refresh_token", "SELECT 1 FROM template",
            "SELECT 1 FROM mac_token", "SELECT 1 FROM operation", "SELECT 1 FROM api_key",
        ] as [StaticString] {
            #expect(try await count(server, table) == 0, "\(table)")
        }
        try await server.administer("application", "add", "shop")
        #expect(try await server.logIn(device).status == 401)
    }

    @Test("holds the database for no more rows at once than it says", arguments: Backend.allCases)
    func batches(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for _ in 0..<25 { #expect(try await server.logIn(device).status == 200) }
        _ = try await server.makeApplication("bank")
        let id = try await begin(server)
        var left = try await count(server, "SELECT 1 FROM refresh_token")
        #expect(left == 25)
        while left > 0 {
            #expect(try await !erase(server, id, 10))
            let now = try await count(server, "SELECT 1 FROM refresh_token")
            #expect(left - now <= 10 && now < left)
            left = now
            // Others are served meanwhile.
            _ = try await server.makeApplication("shop\(left)")
        }
        var isOver = false
        var rounds = 0
        while !isOver && rounds < 20 {
            isOver = try await erase(server, id, 10)
            rounds += 1
        }
        #expect(isOver)
        #expect(try await count(server, "SELECT 1 FROM registration") == 0)
    }

    @Test("is not broken off by logins that are under way", arguments: Backend.allCases)
    func underWay(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        var bodies: [[String: String]] = []
        for number in 0..<40 {
            let device = try TestDevice(id: UInt8(number))
            device.account = "account\(number)"
            try await server.register(device)
            let statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            let body = try device.signed(statement.encoded(), .login)
            bodies.append(body.compactMapValues { $0 as? String })
        }
        let all = bodies
        async let logins = server.race("/v1/login", all)
        try await server.administer("application", "remove", "shop", "--devices", "remove")
        _ = try await logins
        for table in [
            "SELECT 1 FROM application", "SELECT 1 FROM account", "SELECT 1 FROM registration",
            "SELECT 1 FROM token_session", "SELECT 1 FROM refresh_token",
        ] as [StaticString] {
            #expect(try await count(server, table) == 0, "\(table)")
        }
    }

    @Test(
        "ends its API keys and its devices for servers that remember them",
        arguments: Backend.allCases
    )
    func remembered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        func header() throws -> String {
            try device.header(try device.statement(at: server.time.now))
        }
        // From now on it knows the application of the key, and the device's key.
        #expect(try await server.refusal(of: try header()) == nil)
        _ = try await begin(server)
        let begun = try await server.verify(try header())
        #expect(begun.status == 401 && begun.code == "api-key-refused")
        try await server.administer("application", "remove", "shop")
        try await server.administer("application", "add", "shop")
        #expect(try await server.verify(try header()).code == "api-key-refused")
        // Nor is the device's key good with a key of the new one.
        let key = try await server.administer("key", "add", "shop", "new")
        #expect(try await server.refusal(of: try header(), key: key.first) == "refused")
    }

    @Test(
        "is complete even for a caller that read the application before",
        arguments: Backend.allCases)
    func late(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let shop = try #require(
            try await server.database.read { store throws(DatabaseFault) in
                try store.applications.application(name: "shop")
            })
        let name = try #require(Name("zoe"))
        let origin = Origin(address: "192.0.2.1", agent: "")
        let id = try await begin(server)
        for _ in 0..<2 {
            // Its API key held when it was looked at.
            await #expect(throws: Problem.apiKeyRefused) {
                try await server.service.registrations.makeActivation(
                    of: name, application: shop, seconds: 600, from: origin)
            }
            #expect(try await count(server, "SELECT 1 FROM account") == 0)
            while try await !erase(server, id, 10) {}
            try await server.database.write { store throws(DatabaseFault) in
                try store.applications.finishRemoval(of: id)
            }
        }
    }

    @Test("waits at PostgreSQL for what is being added, and takes it along")
    func awaited() async throws {
        let server = try await TestServer.make(.postgreSQL)
        let (added, hasAdded) = AsyncStream.makeStream(of: Void.self)
        let isOver = Flag()
        let adding = Task {
            try await server.database.write { store throws(DatabaseFault) -> Bool in
                guard let shop = try store.applications.application(name: "shop"),
                    try store.applications.hold(application: shop.id)
                else { throw .broken("no application") }
                let account = try store.accounts.makeAccount("zoe", of: shop.id, at: TestTime.start)
                try store.activations.keepActivation(
                    [UInt8](repeating: 1, count: 32), account: account.id, maker: "test",
                    at: TestTime.start, until: TestTime.start + 600)
                hasAdded.yield()
                while !isOver.isUp {
                    if try store.isAwaited { return true }
                }
                return false
            }
        }
        for await _ in added { break }
        let fault = await server.fault("application", "remove", "shop")
        isOver.raise()
        #expect(fault == nil)
        #expect(try await adding.value)
        for table in [
            "SELECT 1 FROM application", "SELECT 1 FROM account", "SELECT 1 FROM activation",
        ] as [StaticString] {
            #expect(try await count(server, table) == 0, "\(table)")
        }
    }

    @Test("is done at once beside many activations of new accounts", arguments: Backend.allCases)
    func activations(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = server.apiKey
        let asked = Task {
            await withTaskGroup(of: Int?.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try? await server.send(
                            "POST", "/v1/activations", ["account": "new\(number)"], key: key
                        ).status
                    }
                }
                return await group.reduce(into: Set<Int>()) { $0.insert($1 ?? 0) }
            }
        }
        // Some are there before, some come after.
        while try await count(server, "SELECT 1 FROM activation") == 0 {}
        try await server.administer("application", "remove", "shop")
        // No one met a fault of the database.
        #expect(await asked.value.isSubset(of: [201, 401]))
        #expect(try await count(server, "SELECT 1 FROM account") == 0)
    }
}
