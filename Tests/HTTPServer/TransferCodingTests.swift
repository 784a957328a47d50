// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import TestScopes
import TestSupport
import Testing

@Suite("A transfer coding", .threadOfItsOwn)
struct TransferCodingTests {
    private static let post = "POST /c HTTP/1.1\r\nHost: a\r\n"
    private static let chunks = "\r\n\r\n3\r\nabc\r\n0\r\n\r\n"

    @Test(
        "is refused with 411, whatever it is called, and before a chunk is read",
        arguments: [
            "Transfer-Encoding: chunked", "transfer-encoding: chunked",
            "TRANSFER-ENCODING: Chunked", "Transfer-Encoding:chunked",
            "Transfer-Encoding:\tchunked \t",
            "Expect: 100-continue\r\nTransfer-Encoding: chunked",
        ])
    func refused(header: String) async throws {
        let answer = try await refusal(of: header)
        #expect(answer.hasPrefix("HTTP/1.1 411 "), "\(answer)")
    }

    /// Newer libraries refuse some of these by themselves: 1.0.1 with 400, 1.0.10 with 400 or 501.
    @Test(
        "is refused where it is not the chunked one, there are two, or a length stands beside it",
        arguments: [
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: identity", "Transfer-Encoding:", "Transfer-Encoding: ",
            "Content-Length: 13\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 13",
            "Transfer-Encoding: chunked\r\nContent-Length: x",
        ])
    func invalid(header: String) async throws {
        let answer = try await refusal(of: header)
        #expect(answer.contains(#/^HTTP\/1.1 (400|411|501) /#), "\(answer)")
    }

    /// The one answer to a request with this header, which has reached no handler.
    private func refusal(of header: String) async throws -> String {
        let lines = Lines()
        let server = try HTTPServer(local()) { request in
            lines.add(request.path)
            return await echo(request)
        }
        let answer = try #require(
            try exchange(server.port, Self.post + header + Self.chunks), "the connection stays open"
        )
        #expect(answer.ranges(of: "HTTP/1.").count == 1)
        #expect(answer.contains("Connection: close\r\n"))
        #expect(lines.all.isEmpty)
        await server.stop(within: .seconds(1))
        return answer
    }

    /// The class of CVE-2025-22871: decoders that differ in where a chunk's line ends.
    @Test(
        "is refused where its chunks end in a bare LF or CR, so that no request hides in them",
        arguments: [
            "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\n\n", "3\rabc\r\n0\r\n\r\n",
            "3;a\nb\r\nabc\r\n0\r\n\r\n",
            "0\n\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
            "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func bareEnds(body: String) async throws {
        let lines = Lines()
        let server = try HTTPServer(local()) { request in
            lines.add(request.path)
            return await echo(request)
        }
        let answer = try #require(
            try exchange(
                server.port, Self.post + "Transfer-Encoding: chunked\r\n\r\n" + body))
        #expect(answer.hasPrefix("HTTP/1.1 411 "), "\(answer)")
        #expect(answer.ranges(of: "HTTP/1.").count == 1)
        #expect(lines.all.isEmpty)
        await server.stop(within: .seconds(1))
    }

    @Test("is refused over TLS too, and in HTTP/1.0")
    func secure() async throws {
        let identity = try TestIdentity()
        let server = try HTTPServer(local(identity.pair()), handler: echo)
        for version in ["1.1", "1.0"] {
            let answer = try secureExchange(
                server.port, identity,
                "POST / HTTP/\(version)\r\nHost: a\r\nTransfer-Encoding: chunked" + Self.chunks)
            // There is none in HTTP/1.0, so that 1.0.10 refuses it by itself.
            #expect(
                version == "1.1"
                    ? answer.hasPrefix("HTTP/1.1 411 ")
                    : answer.contains(#/^HTTP\/1.[01] (400|411) /#), "\(answer)")
            #expect(answer.ranges(of: "HTTP/1.").count == 1, "\(answer)")
        }
        await server.stop(within: .seconds(1))
    }
}

/// Sends one request over TLS, and returns all that comes until the server closes.
func secureExchange(_ port: UInt16, _ identity: TestIdentity, _ request: String) throws -> String {
    let outcome = try Program(
        Command([
            "openssl", "s_client", "-quiet", "-CAfile", identity.scratch.at("server.pem"),
            "-verify_return_error", "-connect", "127.0.0.1:\(port)",
        ]), input: request
    ).expectEnd()
    return outcome.output
}
