// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPClient
import HTTPServer
import Posix
import TestScopes
import TestSupport
import Testing

@Suite("The HTTP server refuses", .serialized, .threadOfItsOwn)
struct ServerRefusalTests {
    @Test(
        "a request that can be read in two ways",
        arguments: [
            "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /%c3 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1}b\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n",
        ])
    func malformed(request: String) async throws {
        let server = try HTTPServer(local(), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
        await server.stop(within: .seconds(1))
    }

    @Test("a body over its route's limit, before it is read")
    func tooLarge() async throws {
        var configuration = local()
        configuration.bodyLimit = { method, path in method == "POST" && path == "/big" ? 100 : 4 }
        let server = try HTTPServer(configuration, handler: echo)
        let post = "POST /small HTTP/1.1\r\nHost: a\r\n"
        let early = try #require(
            try exchange(server.port, post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"))
        #expect(early.hasPrefix("HTTP/1.1 413 "))
        let huge = try #require(
            try exchange(server.port, post + "Content-Length: 99999999999999999999\r\n\r\n"))
        // libmicrohttpd 1.0.10 calls such a number malformed.
        #expect(huge.contains(#/^HTTP\/1.1 (413|400) /#))
        let answer = try plainClient().perform(
            ClientRequest(
                method: "POST", url: "http://127.0.0.1:\(server.port)/big",
                body: [UInt8](repeating: 0, count: 100)))
        #expect(answer.status == 200)
        await server.stop(within: .seconds(1))
    }

    @Test("in the words of its configuration, of what it knows of the request")
    func hook() async throws {
        let lines = Lines()
        var configuration = local()
        configuration.bodyLimit = { _, _ in 4 }
        configuration.refusal = { status, request in
            lines.add("\(status) \(request.method) \(request.path) \(request.peer)")
            return HTTPResponse(
                status: status, headers: [("X-Id", "7")], body: Array("refused: \(status)".utf8))
        }
        let server = try HTTPServer(configuration, handler: echo)
        let requests = [
            ("POST /a?b HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789", 413),
            ("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n", 413),
            (
                "POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
                413
            ),
            ("GET /d HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("POST /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ]
        for (request, status) in requests {
            let answer = try #require(try exchange(server.port, request))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)")
            #expect(answer.contains("X-Id: 7") && answer.hasSuffix("refused: \(status)"))
        }
        // libmicrohttpd 1.0.10 refuses two hosts before it tells of the request.
        let hosts = lines.all.contains("400 GET /d 127.0.0.1") ? "400 GET /d" : "400  "
        #expect(
            lines.all == [
                "413 POST /a 127.0.0.1", "413 POST /b 127.0.0.1", "413 POST /c 127.0.0.1",
                "\(hosts) 127.0.0.1", "400   127.0.0.1", "411 POST /e 127.0.0.1",
            ])
        await server.stop(within: .seconds(1))
    }

    @Test("headers over the memory of a connection")
    func longHeaders() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let long = String(repeating: "a", count: 20_000)
        let header = try #require(
            try exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n"))
        #expect(header.isEmpty || header.hasPrefix("HTTP/1.1 431 "))
        let target = try #require(
            try exchange(server.port, "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(target.isEmpty || target.hasPrefix("HTTP/1.1 414 "))
        await server.stop(within: .seconds(1))
    }

    @Test("to send a header that could begin another, or is its own")
    func injection() async throws {
        let bad: [(String, String)] = [
            ("X", "a\r\nSet-Cookie: b"), ("X", "a\nb"), ("X", "a\0b"), ("X\r\nY", "a"), ("", "a"),
            ("Content-Length", "3"), ("transfer-encoding", "chunked"), ("Connection", "upgrade"),
        ]
        let lines = Lines()
        var configuration = local()
        configuration.log = { lines.add($0) }
        let server = try HTTPServer(configuration) { request in
            let index = Int(request.path.dropFirst()) ?? 0
            return HTTPResponse(status: 200, headers: [bad[index]], body: Array("body".utf8))
        }
        for index in bad.indices {
            let answer = try #require(
                try exchange(server.port, "GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n"))
            #expect(answer.hasPrefix("HTTP/1.1 500 ") && !answer.contains("Set-Cookie"))
        }
        #expect(lines.all.count == bad.count)
        await server.stop(within: .seconds(1))
    }

    @Test("clients that send a byte now and then without end")
    func slowClient() async throws {
        var configuration = local()
        configuration.idleTimeout = .seconds(30)
        configuration.requestLimit = .seconds(1)
        let server = try HTTPServer(configuration, handler: echo)
        let connection = try RawConnection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        let began = ContinuousClock.now
        var sent = 0
        while connection.send("a"), ContinuousClock.now - began < .seconds(60) {
            sent += 1
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(ContinuousClock.now - began < .seconds(60), "\(sent) bytes")
        await server.stop(within: .seconds(1))
    }

    @Test("to keep a connection on which nothing moves")
    func idleClient() async throws {
        var configuration = local()
        configuration.idleTimeout = .seconds(1)
        let server = try HTTPServer(configuration, handler: echo)
        #expect(try exchange(server.port, "") == "")
        await server.stop(within: .seconds(1))
    }

    @Test("to start on a port that is taken, and at an address that is not numeric")
    func port() async throws {
        let server = try HTTPServer(local(), handler: echo)
        var configuration = local()
        configuration.place = .address("127.0.0.1", port: server.port)
        #expect(throws: ServerFault.portTaken(address: "127.0.0.1", port: server.port)) {
            try HTTPServer(configuration, handler: echo)
        }
        configuration.place = .address("localhost", port: 0)
        #expect(throws: ServerFault.badAddress("localhost")) {
            try HTTPServer(configuration, handler: echo)
        }
        configuration.place = .listening(descriptor: 9_999)
        #expect(throws: ServerFault.notListening(descriptor: 9_999)) {
            try HTTPServer(configuration, handler: echo)
        }
        await server.stop(within: .seconds(1))
    }

    @Test("to start with an invalid certificate, or another key's, without revealing the key")
    func badIdentity() throws {
        let identity = try TestIdentity()
        let garbage = ServerConfiguration.Identity(
            chain: Array("no certificate".utf8), key: try identity.pair().key)
        for bad in [garbage, try identity.pair("server", "other")] {
            let fault = #expect(throws: ServerFault.self) {
                try HTTPServer(local(bad), handler: echo)
            }
            guard case .identity(let reason) = fault else {
                Issue.record("\(String(describing: fault))")
                continue
            }
            #expect(!reason.isEmpty && !reason.contains("PRIVATE"))
        }
    }

    @Test("to repeat in the log what clients sent")
    func quietLog() async throws {
        let lines = Lines()
        var configuration = local()
        configuration.log = { lines.add($0) }
        let server = try HTTPServer(configuration, handler: echo)
        _ = try exchange(server.port, "secret-token\r\nsecret-token: \r\n\r\n")
        _ = try exchange(server.port, "GET /?secret-token HTTP/1.1\r\nsecret-token\r\n\r\n")
        #expect(!lines.all.contains { $0.contains("secret") })
        await server.stop(within: .seconds(1))
    }
}
