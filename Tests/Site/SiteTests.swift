// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

@testable import Site

@Suite("A browser at the site")
struct SiteTests {
    @Test("signs in by an approval, sees what is its own, and signs out")
    func wholeWay() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        let browser = TestBrowser(site)
        #expect(try browser.open("/").location == "/sign-in")
        #expect(try browser.begin().status == 200)
        #expect(browser.page.contains("Approve on your device"))
        let operation = try #require(try device.awaited().first)
        // The device shows where the request comes from, and what the page shows.
        let text = try device.text(of: operation)
        #expect(try browser.shown == text)
        #expect(
            text.contains(#/^sign in from 192\.0\.2\.7\nthe page shows [A-Z2-9]{3}-[A-Z2-9]{3}$/#))
        #expect(try browser.open("/").location == "/waiting")
        try device.decide()
        #expect(try browser.open("/waiting").location == "/")
        #expect(try browser.open("/").status == 200)
        for text in [
            "signed in as <strong><bdi>alice</bdi>", "<bdi>shop</bdi>", device.name,
            try #require(device.fingerprint), "key in a TPM, secure boot on", "approved by it",
            "the page shows", "approved sign-in", "device registered", "192.0.2.7",
            "<bdi>fingerprint</bdi>",
        ] { #expect(browser.page.contains(text), "\(text)") }
        #expect(try browser.open("/sign-in").location == "/")
        try browser.open("/")
        let before = browser.cookie
        #expect(try browser.post("/sign-out").location == "/signed-out")
        #expect(browser.cookie == nil)
        #expect(try browser.open("/signed-out").status == 200)
        browser.cookie = before
        #expect(try browser.open("/").location == "/sign-in")
        // The tokens have ended at the server too.
        #expect(try server.audited("operation-consumed", "ok") == 1)
        #expect(try server.audited("revocation", "ok") == 1)
        // No secret is in the log.
        let secret = try #require(before?.split(separator: "=").last)
        try site.process.expectError("path=/waiting status=303 outcome=ok")
        #expect(!site.process.errors.contains(secret))
        #expect(!site.process.errors.contains(server.apiKey))
    }

    @Test("has another cookie after each step, and an earlier one is worth nothing")
    func cookies() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        var seen: [String] = []
        let first = try browser.open("/sign-in")
        #expect(
            first.header("Set-Cookie")?.hasSuffix(
                "; Path=/; HttpOnly; SameSite=Strict; Secure") == true)
        seen.append(try #require(browser.cookie))
        // Shown again, the page keeps it: another tab's form still holds.
        #expect(try browser.open("/sign-in").header("Set-Cookie") == nil)
        try browser.begin()
        seen.append(try #require(browser.cookie))
        try device.decide()
        try browser.open("/waiting")
        seen.append(try #require(browser.cookie))
        #expect(Set(seen).count == 3)
        #expect(seen.allSatisfy { $0.hasPrefix("__Host-signet=") && $0.utf8.count == 57 })
        #expect(try browser.isSignedIn)
        for cookie in seen.dropLast() {
            browser.cookie = cookie
            #expect(try browser.open("/").location == "/sign-in")
            #expect(try browser.open("/waiting").location == "/")
        }
    }

    @Test("on plain HTTP of the machine itself has a cookie without the prefix")
    func plain() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server, url: "http://localhost:8080"))
        let first = try browser.open("/sign-in")
        #expect(
            first.header("Set-Cookie")?.hasSuffix("; Path=/; HttpOnly; SameSite=Strict") == true)
        #expect(browser.cookie?.hasPrefix("signet=") == true)
        try browser.signIn(by: device)
        #expect(try browser.isSignedIn)
    }

    @Test(
        "is signed in only while its device is good",
        arguments: ["device", "account", "policy", "restart"])
    func ended(by end: String) async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        var browser = TestBrowser(site)
        try browser.signIn(by: device)
        #expect(try browser.isSignedIn)
        switch end {
        case "device":
            try server.ask("POST", "/v1/registrations/\(device.registration)/block", [:])
        case "account": try server.administer("account", "block", "shop", "alice")
        case "policy": try server.administer("application", "set", "shop", "--biometrics", "no")
        default:
            let cookie = browser.cookie
            #expect(try site.stop().ending == .exited(0))
            browser = TestBrowser(try SiteProcess(server))
            browser.cookie = cookie
        }
        #expect(try browser.open("/").location == "/sign-in")
        #expect(!browser.page.contains(device.name))
        #expect(try browser.open("/sign-in").status == 200)
    }

    @Test("is signed in for as long as the settings say")
    func time() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server, site: "session = 8"))
        try browser.signIn(by: device)
        let token = try browser.token
        // The passing of time is the only event to wait for.
        try await Task.sleep(for: .seconds(8.1))
        #expect(try browser.open("/").location == "/sign-in")
        // A form of that page changes nothing, and tells nothing.
        #expect(try browser.post("/sign-out", token: token).location == "/signed-out")
    }

    @Test("stays signed in when its access token expires, also for many requests at once")
    func renewed() async throws {
        let (server, device) = try await LiveServer.withSite()
        try await server.shortenTokens(to: 1)
        let site = try SiteProcess(server)
        let browser = TestBrowser(site)
        try browser.signIn(by: device)
        let cookie = try #require(browser.cookie)
        for _ in 0..<2 {
            try await Task.sleep(for: .seconds(1.5))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try site.send("GET", "/", [("Cookie", cookie)], nil, from: "192.0.2.7")
                            .status
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            // A refresh token that was sent twice would have ended the session.
            #expect(statuses == [200])
        }
        #expect(try server.audited("refresh", "ok") >= 2)
    }

    @Test("keeps its session when it arrives by another site's link")
    func linked() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.signIn(by: device)
        // Browsers keep the cookie back, and must not be given another in its place.
        let stranger = TestBrowser(browser.site)
        for path in ["/", "/sign-in", "/waiting"] {
            for site in ["cross-site", "same-site"] {
                let reply = try stranger.open(path, more: [("Sec-Fetch-Site", site)])
                #expect(reply.status == 200)
                #expect(reply.header("Set-Cookie") == nil)
                #expect(reply.header("Refresh") == "0; url=\(path)")
            }
        }
        #expect(try browser.isSignedIn)
    }

    @Test("can cancel what it began")
    func canceled() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.begin()
        let operation = try #require(try device.awaited().first)
        let cookie = browser.cookie
        #expect(try browser.post("/cancel").location == "/sign-in")
        #expect(try server.status(of: operation) == "CANCELED")
        #expect(try device.awaited().isEmpty)
        #expect(browser.cookie == nil)
        browser.cookie = cookie
        #expect(try browser.open("/waiting").location == "/")
        // The same for an account that does not exist.
        try browser.begin("nobody")
        #expect(try browser.post("/cancel").location == "/sign-in")
    }

    @Test("that begins again takes its earlier sign-in back, and ends its session")
    func again() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        for _ in 0..<4 {
            try browser.begin()
            #expect(try device.awaited().count == 1)
        }
        #expect(try server.audited("operation-cancelled", "ok") == 3)
        // Another browser's wait goes on.
        let other = TestBrowser(browser.site)
        try other.begin()
        #expect(try device.awaited().count == 2)
        try other.begin("nobody")
        try device.decide()
        #expect(try browser.open("/waiting").location == "/")
        try browser.open("/")
        let former = browser.cookie
        // The page has the token that a form for another sign-in needs.
        #expect(try browser.post("/sign-in", "account=alice").status == 303)
        #expect(try server.audited("revocation", "ok") == 1)
        try device.decide()
        try browser.open("/waiting")
        #expect(try browser.isSignedIn)
        browser.cookie = former
        #expect(try !browser.isSignedIn)
    }

    @Test("refreshes by itself until it is asked not to")
    func refresh() async throws {
        let (server, _) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        #expect(try browser.begin().header("Refresh") == "4")
        let still = try browser.open("/waiting?refresh=off")
        #expect(still.status == 200)
        #expect(still.header("Refresh") == nil)
    }

    @Test("is shown at most 50 operations and receipts, newest first")
    func many() async throws {
        let (server, device) = try await LiveServer.withSite()
        try server.makeTemplate()
        for number in 0..<52 {
            _ = try server.pay("\(number)")
            try device.decide(.reject)
        }
        let browser = TestBrowser(try SiteProcess(server))
        try browser.signIn(by: device)
        let list = browser.page.components(separatedBy: "id=\"receipts\"")
        #expect(list[0].components(separatedBy: "<dt>Asked</dt>").count == 51)
        #expect(list[1].components(separatedBy: "<dt>Outcome</dt>").count == 51)
        #expect(list[0].contains("pay 51 EUR\nto Bob") && !list[0].contains("pay 2 EUR"))
        #expect(list[0].contains("<bdi>operation</bdi>") && list[0].contains("<bdi>sign-in</bdi>"))
    }
}
