// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import HTTPServer
import Posix
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A neighbour that uses up an address's requests")
struct AvailabilityTests {
    private static let neighbour = "192.0.2.1"

    /// A server of low rates, and a device that is registered there.
    private func site(
        _ backend: Backend = .sqlite, rate: Int = 4
    ) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(backend, rate: rate)
        let device = try TestDevice()
        try await server.register(device)
        return (server, device)
    }

    /// Sends what any anonymous client can, until each kind of call is refused.
    private func useUp(_ server: TestServer) async throws {
        let stranger = try TestDevice(id: 0xee)
        let calls: [() async throws -> Reply] = [
            { try await askForChallenge(server, stranger) },
            {
                try await server.send(
                    "POST", "/v1/registrations",
                    ["code": "00000-00000-00000-00000", "device": hexadecimal(stranger.id)])
            },
            { try await answer(server, stranger, try fresh()) },
            { try await refresh(server, unknownToken) },
        ]
        for call in calls {
            var status = 0
            for _ in 0..<50 where status != 429 { status = try await call().status }
            #expect(status == 429)
        }
    }

    @Test(
        "keeps a registered device from nothing that it can prove", arguments: Backend.allCases)
    func honest(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.makeTemplate()
        let session = try await server.logIn(device)
        let token = try await server.macToken(device)
        let operation = try await server.operation()
        let code = try await server.ask("POST", "/v1/activations", ["account": "bob"])
            .text("code")
        server.time.pass(60)
        try await useUp(server)

        // A login, with the challenge for it.
        let login = try await server.logIn(device)
        #expect(login.status == 200)
        // A refresh, and the end of a session.
        let pair = try #require(session["tokens"] as? [String: Any])
        let refreshed = try await refresh(server, try #require(pair["refreshToken"] as? String))
        #expect(refreshed.status == 200)
        let access = try refreshed.text("accessToken")
        #expect(try await server.send("POST", "/v1/token/revoke", ["token": access]).status == 200)
        #expect(try await server.audited("revocation", "ok") == 1)
        // A request with a MAC, and one with a touch.
        let request = TestRequest(method: "GET", resource: "/v1/device/operations", body: [])
        let byMAC = try token.header(of: request, at: server.time.now)
        #expect(try await send(server, request, byMAC).status == 200)
        let byTouch = try device.header(device.statement(of: request, at: server.time.now))
        #expect(try await send(server, request, byTouch).status == 200)
        // A decision.
        let shown = try await server.detail(operation, for: device)
        let decision = try device.signed(
            device.decision(of: shown, at: server.time.now).encoded(), .operation)
        #expect(try await server.decide(operation, decision).status == 200)
        // A MAC token, and its end.
        let another = try await server.macToken(device, name: "backup")
        let end = TestRequest(
            method: "POST", resource: "/v1/device/mac-tokens/\(another.id.text)/revoke",
            body: [UInt8]("{}".utf8))
        #expect(
            try await send(server, end, try another.header(of: end, at: server.time.now)).status
                == 204)
        // A registration, from its code on.
        let bob = try TestDevice(id: 0xb0)
        bob.account = "bob"
        let begun = try await server.send(
            "POST", "/v1/registrations", ["code": code, "device": hexadecimal(bob.id)])
        #expect(begun.status == 201)
        bob.registration = try begun.text("registration")
        #expect(try await server.prove(bob, begun).status == 200)
        // And that a device gives up its registration.
        let removal = device.answer(
            try await server.challenge(device, "remove"), "remove", at: server.time.now)
        let gone = try await server.send(
            "POST", "/v1/registrations/\(device.registration)/disable",
            try device.signed(removal.encoded(), .login))
        #expect(gone.status == 200)
    }

    @Test("gets no wrong proof checked, and none of it is recorded")
    func wrong() async throws {
        let (server, device) = try await site()
        let token = try await server.macToken(device)
        try await server.makeTemplate()
        let operation = try await server.operation()
        let shown = try await server.detail(operation, for: device)
        let used = try await server.challenge(device)
        #expect(try await answer(server, device, used).status == 200)
        server.time.pass(60)
        let begun = try await server.begin(try TestDevice(id: 0xb0))
        let live = try await server.challenge(device)
        try await useUp(server)

        let other = try P256PrivateKey.generate()
        let request = TestRequest(method: "GET", resource: "/v1/device/operations", body: [])
        let now = server.time.now
        var wrongMAC = token
        wrongMAC.secret[0] ^= 1
        let elsewhere = TestRequest(method: "GET", resource: "/v1/device/others", body: [])
        let header = try device.header(device.statement(of: request, at: now))
        #expect(try await send(server, request, header).status == 200)
        let wrongCode = try device.header(device.statement(of: request, at: now), by: other)
        let stale = try device.header(device.statement(of: request, at: now - 31))
        let misdirected = try device.header(device.statement(of: elsewhere, at: now))
        let unknownMAC = TestMACToken(
            id: try fresh(), secret: token.secret, audience: token.audience)
        let stranger = try TestDevice(id: 0xee)
        stranger.registration = try begun.text("registration")
        let lines = try await server.rows("SELECT id FROM audit").count
        let replies = [
            // Answers: of another key, to a used challenge, to an unknown one, for another action.
            try await answer(server, device, live, by: other),
            try await answer(server, device, used),
            try await answer(server, device, try fresh()),
            try await answer(server, device, live, action: "remove"),
            try await answer(server, stranger, live),
            // Tokens.
            try await refresh(server, unknownToken),
            try await server.send("POST", "/v1/token/revoke", ["token": unknownToken]),
            // Codes: replayed, of another key, stale, of another request, with a wrong MAC, ….
            try await send(server, request, header),
            try await send(server, request, wrongCode),
            try await send(server, request, stale),
            try await send(server, request, misdirected),
            try await send(server, request, try wrongMAC.header(of: request, at: now)),
            try await send(server, request, try unknownMAC.header(of: request, at: now)),
            try await send(server, request, "Signet x"),
            // A decision of another key.
            try await server.decide(
                operation,
                try device.signed(
                    device.decision(of: shown, at: now).encoded(), .operation, by: other)),
            // A registration that was begun, with another's device; and one that was not.
            try await server.prove(stranger, begun),
            // Challenges for an unknown device, account and application.
            try await askForChallenge(server, stranger),
            try await askForChallenge(server, device, account: "bob"),
            try await askForChallenge(server, device, application: "none"),
        ]
        for (place, reply) in replies.enumerated() {
            #expect(reply.status == 429, "\(place)")
            #expect(reply.code == "slow-down")
            #expect(reply.header("Retry-After") != nil)
        }
        #expect(try await server.rows("SELECT id FROM audit").count == lines)
        // None of it used up what it named.
        #expect(try await answer(server, device, live).status == 200)
        #expect(
            try await server.decide(
                operation,
                try device.signed(device.decision(of: shown, at: now).encoded(), .operation)
            ).status == 200)
    }

    @Test("can use up something at each call that checks a proof, and at no other")
    func rows() {
        for route in Routes.all {
            let isForStrangers =
                switch route.caller {
                case .anybody: route.method == "POST"
                case .device, .leavingDevice: true
                case .application, .rememberedApplication: false
                }
            #expect((route.limit != nil) == isForStrangers, "\(route.pattern)")
        }
    }

    @Test("of one kind of call takes nothing from the other kinds")
    func kinds() async throws {
        let (server, device) = try await site()
        let stranger = try TestDevice(id: 0xee)
        for _ in 0..<5 { _ = try await askForChallenge(server, stranger) }
        #expect(try await askForChallenge(server, stranger).status == 429)
        #expect(try await refresh(server, unknownToken).code == "token-refused")
        #expect(try await answer(server, device, try fresh()).code == "refused")
        for _ in 0..<5 { _ = try await refresh(server, unknownToken) }
        #expect(try await refresh(server, unknownToken).status == 429)
        #expect(try await answer(server, device, try fresh()).code == "refused")
        #expect(
            try await server.send(
                "POST", "/v1/registrations",
                ["code": "00000-00000-00000-00000", "device": hexadecimal(device.id)]
            ).code == "activation-refused")
    }

    @Test("leaves a device its reserve of challenges, which only that device can use up")
    func reserve() async throws {
        let (server, device) = try await site()
        let second = try TestDevice(id: 0xd2)
        second.account = "bob"
        try await server.register(second)
        server.time.pass(60)
        try await useUp(server)
        for _ in 0..<CallLimits.itemPerMinute {
            #expect(try await askForChallenge(server, device).status == 200)
        }
        let refused = try await askForChallenge(server, device)
        #expect(refused.code == "slow-down")
        #expect(refused.header("Retry-After") == "7")
        // Another device has a reserve of its own, and its ids do not help a third.
        #expect(try await askForChallenge(server, second).status == 200)
        #expect(try await askForChallenge(server, second, account: "alice").status == 429)
        // Blocked, it has none.
        #expect(
            try await server.ask(
                "POST", "/v1/registrations/\(second.registration)/block", [:]
            ).status == 200)
        #expect(try await askForChallenge(server, second).status == 429)
        // From another network nothing is used up.
        #expect(try await askForChallenge(server, device, from: "192.0.2.2").status == 200)
        server.time.pass(7)
        #expect(try await askForChallenge(server, device).status == 200)
    }

    @Test("and writes few lines a minute with valid signatures on refused requests")
    func refusedItems() async throws {
        let (server, device) = try await site()
        let request = TestRequest(method: "GET", resource: "/v1/device/operations", body: [])
        let statement = try device.statement(of: request, at: server.time.now)
        let header = try device.header(statement)
        #expect(try await send(server, request, header).status == 200)
        server.time.pass(60)
        try await useUp(server)
        device.factor = "possession"
        let before = try await server.rows("SELECT id FROM audit").count
        var codes: [String: Int] = [:]
        for _ in 0..<30 {
            let code = try device.header(device.statement(of: request, at: server.time.now))
            codes[try await send(server, request, code).code ?? "", default: 0] += 1
        }
        #expect(codes == ["policy": 10, "slow-down": 20])
        #expect(try await server.rows("SELECT id FROM audit").count == before + 10)
    }

    @Test(
        "cannot have a right answer used twice, also by many at once", arguments: Backend.allCases)
    func parallel(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        server.time.pass(60)
        let challenge = try await server.challenge(device)
        try await useUp(server)
        let body = try device.signed(
            device.answer(challenge, "login", at: server.time.now).encoded(), .login)
        let before = try await server.rows("SELECT id FROM audit").count
        let data = try JSONSerialization.data(withJSONObject: body)
        let replies = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await server.answer(
                        HTTPRequest(
                            method: "POST", path: "/v1/login",
                            headers: [("content-type", "application/json")], body: [UInt8](data),
                            peer: Self.neighbour)
                    ).status
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(replies[200] == 1)
        #expect(replies[401, default: 0] <= CallLimits.itemPerMinute)
        #expect(replies[429, default: 0] >= 199 - CallLimits.itemPerMinute)
        let lines = try await server.rows("SELECT id FROM audit").count - before
        #expect(lines == 200 - replies[429, default: 0])
    }

    @Test("ends a session whose refresh token comes a second time, whatever is used up")
    func reuse() async throws {
        let (server, device) = try await site()
        let pair = try #require(try await server.logIn(device)["tokens"] as? [String: Any])
        let token = try #require(pair["refreshToken"] as? String)
        let next = try await refresh(server, token)
        server.time.pass(60)
        try await useUp(server)
        #expect(try await refresh(server, token).code == "token-refused")
        #expect(
            try await refresh(server, try next.text("refreshToken")).code == "token-refused")
        #expect(
            try await server.rows("SELECT id FROM token_session WHERE reason = 'reuse'").count
                == 1)
    }

    @Test("is counted by 64 and 48 bits of IPv6, and by the networks that are configured")
    func networks() async throws {
        let rates = NetworkRates(
            standard: 2,
            exceptions: [
                NetworkRates.Exception(try NetworkPrefix("198.51.100.0/24"), perMinute: 5),
                NetworkRates.Exception(try NetworkPrefix("198.51.100.7/32"), perMinute: 1),
                NetworkRates.Exception(try NetworkPrefix("2001:db8:5::/56"), perMinute: 30),
            ])
        let server = try await TestServer.make(.sqlite, rates: rates)
        let stranger = try TestDevice(id: 0xee)
        func admitted(_ address: (Int) -> String) async throws -> Int {
            var count = 0
            for number in 0..<40 {
                let reply = try await askForChallenge(server, stranger, from: address(number))
                if reply.status == 200 { count += 1 }
            }
            return count
        }
        #expect(try await admitted { _ in "192.0.2.1" } == 2)
        #expect(try await admitted { _ in "192.0.2.2" } == 2)
        // One /64, and the whole /48 around it.
        #expect(try await admitted { "2001:db8:1:2::\($0)" } == 2)
        #expect(try await admitted { "2001:db8:1:\($0 + 16)::1" } == 6)
        #expect(try await admitted { _ in "2001:db8:2::1" } == 2)
        // The longest prefix decides, and each address has a bucket.
        #expect(try await admitted { _ in "198.51.100.1" } == 5)
        #expect(try await admitted { _ in "198.51.100.2" } == 5)
        #expect(try await admitted { _ in "198.51.100.7" } == 1)
        // A longer prefix than /48 is not limited by the /48, and takes nothing from it.
        #expect(try await admitted { _ in "2001:db8:5:1::1" } == 30)
        #expect(try await admitted { "2001:db8:5:\(String($0 + 0x1000, radix: 16))::1" } == 8)
    }
}

