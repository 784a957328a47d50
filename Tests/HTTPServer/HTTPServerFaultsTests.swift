// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import TestScopes
import TestSupport
import Testing

/// Requests of the kinds that libmicrohttpd 1.0.3 to 1.0.10 repaired, and others near them.
///
/// Debian 12 and 13 have older versions of the library. Each case must be answered as here with all
/// of them, and the server must serve the next request.
@Suite("A fault of the HTTP library", .serialized, .threadOfItsOwn)
struct HTTPServerFaultsTests {
    /// What a client sends, and how it may be answered.
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let request: String
        /// The statuses that are right; the libraries differ.
        var statuses: Set<Int> = []
        /// Whether the connection may also be closed without an answer.
        var mayClose = false

        var testDescription: String { name }
    }

    private static let host = "Host: a\r\n"
    private static let post = "POST / HTTP/1.1\r\n" + host
    private static func filler(_ count: Int) -> String { String(repeating: "a", count: count) }

    // MARK: - A query without values

    /// libmicrohttpd 1.0.1 follows a null pointer if little room is left in the buffer behind a head
    /// whose last part is an argument without `=`. 0.9.75 never reports the end of a request whose
    /// arguments do not fit.
    static let queries: [Case] =
        [1, 2_400, 2_700, 3_000, 4_000, 6_000, 7_000].flatMap { count in
            [
                Case(
                    name: "an argument without a value, behind \(count) bytes, in HTTP/1.0",
                    request: "GET /?\(filler(count))&b HTTP/1.0\r\n\r\n", statuses: [200]),
                Case(
                    name: "one argument of \(count) bytes without a value",
                    request: "GET /?\(filler(count)) HTTP/1.0\r\n\r\n", statuses: [200]),
                Case(
                    name: "an argument without a value, behind \(count) bytes, without a host",
                    request: "GET /?\(filler(count))&b HTTP/1.1\r\n\r\n", statuses: [400]),
                Case(
                    name: "a value of \(count) bytes and no header",
                    request: "GET /?a=\(filler(count)) HTTP/1.0\r\n\r\n", statuses: [200]),
            ]
        } + [
            Case(
                name: "a query that is only a question mark", request: "GET /? HTTP/1.0\r\n\r\n",
                statuses: [200]),
            Case(
                name: "a query of two question marks", request: "GET /?? HTTP/1.0\r\n\r\n",
                statuses: [200]),
            Case(
                name: "300 arguments without a value",
                request: "GET /?" + Array(repeating: "a", count: 300).joined(separator: "&")
                    + " HTTP/1.0\r\n\r\n", statuses: [200]),
            Case(
                name: "more arguments than a buffer holds",
                request: "GET /?" + Array(repeating: "a", count: 2_000).joined(separator: "&")
                    + " HTTP/1.0\r\n\r\n", statuses: [200, 431]),
        ]

    @Test(
        "is tested with the library that was built for it",
        .enabled(if: ServerLibrary.directory != nil, "this is the machine's own"))
    func library() throws {
        let maps = String(decoding: try Layout.read("/proc/self/maps"), as: UTF8.self)
        #expect(maps.contains(try #require(ServerLibrary.directory)))
    }

    @Test("does not end the server through a query", arguments: queries)
    func query(each: Case) async throws { try await expectSurvival(each) }

    /// A request that the library has forgotten must not be taken for another one, whose connection
    /// has the same address.
    @Test("that forgets a request gives its answer to no one else")
    func forgotten() async throws {
        var configuration = local()
        configuration.threads = 1
        configuration.requestLimit = .seconds(1)
        configuration.idleTimeout = .seconds(1)
        let server = try HTTPServer(configuration, handler: echo)
        let many = Array(repeating: "a", count: 500).joined(separator: "&")
        for _ in 0..<40 {
            let connection = try RawConnection(port: server.port)
            connection.send("GET /?\(many) HTTP/1.0\r\n\r\n")
        }
        // Until the server has cut what is left of them.
        try await expectNoConnections(server)
        for _ in 0..<10 {
            let waiting = try RawConnection(port: server.port)
            waiting.send(Self.post + "Content-Length: 5\r\n\r\nabc")
            let refused = try exchange(
                server.port, "GET / HTTP/1.1\r\n\(Self.host)nothing\r\n\r\n")
            #expect(refused?.hasPrefix("HTTP/1.1 400 ") == true)
            waiting.send("de")
            #expect(waiting.receive(until: "] 5 127").hasPrefix("HTTP/1.1 200 "))
        }
        await server.stop(within: .seconds(1))
    }

    // MARK: - Chunks and lengths

    private static let sizes = [
        "FFFFFFFFFFFFFFFF", filler(17), String(repeating: "1", count: 100),
        String(repeating: "0", count: 3_000) + "3", "-1", "0x3", "", "3 ", "3;a=b", "3;a=b\r",
        "3;" + filler(9_000), String(repeating: "0", count: 20_000),
    ]

    static let bodies: [Case] =
        sizes.map { size in
            Case(
                name: "a chunk of the size \(size.prefix(20).debugDescription)…",
                request: post + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\nabc\r\n0\r\n\r\n",
                statuses: [411])
        }
        + [
            "3\r\nabcXX0\r\n\r\n", "3\r\nabc\r\n3;" + filler(9_000),
            "3\r\nabc\r\n0\r\n" + String(repeating: "X: y\r\n", count: 2_000) + "\r\n",
            "0\r\nX: y\r\n z\r\n\r\n",
        ].map { chunks in
            Case(
                name: "chunks that go on with \(chunks.prefix(20).debugDescription)…",
                request: post + "Transfer-Encoding: chunked\r\n\r\n" + chunks, statuses: [411])
        }
        + [
            "Content-Length: 3\r\nContent-Length: 3", "Content-Length: 3\r\nContent-Length: 30",
            "Content-Length: 3, 3", "Content-Length: +3", "Content-Length: 0x3",
            "Content-Length: 3 3", "Content-Length: 3\r\nContent-Length: x",
            "Content-Length: 3\r\nContent-Length:", "Content-Length : 3",
            "Content-Length\u{b}: 3", "Transfer-Encoding : chunked",
            "Transfer-Encoding\t: chunked", "Transfer-Encoding\u{b}: chunked",
        ].map { lines in
            Case(
                name: "the length \(lines.debugDescription)",
                request: post + lines + "\r\n\r\nabc", statuses: [400])
        }
        + ["9223372036854775808", "18446744073709551614", "18446744073709551615"].map { length in
            Case(
                name: "the length \(length)",
                request: post + "Content-Length: \(length)\r\n\r\nabc", statuses: [413])
        }
        + [
            Case(
                name: "a length beyond 64 bits whose rest is small",
                request: post + "Content-Length: 18446744073709551619\r\n\r\nabc",
                statuses: [400, 413]),
            Case(
                name: "an upgrade with a length and a transfer coding",
                request: post + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", statuses: [400, 411]),
        ]

    @Test("does not end the server through a body, and none of these is served", arguments: bodies)
    func body(each: Case) async throws { try await expectSurvival(each) }

    // MARK: - Heads

    static let heads: [Case] =
        "\u{1}\u{c}\u{7f}\u{80}\"(),/;<=>?@[\\]{} \t".unicodeScalars.map { scalar in
            Case(
                name: "a header whose name has \(String(scalar).debugDescription)",
                request: "GET / HTTP/1.1\r\n\(host)X\(scalar)Y: z\r\n\r\n", statuses: [400])
        }
        + [
            ("a header without a name", host + ": z\r\n\r\n"),
            ("a blank before the first header", " X: y\r\n\(host)\r\n"),
            ("a carriage return in a value", host + "X: y\rz\r\n\r\n"),
        ].map { name, rest in
            Case(name: name, request: "GET / HTTP/1.1\r\n" + rest, statuses: [400])
        }
        + [
            ("blanks in the target", "GET /a b c HTTP/1.1\r\n"),
            (
                "3,000 blanks in the target",
                "GET /\(String(repeating: " ", count: 3_000)) HTTP/1.1\r\n"
            ),
            ("a form feed in the target", "GET /a\u{b}\u{c}b HTTP/1.1\r\n"),
            ("a carriage return in the target", "GET /a\rb HTTP/1.1\r\n"),
            ("an escape cut off in the query", "GET /?a=% HTTP/1.1\r\n"),
            ("no version", "GET /\r\n"), ("an empty version", "GET / \r\n"),
            ("a version in lower case", "GET / http/1.1\r\n"), ("no method", " / HTTP/1.1\r\n"),
            ("a connection to elsewhere", "CONNECT a:1 HTTP/1.1\r\n"),
        ].map { name, line in
            Case(name: name, request: line + host + "\r\n", statuses: [400], mayClose: true)
        }
        + ["HTTP/0.9", "HTTP/2.0"].map { version in
            Case(name: version, request: "GET / \(version)\r\n\(host)\r\n", statuses: [505])
        }
        + [
            (
                "lines that are continued for 20,000 bytes",
                "X: y\r\n" + String(repeating: " z\r\n", count: 5_000)
            ),
            ("1,000 headers", String(repeating: "X: y\r\n", count: 1_000)),
            ("a name of 9,000 bytes", filler(9_000) + ": y\r\n"),
        ].map { name, lines in
            Case(
                name: name, request: "GET / HTTP/1.1\r\n\(host)\(lines)\r\n",
                statuses: [400, 431], mayClose: true)
        }
        + [
            Case(
                name: "a method of 9,000 bytes",
                request: filler(9_000) + " / HTTP/1.1\r\n\(host)\r\n", statuses: [414],
                mayClose: true),
            Case(
                name: "9,000 NULs", request: String(repeating: "\0", count: 9_000),
                statuses: [400, 414], mayClose: true),
            Case(
                name: "9,000 line feeds", request: String(repeating: "\n", count: 9_000),
                statuses: [400, 414], mayClose: true),
        ]

    @Test("does not end the server through a head, and none of these is served", arguments: heads)
    func head(each: Case) async throws { try await expectSurvival(each) }

    static let cookies: [Case] =
        [
            "a", "", " ; ; ;", "a=\"b", "a=\"b\"; c=\"\"", "==;=;a==b", "a\t=\tb;\tc", "a=b;",
            "$Version=1; a=b", "a=b,c=d", (0..<50).map { "a\($0)=b" }.joined(separator: "; "),
        ].map { value in
            Case(
                name: "the cookie \(value.prefix(20).debugDescription)…",
                request: "GET / HTTP/1.1\r\n\(host)Cookie: \(value)\r\nConnection: close\r\n\r\n",
                statuses: [200])
        }
        + [
            Case(
                name: "60 headers with a cookie",
                request: "GET / HTTP/1.1\r\n\(host)"
                    + String(repeating: "Cookie: a=b\r\n", count: 60)
                    + "Connection: close\r\n\r\n", statuses: [200, 431])
        ]
        + [
            "Authorization: Digest username*=UTF-8''%, nonce=\"\\\(filler(3_000))",
            "Authorization: Basic ====", "Connection: close, close,,, upgrade, keep-alive",
            "Connection: Upgrade, close\r\nUpgrade: websocket", "Expect: a teapot",
            "Content-Type: multipart/form-data; boundary=\(filler(500))",
        ].map { lines in
            Case(
                name: "what the library does not read: \(lines.prefix(30).debugDescription)…",
                request: "GET / HTTP/1.1\r\n\(host)\(lines)\r\nConnection: close\r\n\r\n",
                statuses: [200])
        }

    @Test("does not end the server through a header that it may have", arguments: cookies)
    func header(each: Case) async throws { try await expectSurvival(each) }

    // MARK: - Connections

    @Test("does not mix requests that fill the buffer again and again")
    func pipelined() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let connection = try RawConnection(port: server.port)
        let request = Self.post + "Content-Length: 3000\r\n\r\n" + Self.filler(3_000)
        let target = Self.filler(3_000)
        for _ in 0..<20 { connection.send(request) }
        connection.send("GET /?a=\(target) HTTP/1.1\r\n\(Self.host)\r\n")
        connection.send("GET /last HTTP/1.0\r\n\r\n")
        let answer = connection.receiveAll() ?? "the connection stays open"
        #expect(answer.ranges(of: "POST / [] 3000 127.0.0.1").count == 20)
        #expect(answer.ranges(of: "[a=\(target)] 0 127.0.0.1").count == 1)
        #expect(answer.hasSuffix("GET /last [] 0 127.0.0.1"))
        await server.stop(within: .seconds(1))
    }

    /// libmicrohttpd 1.0 moves what follows a long head onto the end of its last line.
    @Test(
        "does not spoil a long head whose body comes with it",
        arguments: [100, 2_600, 4_000, 6_000])
    func longHead(count: Int) async throws {
        let server = try HTTPServer(local(), handler: echo)
        for body in [0, 1, 100, 1_000] {
            let answer = try exchange(
                server.port,
                Self.post
                    + "Connection: close\r\nContent-Length: \(body)\r\nX: \(Self.filler(count))"
                    + "\r\n\r\n" + String(repeating: "b", count: body))
            #expect(answer?.hasSuffix("POST / [] \(body) 127.0.0.1") == true, "\(answer ?? "open")")
        }
        // A second request in place of the body.
        let pair = try exchange(
            server.port,
            "GET /1?a=\(Self.filler(count)) HTTP/1.1\r\n\(Self.host)\r\n"
                + "GET /2 HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
        #expect(pair?.ranges(of: "HTTP/1.1 200 ").count == 2, "\(pair ?? "open")")
        await server.stop(within: .seconds(1))
    }

    @Test("does not let a connection wait for another one whose handler has not answered")
    func suspended() async throws {
        let gate = HandlerGate()
        var configuration = local()
        configuration.threads = 1
        let server = try HTTPServer(configuration) { request in
            if request.path == "/wait" { await gate.pass() }
            return await echo(request)
        }
        let first = try RawConnection(port: server.port)
        let second = try RawConnection(port: server.port)
        let third = try RawConnection(port: server.port)
        // All three are ready at once, and the middle one is suspended while they are gone through.
        first.send("GET /1 HTTP/1.1\r\n\(Self.host)")
        second.send("GET /wait HTTP/1.1\r\n\(Self.host)")
        third.send("GET /3 HTTP/1.1\r\n\(Self.host)")
        second.send("\r\n")
        first.send("\r\n")
        third.send("\r\n")
        await gate.arrival()
        #expect(first.receive(until: "] 0 127").contains("GET /1 [] 0"))
        #expect(third.receive(until: "] 0 127").contains("GET /3 [] 0"))
        try expectService(server)
        await gate.open()
        #expect(second.receive(until: "] 0 127").contains("GET /wait [] 0"))
        await server.stop(within: .seconds(1))
    }

    @Test(
        "does not end the server through clients that go in the middle, nor its stop",
        arguments: [
            "", "GET / HT", "GET / HTTP/1.1\r\nHo", post + "Content-Length: 10\r\n\r\nabc",
            post + "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n",
            String(repeating: "GET / HTTP/1.1\r\n\(host)\r\n", count: 50),
            "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ])
    func gone(request: String) async throws {
        for _ in 0..<5 {
            let server = try HTTPServer(local(), handler: echo)
            for _ in 0..<20 {
                let connection = try RawConnection(port: server.port)
                connection.send(request)
            }
            try expectService(server)
            await server.stop(within: .milliseconds(50))
        }
    }

    @Test("does not change what is read from a head that comes byte by byte")
    func bytes() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let connection = try RawConnection(port: server.port)
        for byte in "GET /b?c=d HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n" {
            // "\r\n" is one Character.
            for scalar in byte.unicodeScalars { connection.send(String(scalar)) }
        }
        #expect(connection.receiveAll()?.hasSuffix("GET /b [c=d] 0 127.0.0.1") == true)
        await server.stop(within: .seconds(1))
    }

    // MARK: -

    /// Sends a request three times, and expects its answer, and that the server then serves others.
    private func expectSurvival(_ each: Case) async throws {
        let lines = Lines()
        var configuration = local()
        configuration.threads = 1
        let server = try HTTPServer(configuration) { request in
            lines.add(request.target)
            return await echo(request)
        }
        for _ in 0..<3 {
            let answer = try #require(
                try exchange(server.port, each.request), "the connection stays open")
            let isAnswered = each.statuses.contains {
                answer.hasPrefix("HTTP/1.1 \($0) ") || answer.hasPrefix("HTTP/1.0 \($0) ")
            }
            #expect(isAnswered || each.mayClose && answer.isEmpty, "\(answer.prefix(200))")
            #expect(answer.ranges(of: "HTTP/1.").count <= 1, "\(answer.prefix(400))")
        }
        if !each.statuses.contains(200) { #expect(lines.all.isEmpty) }
        // What is refused in the middle of a head makes the library look through what it knows.
        _ = try exchange(server.port, "GET / HTTP/1.1\r\n\(Self.host)nothing\r\n\r\n")
        try expectService(server)
        await server.stop(within: .seconds(1))
    }

    private func expectNoConnections(_ server: HTTPServer) async throws {
        let end = ContinuousClock.now + .seconds(15)
        while server.connectionFigures.open > 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(server.connectionFigures.open == 0)
    }

    private func expectService(_ server: HTTPServer) throws {
        let answer = try exchange(
            server.port, "GET /next HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
        #expect(answer?.hasSuffix("GET /next [] 0 127.0.0.1") == true, "\(answer ?? "open")")
    }
}
