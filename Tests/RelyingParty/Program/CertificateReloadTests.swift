// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPClient
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A server that is signalled to reload its certificate")
struct CertificateReloadTests {
    /// Asks over a new connection; nil where the certificate is not this authority's.
    private func answer(_ server: ServerProcess, _ authority: TestAuthority) throws -> String? {
        let outcome = try Program(
            Command([
                "curl", "--silent", "--cacert", authority.scratch.at("authority.pem"),
                "https://localhost:\(server.port)/health/ready",
            ])
        ).expectEnd()
        return outcome.succeeded ? outcome.output : nil
    }

    @Test("uses the new one from then on, and keeps serving open connections")
    func reloaded() async throws {
        let home = try ServerHome(.sqlite)
        let (first, second) = (try TestAuthority(home.scratch), try TestAuthority(Scratch()))
        let server = try ServerProcess(
            home, settings: first.settings(), client: first.client)
        // A GET takes the connection that is open, where there is one.
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try answer(server, first) == "ready\n")
        for name in ["server.key", "server.pem"] {
            try home.scratch.write(name, try second.scratch.read(name), mode: 0o600)
        }
        // Nothing is read unasked.
        #expect(try answer(server, first) == "ready\n")
        server.process.signal(SIGHUP)
        try server.process.expectError("the certificate was reloaded")
        #expect(try answer(server, second) == "ready\n")
        #expect(try answer(server, first) == nil)
        // The connection that was open, of a client that would not take the new one.
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try server.stop().ending == .exited(0))
    }

    @Test("keeps the one it has where the new one cannot be used, says why, and takes the next")
    func refused() throws {
        let home = try ServerHome(.sqlite)
        let (first, second) = (try TestAuthority(home.scratch), try TestAuthority(Scratch()))
        let server = try ServerProcess(home, settings: first.settings(), client: first.client)
        func reload(_ name: String, _ bytes: [UInt8], _ mode: UInt32, says reason: String) throws {
            let before = try home.scratch.read(name)
            try home.scratch.write(name, bytes, mode: mode)
            server.process.signal(SIGHUP)
            try server.process.expectError(
                "the certificate could not be reloaded, the old one stays in use: \(reason)")
            #expect(try answer(server, first) == "ready\n")
            try home.scratch.write(name, before, mode: 0o600)
        }
        let bad = "the TLS certificate and key cannot be used"
        try reload("server.pem", Array("nothing".utf8), 0o644, says: bad)
        let old = try first.certificate(from: "20200101000000Z", to: "20210101000000Z")
        try reload(
            "server.pem", old, 0o644,
            says: """
                the certificate \(home.scratch.at("server.pem")) is valid from \
                2020-01-01T00:00:00Z to 2021-01-01T00:00:00Z, not now
                """)
        let path = home.scratch.at("server.key")
        try reload(
            "server.key", try home.scratch.read("server.key"), 0o644,
            says: "\(path) has the unsafe mode 0644")
        for name in ["server.key", "server.pem"] {
            try home.scratch.write(name, try second.scratch.read(name), mode: 0o600)
        }
        server.process.signal(SIGHUP)
        try server.process.expectError("the certificate was reloaded")
        #expect(try answer(server, second) == "ready\n")
        #expect(try server.stop().ending == .exited(0))
    }

    @Test("takes the one that the configuration names at that time")
    func moved() throws {
        let home = try ServerHome(.sqlite)
        let (first, second) = (try TestAuthority(home.scratch), try TestAuthority(Scratch()))
        let server = try ServerProcess(home, settings: first.settings(), client: first.client)
        var text = String(decoding: try home.scratch.read("server1.conf"), as: UTF8.self)
        for name in ["server.pem", "server.key"] {
            text = text.replacing(first.scratch.at(name), with: second.scratch.at(name))
        }
        try home.scratch.write("server1.conf", text)
        server.process.signal(SIGHUP)
        try server.process.expectError("the certificate was reloaded")
        #expect(try answer(server, second) == "ready\n")
        try home.scratch.write("server1.conf", "nothing")
        server.process.signal(SIGHUP)
        try server.process.expectError("the certificate could not be reloaded")
        #expect(try answer(server, second) == "ready\n")
        #expect(try server.stop().ending == .exited(0))
    }

    @Test("continues if it has none")
    func plain() async throws {
        let server = try ServerProcess(try ServerHome(.sqlite))
        server.process.signal(SIGHUP)
        try server.process.expectError("nothing to reload: no certificate is configured")
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try server.stop().ending == .exited(0))
    }
}