private let unknownToken = "sgr_" + String(repeating: "A", count: 43)

private func refresh(_ server: TestServer, _ token: String) async throws -> Reply {
    try await server.send("POST", "/v1/token/refresh", ["refreshToken": token])
}

private func askForChallenge(
    _ server: TestServer, _ device: TestDevice, account: String? = nil,
    application: String = "shop", from peer: String = "192.0.2.1"
) async throws -> Reply {
    try await server.send(
        "POST", "/v1/login/challenge",
        [
            "application": application, "account": account ?? device.account,
            "device": hexadecimal(device.id),
        ], from: peer)
}

/// Answers a challenge as a login.
private func answer(
    _ server: TestServer, _ device: TestDevice, _ challenge: Challenge, action: String = "login",
    by other: P256PrivateKey? = nil
) async throws -> Reply {
    let statement = device.answer(challenge, action, at: server.time.now)
    return try await server.send(
        "POST", "/v1/login", try device.signed(statement.encoded(), .login, by: other))
}

/// Sends a device's own call.
private func send(
    _ server: TestServer, _ request: TestRequest, _ header: String
) async throws -> Reply {
    var headers = [(name: "authorization", value: header)]
    if request.method == "POST" { headers.append(("content-type", "application/json")) }
    return await server.answer(
        HTTPRequest(
            method: request.method, path: request.resource, headers: headers, body: request.body,
            peer: "192.0.2.1"))
}
