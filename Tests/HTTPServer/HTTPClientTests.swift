// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import HTTPServer
import Posix
import TestScopes
import TestSupport
import Testing

@Suite("The HTTP client", .serialized, .threadOfItsOwn)
struct HTTPClientTests {
    @Test("trusts the authority that it is given, by bytes or by file, and a pinned key")
    func trust() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        let request = ClientRequest(
            method: "POST", url: "https://127.0.0.1:\(server.port)/t", body: [1, 2, 3])
        var configuration = ClientConfiguration()
        configuration.authorities = .certificates(try identity.scratch.read("server.pem"))
        #expect(try await HTTPClient(configuration).send(request).status == 200)
        configuration.authorities = .file(identity.scratch.at("server.pem"))
        let answer = try HTTPClient(configuration).perform(request)
        #expect(String(decoding: answer.body, as: UTF8.self) == "POST /t [] 3 127.0.0.1")
        #expect(answer.headers.contains { $0.name == "content-type" && $0.value == "text/plain" })
        await server.stop(within: .seconds(1))
    }

    @Test("refuses a server that another authority, or none, vouches for, or with another key")
    func distrust() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        let request = ClientRequest(url: "https://127.0.0.1:\(server.port)/")
        var other = ClientConfiguration()
        other.authorities = .certificates(try identity.scratch.read("other.pem"))
        var pinned = ClientConfiguration()
        pinned.authorities = .certificates(try identity.scratch.read("server.pem"))
        pinned.pinnedKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        var none = ClientConfiguration()
        none.authorities = .file(identity.scratch.at("none.pem"))
        let refusals: [(ClientConfiguration, TLSRefusal)] = [
            (ClientConfiguration(), .unknownAuthority), (other, .unknownAuthority),
            (pinned, .anotherKey), (none, .unusableAuthorities),
        ]
        for (configuration, refusal) in refusals {
            #expect(throws: ClientFault.tlsRefused(refusal)) {
                try HTTPClient(configuration).perform(request)
            }
        }
        await server.stop(within: .seconds(1))
    }

    @Test("refuses a server whose certificate is for another name, or has expired, and says so")
    func wrongCertificate() async throws {
        let identity = try TestIdentity()
        let scratch = identity.scratch
        // Over as soon as it begins: newer versions of OpenSSL make none that ends before.
        let made = try Program(
            Command([
                "openssl", "x509", "-in", scratch.at("server.pem"), "-signkey",
                scratch.at("server.key"), "-days", "0", "-out", scratch.at("expired.pem"),
            ])
        ).expectEnd()
        #expect(made.succeeded, "\(made.errors)")
        for (chain, host, refusal) in [
            ("server", "localhost", TLSRefusal.anotherName), ("expired", "127.0.0.1", .expired),
        ] {
            let server = try HTTPServer(local(identity.pair(chain)), handler: echo)
            var configuration = ClientConfiguration()
            configuration.authorities = .file(scratch.at("\(chain).pem"))
            #expect(throws: ClientFault.tlsRefused(refusal)) {
                try HTTPClient(configuration).perform(
                    ClientRequest(url: "https://\(host):\(server.port)/"))
            }
            await server.stop(within: .seconds(1))
        }
    }

    @Test("connects to the addresses that it is given, and to no others, whatever the host's name")
    func givenAddresses() async throws {
        let here = try #require(InternetAddress("127.0.0.1"))
        let elsewhere = try #require(InternetAddress("127.0.0.9"))
        let server = try HTTPServer(local()) { request in
            HTTPResponse(status: 200, body: [UInt8]((request.header("host") ?? "").utf8))
        }
        let port = server.port
        func ask(_ host: String, _ addresses: [InternetAddress]?) async throws -> String {
            let client = plainClient { $0.addresses = addresses }
            let answer = try await client.send(ClientRequest(url: "http://\(host):\(port)/"))
            return String(decoding: answer.body, as: UTF8.self)
        }
        // The name has no address, or another one.
        for host in ["receiver.invalid", "localhost", "127.0.0.1"] {
            #expect(try await ask(host, [here]) == "\(host):\(port)")
        }
        for host in ["localhost", "127.0.0.1", "receiver.invalid"] {
            let fault = await #expect(throws: ClientFault.self) {
                try await ask(host, [elsewhere])
            }
            #expect(fault?.isSafeToRepeat == true)
        }
        await #expect(
            throws: ClientFault.badRequest("the URL's host cannot be pinned to addresses")
        ) { try await ask("127.0.0.1", []) }
        #expect(try await ask("127.0.0.1", [elsewhere, here]) == "127.0.0.1:\(port)")
        await server.stop(within: .seconds(1))
    }

    @Test("demands a certificate of the host's name, not of the address that it is given")
    func nameOfGivenAddress() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        var configuration = ClientConfiguration()
        configuration.authorities = .certificates(try identity.scratch.read("server.pem"))
        configuration.addresses = [try #require(InternetAddress("127.0.0.1"))]
        let client = HTTPClient(configuration)
        #expect(
            try client.perform(ClientRequest(url: "https://127.0.0.1:\(server.port)/")).status
                == 200)
        #expect(throws: ClientFault.tlsRefused(.anotherName)) {
            try client.perform(ClientRequest(url: "https://receiver.invalid:\(server.port)/"))
        }
        await server.stop(within: .seconds(1))
    }

    @Test("distinguishes a server that is not there from one that does not answer")
    func silence() async throws {
        let gate = HandlerGate()
        let server = try HTTPServer(local()) { request in
            await gate.pass()
            return await echo(request)
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let client = plainClient { $0.totalLimit = .milliseconds(200) }
        let late = await #expect(throws: ClientFault.timedOut(sent: true)) {
            try await client.send(ClientRequest(url: url))
        }
        #expect(late?.isSafeToRepeat == false)
        await gate.open()
        await server.stop(within: .seconds(1))
        // Not the same port: a child that another test just forks may hold its socket for a moment.
        let gone = #expect(throws: ClientFault.self) {
            try plainClient().perform(ClientRequest(url: "http://127.0.0.1:1/"))
        }
        #expect(gone?.isSafeToRepeat == true)
    }

    @Test("refuses answers over its limits, and follows no redirect")
    func limits() async throws {
        let server = try HTTPServer(local()) { request in
            HTTPResponse(
                status: 302,
                headers: [
                    ("Location", "/other"), ("X", String(repeating: "a", count: 500)),
                ], body: [UInt8](repeating: 0, count: 1_000))
        }
        let request = ClientRequest(url: "http://127.0.0.1:\(server.port)/")
        #expect(try plainClient().perform(request).status == 302)
        #expect(throws: ClientFault.tooLarge) {
            try plainClient { $0.bodyLimit = 999 }.perform(request)
        }
        #expect(throws: ClientFault.tooLarge) {
            try plainClient { $0.headerLimit = 400 }.perform(request)
        }
        await server.stop(within: .seconds(1))
    }

    @Test(
        "refuses requests that could be read as others, without telling the values",
        arguments: [
            ClientRequest(url: "http://127.0.0.1/"), ClientRequest(url: "file:///etc/passwd"),
            ClientRequest(url: "https://127.0.0.1/ HTTP/1.1\r\nX: secret"),
            ClientRequest(url: "https://secret:secret@127.0.0.1/"),
            ClientRequest(method: "GET /secret", url: "https://127.0.0.1/"),
            ClientRequest(url: "https://127.0.0.1/", headers: [("X", "secret\r\nY: b")]),
            ClientRequest(url: "https://127.0.0.1/", headers: [("X: secret\n", "b")]),
        ])
    func badRequests(request: ClientRequest) {
        let fault = #expect(throws: ClientFault.self) { try HTTPClient().perform(request) }
        guard case .badRequest(let reason) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(!reason.contains("secret"))
    }
}
