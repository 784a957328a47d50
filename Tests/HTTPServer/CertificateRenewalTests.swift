// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import HTTPServer
import Posix
import TestScopes
import TestSupport
import Testing

@Suite("A server whose certificate is renewed", .threadOfItsOwn)
struct CertificateRenewalTests {
    private func client(_ identity: TestIdentity, _ name: String) throws -> HTTPClient {
        var configuration = ClientConfiguration()
        configuration.authorities = .certificates(try identity.scratch.read("\(name).pem"))
        return HTTPClient(configuration)
    }

    /// What a new connection is proven by, `server` or `other`.
    private func proven(_ server: HTTPServer, _ identity: TestIdentity) throws -> [String] {
        try ["server", "other"].filter { name in
            for version in ["--tlsv1.3", "--tls-max"] {
                let words = version == "--tls-max" ? [version, "1.2"] : [version]
                let outcome = try Program(
                    Command(
                        ["curl", "-s", "--cacert", identity.scratch.at("\(name).pem")] + words
                            + ["https://127.0.0.1:\(server.port)/x"])
                ).expectEnd()
                // 60: the peer's certificate cannot be authenticated.
                guard outcome.succeeded else {
                    #expect(outcome.ending == .exited(60))
                    return false
                }
            }
            return true
        }
    }

    @Test("uses the new one for new connections, and open ones continue")
    func renewed() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        let url = "https://127.0.0.1:\(server.port)/open"
        let open = try client(identity, "server")
        #expect(try await open.send(ClientRequest(method: "GET", url: url)).status == 200)
        #expect(try proven(server, identity) == ["server"])
        try server.renew(identity.pair("other", "other"))
        #expect(try proven(server, identity) == ["other"])
        // It would not trust another connection.
        #expect(try await open.send(ClientRequest(method: "GET", url: url)).status == 200)
        let stranger = try client(identity, "server")
        await #expect(throws: ClientFault.self) {
            try await stranger.send(ClientRequest(method: "GET", url: url))
        }
        try server.renew(identity.pair())
        try server.renew(identity.pair())
        #expect(try proven(server, identity) == ["server"])
        await server.stop(within: .seconds(1))
    }

    @Test("keeps the old one if the new one is invalid, or belongs to another key")
    func refused() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        let garbage = ServerConfiguration.Identity(
            chain: Array("no certificate".utf8), key: try identity.pair().key)
        let empty = ServerConfiguration.Identity(chain: [], key: try identity.pair().key)
        var bytes = Array("no key".utf8)
        let keyless = ServerConfiguration.Identity(
            chain: try identity.pair().chain, key: try SecretBytes(moving: &bytes))
        for bad in [garbage, empty, keyless, try identity.pair("other", "server")] {
            let fault = #expect(throws: ServerFault.self) { try server.renew(bad) }
            guard case .identity = fault else {
                Issue.record("\(String(describing: fault))")
                continue
            }
            #expect(try proven(server, identity) == ["server"])
        }
        await server.stop(within: .seconds(1))
        let plain = try HTTPServer(local(), handler: echo)
        #expect(throws: ServerFault.self) { try plain.renew(identity.pair()) }
        await plain.stop(within: .seconds(1))
    }

    @Test("neither starts with one that may not sign nor loads it: TLS 1.3 would fail")
    func unsigning() async throws {
        let identity = try TestIdentity()
        let made = try Program(
            Command([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
                "keyUsage=critical,keyEncipherment", "-keyout", identity.scratch.at("bad.key"),
                "-out", identity.scratch.at("bad.pem"),
            ])
        ).expectEnd()
        #expect(made.succeeded)
        let bad = try identity.pair("bad", "bad")
        let expected = ServerFault.identity(
            "the certificate's key usage lacks digitalSignature: get one that includes it")
        #expect(throws: expected) { try HTTPServer(local(bad), handler: echo) }
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        #expect(throws: expected) { try server.renew(bad) }
        #expect(try proven(server, identity) == ["server"])
        await server.stop(within: .seconds(1))
    }

    @Test("loses no request of those that come while it is renewed again and again")
    func underLoad() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        let url = "https://127.0.0.1:\(server.port)/load"
        var both = ClientConfiguration()
        both.authorities = .certificates(
            try identity.scratch.read("server.pem") + identity.scratch.read("other.pem"))
        let configuration = both
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var answered = 0
                    for _ in 0..<25 {
                        // Each has a connection of its own.
                        let answer = try await HTTPClient(configuration).send(
                            ClientRequest(method: "GET", url: url))
                        answered += answer.status == 200 ? 1 : 0
                    }
                    return answered
                }
            }
            for name in ["other", "server", "other", "server", "other"] {
                try server.renew(identity.pair(name, name))
                await Task.yield()
            }
            #expect(try await group.reduce(0, +) == 100)
        }
        await server.stop(within: .seconds(1))
    }
}
