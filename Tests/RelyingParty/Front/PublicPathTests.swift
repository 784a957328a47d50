// SPDX-License-Identifier: Apache-2.0
import Authorization
import Configuration
import Foundation
import HTTPServer
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A server below a path")
struct PublicPathTests {
    private static let url = "https://www.example.org/signet"

    /// The examples of the documentation: nginx and HAProxy, keeping the path and removing it.
    private static func examples() throws -> [String] {
        let text = String(
            decoding: try Layout.read("\(Layout.package)/docs/admin/SERVER-OPERATE.md"),
            as: UTF8.self)
        let section = try #require(
            text.components(separatedBy: "### Below a path\n").last?
                .components(separatedBy: "\n## ").first)
        var blocks = section.components(separatedBy: "```\n").enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
        let removing = try #require(section.firstMatch(of: #/`(http-request replace-path [^`]*)`/#))
        let last = try #require(blocks.last)
        blocks.append(last.replacing("    option", with: "    \(removing.output.1)\n    option"))
        return blocks
    }

    @Test("serves devices behind nginx and HAProxy as documented, path kept or removed")
    func proxies() async throws {
        let examples = try Self.examples()
        #expect(examples.count == 4)
        let home = try ServerHome(.sqlite, url: Self.url)
        var apiKey: String?
        for path in ["kept", "removed"] {
            let server = try ServerProcess(
                home, apiKey: apiKey, settings: "proxy = trusted\npath = \(path)")
            apiKey = server.apiKey
            for example in examples {
                let proxy = try ReverseProxy(example, before: server, path: "/signet")
                let isMeant = Self.isRemoving(example) == (path == "removed")
                if isMeant {
                    try await expectServed(by: proxy, example)
                    let twice = try await proxy.send("GET", "/signet/health/live")
                    #expect(twice.status == 404)
                } else {
                    // Seen at the first call.
                    let reply = try await proxy.send("GET", "/health/live")
                    #expect(reply.status == 404)
                    #expect(String(decoding: reply.bytes, as: UTF8.self).contains("listen.path"))
                }
            }
            try server.stop()
        }
    }

    private static func isRemoving(_ example: String) -> Bool {
        example.contains("8443/;") || example.contains("replace-path")
    }

    /// Registers, logs in, and makes requests whose path is signed.
    private func expectServed(by server: some CalledServer, _ name: String) async throws {
        let device = try TestDevice(id: UInt8.random(in: 1...255))
        device.audience = "\(Self.url)/shop"
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        for path in ["/v1/device/operations", "/v1/device/sessions"] {
            #expect(try await read(path, signing: "/signet" + path) == 200, "\(name): \(path)")
            // The path as the server itself may have seen it is not what was called.
            #expect(try await read(path, signing: path) == 401, "\(name): \(path)")
            #expect(try await read(path, signing: "/signet/signet" + path) == 401)
        }

        func read(_ path: String, signing resource: String) async throws -> Int {
            let request = TestRequest(method: "GET", resource: resource, body: [])
            let header = try device.header(
                try device.statement(of: request, at: server.time.now))
            return try await server.send(
                "GET", path, nil, key: nil, headers: [("authorization", header)], from: ""
            ).status
        }
    }

    @Test("has one path for each call, so that no filter in a proxy can be passed by another")
    func calls() throws {
        let url = try #require(CanonicalServerURL(typed: "https://h/a/b"))
        func unproxied(_ sent: String, isKept: Bool) -> [String]? {
            let request = HTTPRequest(method: "GET", target: sent + "?x=/a/b/", path: sent)
            let made = try? PublicPath(of: url, isKept: isKept).unproxied(request)
            return made.map { [$0.path, $0.target] }
        }
        #expect(
            unproxied("/a/b/v1/login", isKept: true) == ["/v1/login", "/a/b/v1/login?x=/a/b/"])
        #expect(unproxied("/v1/login", isKept: false) == ["/v1/login", "/a/b/v1/login?x=/a/b/"])
        #expect(unproxied("/a/b/v1/login", isKept: false) == nil)
        for other in [
            "/v1/login", "/a/b", "/a/bv1/login", "/A/b/v1/login", "/a//b/v1/login", "/", "",
            "a/b/v1/login", "//a/b/v1/login",
        ] {
            #expect(unproxied(other, isKept: true) == nil, "\(other)")
        }
        // Twice, it is not the call itself.
        #expect(unproxied("/a/b/a/b/v1/login", isKept: true)?.first == "/a/b/v1/login")
        #expect(unproxied("/a/b/a/b/v1/login", isKept: false) == nil)
        let request = try PublicPath.none.unproxied(HTTPRequest(method: "GET", path: "/v1/login"))
        #expect(request.path == "/v1/login" && request.target == "/v1/login")
    }

    @Test("is doubted by check-config where the settings for its path fit no proxy, and no other")
    func doubt() throws {
        let direct = "certificate = /etc/signet/chain.pem\n"
        let cases: [(url: String, listen: String, isDoubted: Bool)] = [
            ("https://a.example", "", false),
            ("https://a.example", "path = kept\n", true),
            ("https://a.example/signet", "", false),
            ("https://a.example/signet", "path = kept\n", false),
            ("https://a.example/signet", direct, true),
            ("https://a.example/signet", direct + "path = kept\n", false),
            ("https://a.example/signet", direct + "proxy = trusted\n", false),
            ("https://a.example", direct, false),
        ]
        for (url, listen, isDoubted) in cases {
            let text = "[server]\nurl = \(url)\n[listen]\n\(listen)"
            let doubt = PublicPath.doubt(
                try Configuration(
                    ServerSettings.all, files: [("server.conf", [UInt8](text.utf8))]))
            #expect((doubt != nil) == isDoubted, "\(text)")
            #expect(doubt?.contains("listen.path = kept") ?? true, "\(text)")
        }
    }
}
