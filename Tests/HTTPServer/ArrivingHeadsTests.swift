// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import TestScopes
import TestSupport
import Testing

@Suite("A request that the library refuses", .threadOfItsOwn)
struct ArrivingHeadsTests {
    /// Complete heads that libmicrohttpd 0.9.75 answers twice, with the status of its answer; where
    /// there are two, 1.0.10 gives the second.
    static let heads: [(String, Set<Int>)] = [
        ("GET / HTTP/1.1\r\n\r\n", [400]),
        ("GET / HTTP/1.1\r\nX: y\r\n\r\n", [400]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n\r\n", [400]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", [400]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\nab", [400]),
        ("POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\nab", [400]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", [413, 400]),
        ("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n", [431]),
        ("GET / HTTP/1.1\r\nCookie: \(cookies)\r\n\r\n", [431]),
    ]
    private static let cookies = (0..<900).map { "a\($0)=b" }.joined(separator: "; ")

    private static func configuration(
        _ lines: Lines = Lines(), identity: ServerConfiguration.Identity? = nil
    ) -> ServerConfiguration {
        var configuration = local(identity)
        // All connections are on one thread, which is the hardest case.
        configuration.threads = 1
        configuration.refusal = { status, request in
            lines.add("\(status) \(request.target) \(request.peer)")
            return HTTPResponse(
                status: status, headers: [("X-Id", "7")], body: Array("refused: \(status)".utf8))
        }
        return configuration
    }

    /// Returns the status of the answer, which must be one of `statuses`.
    @discardableResult
    private func expectOneAnswer(
        _ answer: String, status statuses: Set<Int>, to request: String
    ) throws -> Int {
        let status = try #require(
            statuses.first { answer.hasPrefix("HTTP/1.1 \($0) ") }, "\(request): \(answer)")
        #expect(answer.ranges(of: "HTTP/1.").count == 1, "\(answer)")
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("\r\nX-Id: 7\r\n"))
        #expect(answer.contains("\r\nContent-Length: 12\r\n"))
        #expect(answer.contains(#/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/#))
        #expect(answer.hasSuffix("\r\n\r\nrefused: \(status)"))
        return status
    }

    @Test("gets one answer, in the words of the configuration", arguments: heads)
    func plain(request: String, statuses: Set<Int>) async throws {
        let lines = Lines()
        let server = try HTTPServer(Self.configuration(lines), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        let status = try expectOneAnswer(answer, status: statuses, to: request)
        #expect(lines.all == ["\(status) / 127.0.0.1"])
        await server.stop(within: .seconds(1))
    }

    @Test("gets one answer over TLS", arguments: heads)
    func secure(request: String, statuses: Set<Int>) async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(
            Self.configuration(identity: identity.pair()), handler: echo)
        let answer = try secureExchange(server.port, identity, request)
        try expectOneAnswer(answer, status: statuses, to: request)
        await server.stop(within: .seconds(1))
    }

    @Test("gets one answer if other heads arrive at the same time, and these are served")
    func others() async throws {
        let server = try HTTPServer(Self.configuration(), handler: echo)
        let before = try RawConnection(port: server.port)
        before.send("GET /before HTTP/1.1\r\nHost: a\r\n")
        let refused = try RawConnection(port: server.port)
        refused.send("POST / HTTP/1.1\r\nHost: a\r\n")
        let after = try RawConnection(port: server.port)
        after.send("GET /after HTTP/1.1\r\nHost: a\r\n")
        // A request that is answered shows that the thread has read what was sent before.
        #expect(try exchange(server.port, "GET / HTTP/1.0\r\n\r\n")?.contains(" 200 ") == true)
        refused.send("Content-Length: x\r\n\r\n")
        let answer = refused.receiveAll() ?? "the connection stays open"
        try expectOneAnswer(answer, status: [400], to: "in the middle")
        before.send("\r\n")
        #expect(before.receive(until: "[] 0").contains("GET /before [] 0"))
        after.send("\r\n")
        #expect(after.receive(until: "[] 0").contains("GET /after [] 0"))
        await server.stop(within: .seconds(1))
    }

    @Test("gets one answer where it is not the first of its connection")
    func later() async throws {
        let server = try HTTPServer(Self.configuration(), handler: echo)
        let connection = try RawConnection(port: server.port)
        connection.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(connection.receive(until: "[] 0 127.0.0.1").contains("GET /first [] 0"))
        connection.send("GET /second HTTP/1.1\r\n\r\n")
        let answer = connection.receiveAll() ?? "the connection stays open"
        try expectOneAnswer(answer, status: [400], to: "the second")
        await server.stop(within: .seconds(1))
    }

    @Test(
        "in the middle of its head gets at most one answer",
        arguments: [
            "GET / HTTP/9.1\r\nHost: a\r\n\r\n", "garbage\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n",
            "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "a:b\r\n", count: 600))\r\n",
        ])
    func early(request: String) async throws {
        let server = try HTTPServer(Self.configuration(), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        #expect(answer.ranges(of: "HTTP/1.").count <= 1, "\(answer)")
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"))
        await server.stop(within: .seconds(1))
    }

    @Test("leaves nothing behind", arguments: heads)
    func released(request: String, statuses: Set<Int>) async throws {
        final class Held: Sendable {}
        weak var left: Held?
        do {
            let held = Held()
            left = held
            let server = try HTTPServer(Self.configuration()) { request in
                withExtendedLifetime(held) {}
                return await echo(request)
            }
            for _ in 0..<3 { _ = try exchange(server.port, request) }
            await server.stop(within: .seconds(1))
        }
        #expect(left == nil)
    }
}
