// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("Refused codes that back ends ask about")
struct RefusalShareTests {
    @Test(
        "are all answered, and have a limited number of lines a minute", arguments: Backend.allCases
    )
    func flood(backend: Backend) async throws {
        let server = try await TestServer.make(backend, rate: 5)
        let device = try TestDevice()
        try await server.register(device)
        for round in 0..<30 {
            #expect(try await server.refusal(of: try strange(server, round)) == "refused")
        }
        #expect(try await server.audited("request", "refused") == 5)
        #expect(server.service.refusals.count == 25)
        await server.service.requests.noteUnwrittenRefusals()
        #expect(try await server.audited("request", "refused") == 6)
        #expect(try await lastDetail(server).hasPrefix("and 25 more without a valid proof"))
        // They are told once, and the next minute has lines again.
        await server.service.requests.noteUnwrittenRefusals()
        #expect(try await server.audited("request", "refused") == 6)
        server.time.pass(60)
        for round in 0..<7 {
            #expect(try await server.refusal(of: try strange(server, round)) == "refused")
        }
        await server.service.requests.noteUnwrittenRefusals()
        #expect(try await server.audited("request", "refused") == 12)
        #expect(try await lastDetail(server).hasPrefix("and 2 more without a valid proof"))
        // What is right is never counted.
        let header = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: header) == nil)
    }

    @Test(
        "leave their lines to another application's, and to what a key has signed",
        arguments: Backend.allCases)
    func apart(backend: Backend) async throws {
        let server = try await TestServer.make(backend, rate: 5)
        let device = try TestDevice()
        try await server.register(device)
        let header = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: header) == nil)
        for round in 0..<10 {
            #expect(try await server.refusal(of: try strange(server, round)) == "refused")
        }
        let other = try await server.makeApplication("other")
        for _ in 0..<8 { #expect(try await server.refusal(of: header) == "replayed") }
        #expect(try await server.audited("request", "replayed") == 5)
        #expect(try await server.refusal(of: header, key: other) == "refused")
        #expect(try await server.audited("request", "refused") == 6)
        await server.service.requests.noteUnwrittenRefusals()
        let details = try await details(server)
        #expect(details.contains { $0.hasPrefix("and 5 more without a valid proof") })
        #expect(details.contains { $0.hasPrefix("and 3 more with a registered key's proof") })
    }

    @Test("report an API key that was revoked, also without a line", arguments: Backend.allCases)
    func revoked(backend: Backend) async throws {
        let server = try await TestServer.make(backend, rate: 2)
        for round in 0..<5 {
            #expect(try await server.refusal(of: try strange(server, round)) == "refused")
        }
        try await server.database.write { store throws(DatabaseFault) in
            _ = try store.run("UPDATE api_key SET revoked = 1")
        }
        let reply = try await server.verify(try strange(server, 2))
        #expect(reply.status == 401)
        #expect(reply.code == "api-key-refused")
    }

    @Test("that cannot be read report it too", arguments: Backend.allCases)
    func unread(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        let headers = [
            "Signet x", "SignetMAC x", "Bearer x", "",
            try device.header(text: [UInt8]("no statement".utf8)),
        ]
        for header in headers { #expect(try await server.refusal(of: header) != nil) }
        let key = try #require(try BearerSecret.apiKey.digest(of: [UInt8](server.apiKey.utf8)))
        let known = try #require(server.service.apiKeys.cache.key(of: key))
        try await server.database.write { store throws(DatabaseFault) in
            _ = try store.run("UPDATE api_key SET revoked = 1")
        }
        for header in headers {
            // As it was known before, each time.
            server.service.apiKeys.cache.keep(known, of: key)
            #expect(try await server.verify(header).code == "api-key-refused", "\(header)")
        }
    }

    @Test("are kept counted while the database cannot take them")
    func unwritable() async throws {
        let server = try await TestServer.make(.sqlite, rate: 1)
        for round in 0..<4 {
            #expect(try await server.refusal(of: try strange(server, round)) == "refused")
        }
        let unwritten = server.service.refusals.takeUnwritten()
        #expect(unwritten.map(\.count) == [3])
        #expect(server.service.refusals.takeUnwritten().isEmpty)
        server.service.refusals.putBack(unwritten)
        #expect(server.service.refusals.takeUnwritten().map(\.count) == [3])
    }

    /// A header that no registered key has signed: of an unknown credential, of a registered one with
    /// another's signature, or of an unknown MAC token.
    private func strange(_ server: TestServer, _ round: Int) throws -> String {
        let stranger = try TestDevice()
        switch round % 3 {
        case 0: break
        case 1:
            let known = server.service.publicKeys
            known.keep(
                try P256PublicKey(point: stranger.key.publicPoint),
                as: KeyName(credential: stranger.credential, factor: .fingerprint))
            return try stranger.header(
                try stranger.statement(at: server.time.now), by: try P256PrivateKey.generate())
        default:
            let token = TestMACToken(
                id: try fresh(), secret: try freshBytes(32), audience: stranger.audience)
            return try token.header(at: server.time.now)
        }
        return try stranger.header(try stranger.statement(at: server.time.now))
    }

    private func details(_ server: TestServer) async throws -> [String] {
        try await server.rows("SELECT detail FROM audit WHERE event = 'request' ORDER BY id").map {
            try $0.text(0)
        }
    }

    private func lastDetail(_ server: TestServer) async throws -> String {
        try await details(server).last ?? ""
    }
}
