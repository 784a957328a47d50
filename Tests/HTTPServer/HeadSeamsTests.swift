// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import TestScopes
import TestSupport
import Testing

@Suite("The head of a request", .threadOfItsOwn)
struct HeadSeamsTests {
    private func expectRefusal(of request: String) async throws {
        let server = try HTTPServer(local(), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        // Some versions of the library hang up without a word.
        let status = answer.split(separator: " ").dropFirst().first ?? "400"
        #expect(status == "400", "\(answer)")
        await server.stop(within: .seconds(1))
    }

    @Test(
        "that hides something behind a NUL is refused",
        arguments: [
            "GET\0X / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\0x HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /?a=\0b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\0x\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: key\0zzz\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: key\0zzz\r\nX: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: key\0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: key\0\0zzz\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: key\0zzz\n\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\0, 10.9.9.9\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX:\0secret\r\nY: z\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: \0 secret\r\nY: z\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
        ])
    func hidden(request: String) async throws {
        try await expectRefusal(of: request)
    }

    @Test(
        "that continues on another line, or has another blank, is refused",
        arguments: [
            "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func loose(request: String) async throws {
        try await expectRefusal(of: request)
    }

    @Test(
        "is read as it is sent, or refused, where a line ends in a bare LF",
        arguments: [
            "GET / HTTP/1.1\nHost: a\nX:\nConnection: close\n\n",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: a=b; c\r\n\n",
        ])
    func bareEnd(request: String) async throws {
        let server = try HTTPServer(local(), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        #expect(answer.hasPrefix("HTTP/1.1 200 ") || answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        #expect(answer.ranges(of: "HTTP/1.").count == 1)
        await server.stop(within: .seconds(1))
    }

    @Test(
        "is read as it is sent, with empty values and blanks",
        arguments: [
            "GET / HTTP/1.0\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost:\t a\r\nX:\r\nY: \r\nZ:  a b \r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: a=b; c\r\n\r\n",
        ])
    func sound(request: String) async throws {
        let server = try HTTPServer(local(), handler: echo)
        let answer = try #require(try exchange(server.port, request), "the connection stays open")
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        await server.stop(within: .seconds(1))
    }

    @Test("is read as it is sent, also where it comes in many parts and is long")
    func parts() async throws {
        let server = try HTTPServer(local(), handler: echo)
        let connection = try RawConnection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nHost: a\r\n")
        for number in 0..<40 {
            connection.send("X-\(number): \(String(repeating: "v", count: 50))")
            connection.send("\(String(repeating: "v", count: 50))\r\n")
        }
        connection.send("Connection: close\r\n\r\n")
        #expect(connection.receiveAll()?.hasPrefix("HTTP/1.1 200 ") == true)
        await server.stop(within: .seconds(1))
    }
}
