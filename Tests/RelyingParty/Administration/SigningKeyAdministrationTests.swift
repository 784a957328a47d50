// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("Administration of signing keys")
struct SigningKeyAdministrationTests {
    @Test(
        "changes the keys that tokens are signed with; old tokens hold until theirs is retired",
        arguments: Backend.allCases)
    func rotation(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let old = try await server.accessToken(device)
        let first = try #require(try await server.signing())
        #expect(await server.fault("signing-key", "retire", first)?.status == 4)
        try await server.administer("signing-key", "rotate", "token")
        try await server.service.keys.refresh(at: server.time.now)
        // Whoever verifies has the new key before anything is signed with it.
        #expect(try await server.signing() == first)
        #expect(server.service.keys.verifying.count == 2)
        let last = try await server.accessToken(device)
        #expect(header(of: last) == header(of: old))
        server.time.pass(KeyUse.token.leadSeconds)
        try await server.service.keys.refresh(at: server.time.now)
        let new = try await server.accessToken(device)
        #expect(header(of: new) != header(of: old))
        let keys = server.service.keys.verifying
        #expect(throws: Never.self) {
            _ = try JSONWebToken.verify(old, keys: keys)
            _ = try JSONWebToken.verify(new, keys: keys)
        }
        let second = try #require(try await server.signing())
        #expect(first != second)
        try await server.administer("signing-key", "retire", first)
        try await server.service.keys.refresh(at: server.time.now)
        let fewer = server.service.keys.verifying
        #expect(throws: (any Error).self) { _ = try JSONWebToken.verify(old, keys: fewer) }
        #expect(throws: Never.self) { _ = try JSONWebToken.verify(new, keys: fewer) }
        #expect(await server.fault("signing-key", "retire", first)?.status == 3)
        #expect(await server.fault("signing-key", "rotate", "all")?.status == 2)
    }

    @Test("takes a key from a server that runs, within seconds", arguments: Backend.allCases)
    func retiredWhileRunning(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let old = try await server.accessToken(device)
        let first = try #require(try await server.signing())
        let keys = server.service.keys
        let house = Task { await server.service.maintenance.runMaintenance() }
        try await server.administer("signing-key", "rotate", "token")
        try await until { keys.verifying.count == 2 }
        try await server.administer("signing-key", "retire", first)
        try await until { keys.verifying.count == 1 }
        let fewer = keys.verifying
        #expect(fewer.count == 1)
        #expect(throws: (any Error).self) { _ = try JSONWebToken.verify(old, keys: fewer) }
        let new = try await server.accessToken(device)
        #expect(throws: Never.self) { _ = try JSONWebToken.verify(new, keys: fewer) }
        house.cancel()
        await house.value
    }

    @Test(
        "signs with the newest key after its lead, whatever clocks have said",
        arguments: Backend.allCases)
    func rotationByWrongClocks(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let now = server.time.now
        let lead = KeyUse.token.leadSeconds
        var kept: [String] = [try #require(try await server.signing())]
        // A year ahead, and then long ago.
        for clock in [now + 365 * 86_400, 1] {
            let key = try server.service.keys.fresh()
            try await server.database.write { store throws(DatabaseFault) in
                try store.signingKeys.endSigningKey(.token, at: clock)
                _ = try store.signingKeys.keep(key, for: .token, at: clock)
            }
            kept.append(key.id)
            #expect(try await server.signing() == key.id)
        }
        try await server.administer("signing-key", "rotate", "token")
        #expect(try await server.signing() == kept.last)
        server.time.pass(lead)
        let last = try #require(try await server.signing())
        #expect(!kept.contains(last))
    }
}

extension TestServer {
    fileprivate func accessToken(_ device: TestDevice) async throws -> [UInt8] {
        let tokens = try await logIn(device)["tokens"] as? [String: Any]
        return [UInt8]((tokens?["accessToken"] as? String ?? "").utf8)
    }

    /// The id of the key that signs tokens.
    fileprivate func signing() async throws -> String? {
        let now = time.now
        return try await database.read { store throws(DatabaseFault) in
            try store.signingKeys.list(.token).signing(.token, at: now)?.id
        }
    }
}

/// The part of a token that names its key.
private func header(of token: [UInt8]) -> [UInt8] {
    [UInt8](token.prefix { $0 != UInt8(ascii: ".") })
}
