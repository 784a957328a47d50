// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import HTTPServer
import Synchronization
import TestScopes
import TestSupport
import Testing

@Suite("The HTTP server", .serialized, .threadOfItsOwn)
struct HTTPServerTests {
    @Test("gives method, path, query, body and peer to the handler as they were sent")
    func answers() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let outcome = try Program(
            Command([
                "curl", "-s", "-S", "-i", "--path-as-is", "--data-binary", "12345",
                "http://127.0.0.1:\(server.port)/a/../b%2Fc?x=%41&y=&z",
            ])
        ).expectEnd()
        #expect(outcome.output.hasSuffix("POST /a/../b%2Fc [x=A;y=;z=] 5 127.0.0.1"))
        #expect(outcome.output.contains("Date: "))
        #expect(!outcome.output.lowercased().contains("server"))
        #expect(!outcome.output.lowercased().contains("microhttpd"))
        await server.stop(within: .seconds(1))
    }

    @Test("has room for the longest header that a device signs, beside a proxy's own")
    func longestHeader() async throws {
        let server = try HTTPServer(local()) { request in
            let value = request.header("authorization") ?? ""
            return HTTPResponse(status: 200, body: Array("\(value.utf8.count)".utf8))
        }
        // SignetAuthorization.maximumLength
        let signed = String(repeating: "A", count: 4_096)
        let others = (1...12).map { "X-Header-\($0): \(String(repeating: "b", count: 100))\r\n" }
        let target = "/v1/device/operations/" + String(repeating: "0", count: 32)
        let answer = try #require(
            try exchange(
                server.port,
                "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: \(signed)\r\n"
                    + others.joined() + "Connection: close\r\n\r\n"))
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\n4096"))
        await server.stop(within: .seconds(1))
    }

    @Test("answers requests on one connection in their order, pipelined or one by one")
    func pipelining() async throws {
        let server = try HTTPServer(local()) { request in
            if request.path == "/1" { await Task.yield() }
            return await echo(request)
        }
        do {
            let connection = try RawConnection(port: server.port)
            connection.send((1...3).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            let text = connection.receive(until: "GET /3 [] 0 127.0.0.1")
            let first = try #require(text.firstRange(of: "GET /1 "))
            let second = try #require(text.firstRange(of: "GET /2 "))
            #expect(first.lowerBound < second.lowerBound)
            connection.send("GET /4 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(connection.receive(until: "GET /4 ").contains("200 OK"))
        }
        await server.stop(within: .seconds(1))
    }

    @Test("gives any method to the handler, and sends no body to HEAD")
    func methods() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let end = "Host: a\r\nConnection: close\r\n\r\n"
        let head = try #require(try exchange(server.port, "HEAD /h HTTP/1.1\r\n\(end)"))
        #expect(head.contains("Content-Length: 22") && head.hasSuffix("\r\n\r\n"))
        let brew = try #require(try exchange(server.port, "BREW /pot HTTP/1.1\r\n\(end)"))
        #expect(brew.hasSuffix("BREW /pot [] 0 127.0.0.1"))
        await server.stop(within: .seconds(1))
    }

    @Test("takes a body that comes in parts, and one that waits for 100 Continue")
    func bodies() async throws {
        let server = try HTTPServer(local(), handler: echo)
        do {
            let connection = try RawConnection(port: server.port)
            connection.send("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc")
            connection.send("de")
            #expect(connection.receive(until: "[] 5 127").contains("POST /c [] 5 127"))
        }
        do {
            let connection = try RawConnection(port: server.port)
            connection.send(
                "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(connection.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue"))
            connection.send("hi")
            #expect(connection.receive(until: "[] 2 127").contains("POST /e [] 2 127"))
        }
        await server.stop(within: .seconds(1))
    }

    @Test("serves TLS 1.2 and 1.3, and nothing older")
    func versions() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        for (option, succeeds) in [("-tls1_3", true), ("-tls1_2", true), ("-tls1_1", false)] {
            let outcome = try Program(
                Command([
                    "openssl", "s_client", option, "-cipher", "DEFAULT@SECLEVEL=0", "-CAfile",
                    identity.scratch.at("server.pem"), "-verify_return_error", "-connect",
                    "127.0.0.1:\(server.port)",
                ]), input: "Q\n"
            ).expectEnd()
            #expect(outcome.succeeded == succeeds, "\(option): \(outcome.errors.prefix(300))")
        }
        let outcome = try Program(
            Command([
                "curl", "-s", "-S", "--cacert", identity.scratch.at("server.pem"),
                "https://127.0.0.1:\(server.port)/tls",
            ])
        ).expectEnd()
        #expect(outcome.output == "GET /tls [] 0 127.0.0.1")
        await server.stop(within: .seconds(1))
    }

    @Test("finishes what is under way before it stops, and takes nothing new")
    func gracefulStop() async throws {
        let gate = HandlerGate()
        let server = try HTTPServer(local()) { request in
            await gate.pass()
            return await echo(request)
        }
        let port = server.port
        async let answer = plainClient().send(ClientRequest(url: "http://127.0.0.1:\(port)/"))
        await gate.arrival()
        async let stopped: Void = server.stop(within: .seconds(10))
        await gate.open()
        #expect(try await answer.status == 200)
        await stopped
        #expect(throws: ClientFault.self) {
            try plainClient().perform(ClientRequest(url: "http://127.0.0.1:\(port)/"))
        }
    }

    @Test("answers 503 for a handler that outlasts the stop, and drops its late answer")
    func hardStop() async throws {
        let gate = HandlerGate()
        let server = try HTTPServer(local()) { request in
            await gate.pass()
            return await echo(request)
        }
        let port = server.port
        async let answer = plainClient().send(ClientRequest(url: "http://127.0.0.1:\(port)/"))
        await gate.arrival()
        await server.stop(within: .milliseconds(10))
        #expect(try await answer.status == 503)
        await gate.open()
    }

    @Test("stops at once where it may wait for nothing, whatever runs")
    func immediateStop() async throws {
        for _ in 0..<20 {
            let gate = HandlerGate()
            let server = try HTTPServer(local()) { request in
                await gate.pass()
                return await echo(request)
            }
            let connection = try RawConnection(port: server.port)
            connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrival()
            // It would never end if the limit passed before the wait for the handler began.
            await server.stop(within: .zero)
            await gate.open()
        }
    }

    @Test("stops at any moment, also while handlers answer on other threads")
    func stopWhileAnswering() async throws {
        for round in 0..<150 {
            let answered = Atomic<Int>(0)
            let server = try HTTPServer(local()) { _ in
                // Off the connection's thread, and done at any moment.
                for _ in 0..<3 { await Task.yield() }
                answered.add(1, ordering: .relaxed)
                return HTTPResponse(status: 204)
            }
            let requests = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 30)
            let first = try RawConnection(port: server.port)
            let second = try RawConnection(port: server.port)
            let third = try RawConnection(port: server.port)
            for _ in 0..<2 {
                first.send(requests)
                second.send(requests)
                third.send(requests)
            }
            while answered.load(ordering: .relaxed) < round % 60 { await Task.yield() }
            await server.stop(within: .zero)
            #expect(server.connectionFigures.open == 0)
        }
    }

    @Test("outlives clients that go while the handler runs")
    func goneClient() async throws {
        let gate = HandlerGate()
        let server = try HTTPServer(local()) { request in
            if request.path == "/wait" { await gate.pass() }
            return await echo(request)
        }
        do {
            let connection = try RawConnection(port: server.port)
            connection.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrival()
        }
        await gate.open()
        let again = try plainClient().perform(
            ClientRequest(url: "http://127.0.0.1:\(server.port)/again"))
        #expect(again.status == 200)
        await server.stop(within: .seconds(1))
        #expect(server.connectionFigures.open == 0)
    }
}
