// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPServer
import SQL
import SQLSupport
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A browser at the server's own page")
struct SiteTests {
    @Test(
        "signs in by an approval, sees what is its own, and signs out", arguments: Backend.allCases)
    func wholeWay(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        #expect(try await browser.open("/").location == "/site")
        #expect(try await browser.open("/site").location == "/site/sign-in")
        #expect(try await browser.begin().status == 200)
        #expect(browser.page.contains("Approve on your device"))
        let operation = try await server.latestOperation()
        let detail = try await server.detail(operation, for: device)
        #expect(try browser.shown == detail.data)
        #expect(detail.data.contains("from 192.0.2.7\nthe page shows "))
        #expect(try await browser.open("/site").location == "/site/waiting")
        #expect(try await server.decide(operation, by: device).status == 200)
        #expect(try await browser.open("/site/waiting").location == "/site")
        #expect(try await browser.open("/site").status == 200)
        for text in [
            "signed in as <strong><bdi>alice</bdi>", hexadecimal(device.id),
            try #require(keyFingerprint(device.key.publicPoint)), "key in a TPM, secure boot on",
            "approved by it", "the page shows", "approved sign-in", "device registered",
            "192.0.2.7",
        ] { #expect(browser.page.contains(text), "\(text)") }
        #expect(try await browser.open("/site/sign-in").location == "/site")
        try await browser.open("/site")
        let before = browser.cookie
        #expect(try await browser.post("/site/sign-out").location == "/site/signed-out")
        #expect(browser.cookie == nil)
        #expect(try await browser.open("/site/signed-out").status == 200)
        browser.cookie = before
        #expect(try await browser.open("/site").location == "/site/sign-in")
        let left = try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL")
        #expect(left.isEmpty)
        #expect(try await server.audited("operation-consumed", "ok") == 1)
        #expect(try await server.audited("revocation", "ok") == 1)
    }

    @Test("has another cookie after each step, of which the server keeps the hash alone")
    func cookies() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        var seen: [String] = []
        let first = try await browser.open("/site/sign-in")
        #expect(
            first.header("Set-Cookie")?.hasSuffix(
                "; Path=/; HttpOnly; SameSite=Strict; Secure") == true)
        seen.append(try #require(browser.cookie))
        // Shown again, the page keeps it: another tab's form still holds.
        #expect(try await browser.open("/site/sign-in").header("Set-Cookie") == nil)
        try await browser.begin()
        seen.append(try #require(browser.cookie))
        _ = try await server.decide(try await server.latestOperation(), by: device)
        try await browser.open("/site/waiting")
        seen.append(try #require(browser.cookie))
        #expect(Set(seen).count == 3)
        #expect(seen.allSatisfy { $0.hasPrefix("__Host-signet=sg") })
        let secret = [UInt8](seen[2].utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst())
        let kept = try await server.rows("SELECT hash FROM site_session")
        #expect(try kept.map { try $0.bytes(0) } == [try SHA256.digest(secret)])
        // No earlier one is worth anything.
        for cookie in seen.dropLast() {
            browser.cookie = cookie
            #expect(try await browser.open("/site").location == "/site/sign-in")
        }
    }

    @Test("on plain HTTP of the machine itself has a cookie without the prefix")
    func plain() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite, at: "http://localhost:8443")
        let browser = TestBrowser(server)
        browser.origin = "http://localhost:8443"
        let first = try await browser.open("/site/sign-in")
        #expect(
            first.header("Set-Cookie")?.hasSuffix("; Path=/; HttpOnly; SameSite=Strict") == true)
        #expect(browser.cookie?.hasPrefix("signet=") == true)
        try await browser.signIn(by: device)
        #expect(try await browser.isSignedIn)
    }

    @Test(
        "is signed in no longer than its device is good, and half an hour",
        arguments: ["device", "account", "tokens", "time"])
    func ended(by end: String) async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.signIn(by: device)
        #expect(try await browser.isSignedIn)
        switch end {
        case "device":
            _ = try await server.ask(
                "POST", "/v1/registrations/\(device.registration)/block", [:])
        case "account": try await server.change("UPDATE account SET blocked = 1")
        case "tokens": try await server.change("UPDATE token_session SET revoked = 1")
        default:
            server.time.pass(1_799)
            #expect(try await browser.isSignedIn)
            server.time.pass(1)
        }
        #expect(try await browser.open("/site").location == "/site/sign-in")
        #expect(!browser.page.contains(hexadecimal(device.id)))
        // A form of that page does nothing, and says nothing.
        server.time.pass(7_200)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows("SELECT hash FROM site_session").isEmpty)
        #expect(try await server.rows("SELECT hash FROM site_login").isEmpty)
    }

    @Test("comes in by another site's link as who it was")
    func linked() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.signIn(by: device)
        // Browsers keep the cookie back, and must not be given another in its place.
        for path in ["/", "/site", "/site/sign-in", "/site/waiting"] {
            for site in ["cross-site", "same-site"] {
                let reply = await server.answer(
                    HTTPRequest(method: "GET", path: path, headers: [("sec-fetch-site", site)]))
                #expect(reply.status == 200)
                #expect(reply.header("Set-Cookie") == nil)
                #expect(reply.header("Refresh") == "0; url=\(path)")
            }
        }
        #expect(try await browser.isSignedIn)
    }

    @Test("is signed in by an approval in the last second")
    func lastSecond() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.begin()
        server.time.pass(299)
        _ = try await server.decide(try await server.latestOperation(), by: device)
        server.time.pass(59)
        await server.service.maintenance.forgetOld()
        #expect(try await browser.open("/site/waiting").location == "/site")
        #expect(try await browser.isSignedIn)
    }

    @Test("takes back what it began")
    func canceled() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.begin()
        let operation = try await server.latestOperation()
        let cookie = browser.cookie
        #expect(try await browser.post("/site/cancel").location == "/site/sign-in")
        #expect(try await server.status(operation) == "CANCELED")
        #expect(try await server.awaited(by: device).isEmpty)
        #expect(browser.cookie == nil)
        browser.cookie = cookie
        #expect(try await browser.open("/site/waiting").location == "/site")
        // Of a name that is none, likewise.
        try await browser.begin("nobody")
        #expect(try await browser.post("/site/cancel").location == "/site/sign-in")
    }

    @Test("looks by itself until it is told not to")
    func refresh() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        #expect(try await browser.begin().header("Refresh") == "4")
        let request = server.request("/site/waiting", [("refresh", "off")], cookie: browser.cookie)
        let still = await server.answer(request)
        #expect(still.status == 200)
        #expect(still.header("Refresh") == nil)
    }

    @Test("shows many devices, operations and receipts, and no more than 50 of each")
    func many() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        try await server.makeTemplate()
        for number in 0..<60 {
            let id = try await server.operation([
                "account": "alice", "template": "payment",
                "data": ["amount": "\(number)", "payee": "Bob"],
            ])
            _ = try await server.decide(id, .reject, by: device)
            server.time.pass(1)
        }
        let browser = TestBrowser(server)
        try await browser.signIn(by: device)
        let list = browser.page.components(separatedBy: "id=\"receipts\"")
        #expect(list[0].components(separatedBy: "<dt>Asked</dt>").count == 51)
        #expect(list[1].components(separatedBy: "<dt>Outcome</dt>").count == 51)
        #expect(list[0].contains("pay 59 EUR\nto Bob") && !list[0].contains("pay 5 EUR"))
    }
}

extension TestServer {
    /// Changes what no call changes.
    func change(_ sql: StaticString) async throws {
        try await database.write { store throws(DatabaseFault) in _ = try store.run(sql) }
    }

    /// A request with a query.
    func request(
        _ path: String, _ query: [(name: String, value: String)], cookie: String?
    ) -> HTTPRequest {
        HTTPRequest(
            method: "GET", path: path, query: query,
            headers: cookie.map { [("cookie", $0)] } ?? [])
    }
}
