// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import HTTPServer
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("What is refused before it comes to a call")
struct RefusedByServerTests {
    @Test(
        "is a problem document with an id, a line and a figure: a body that is too long",
        arguments: [16_385, 300_000, 900_000, 3_000_000])
    func tooLarge(bytes: Int) async throws {
        let home = try ServerHome(.sqlite)
        let server = try ServerProcess(home, settings: "[metrics]\nlisten = 127.0.0.1:0")
        let figures = try #require(
            server.process.errors.firstMatch(of: #/metrics on port (\d+)/#)?.output.1)
        try home.scratch.write("body", String(repeating: "x", count: bytes))
        let curl = try Program(
            Command([
                "curl", "--silent", "--show-error", "--data-binary", "@" + home.scratch.at("body"),
                "--header", "Content-Type: application/json", "--dump-header",
                home.scratch.at("head"), "http://127.0.0.1:\(server.port)/v1/login?token=LOUI",
            ])
        ).expectEnd()
        #expect(curl.succeeded, "\(curl.errors)")
        let reply = Reply(413, [], [UInt8](curl.output.utf8))
        #expect(reply.code == "too-large")
        #expect(reply["status"] as? Int == 413)
        let head = String(decoding: try home.scratch.read("head"), as: UTF8.self)
        #expect(head.contains("HTTP/1.1 413 "))
        #expect(head.contains("Content-Type: application/problem+json"))
        let id = try #require(head.firstMatch(of: #/X-Request-Id: ([^\r]+)/#)?.output.1)
        var settings = ClientConfiguration()
        settings.allowsPlain = true
        let page = try await HTTPClient(settings).send(
            ClientRequest(url: "http://127.0.0.1:\(figures)/metrics"))
        let line = #"signet_requests_total{method="POST",route="/v1/login",status="413"} 1"#
        #expect(String(decoding: page.body, as: UTF8.self).contains(line))
        let log = try server.stop().errors
        #expect(
            log.contains(
                "request id=\(id) method=POST route=/v1/login status=413 outcome=too-large us=0"))
        #expect(!log.contains("LOUI"))
    }

    @Test("is reported by a code of the table")
    func words() async throws {
        let server = try await TestServer.make(.sqlite)
        for (status, code, retry) in [
            (400, "malformed", nil), (411, "length-required", nil), (413, "too-large", nil),
            (431, "malformed", nil),
            (503, "unavailable", "1"),
        ] as [(Int, String, String?)] {
            let reply = server.refuse(status, HTTPRequest(method: "", path: ""))
            #expect(reply.status == status && reply.code == code)
            #expect(reply["status"] as? Int == status)
            #expect(reply.headers.first { $0.name == "Retry-After" }?.value == retry)
            #expect(reply.headers.contains { $0.name == "X-Request-Id" })
        }
    }
}
