// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQL
import SQLSupport
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("At the server's own page")
struct SiteRefusalTests {
    @Test(
        "nobody is signed in without an approval, or by one that is late",
        arguments: Backend.allCases)
    func unapproved(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.begin()
        #expect(try await browser.open("/site/waiting").status == 200)
        #expect(try await !browser.isSignedIn)
        let operation = try await server.latestOperation()
        _ = try await server.decide(operation, by: device)
        server.time.pass(61)
        #expect(try await browser.open("/site/waiting").location == nil)
        #expect(browser.page.contains("This sign-in is over"))
        #expect(try await !browser.isSignedIn)
        #expect(try await server.rows("SELECT id FROM token_session").isEmpty)
        #expect(try await server.rows("SELECT hash FROM site_session").isEmpty)
    }

    @Test("an approval that is late is looked at once", arguments: Backend.allCases)
    func late(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.begin()
        _ = try await server.decide(try await server.latestOperation(), by: device)
        server.time.pass(61)
        try await browser.open("/site/waiting")
        #expect(browser.page.contains("This sign-in is over"))
        #expect(try await server.rows("SELECT hash FROM site_login").isEmpty)
        for _ in 0..<3 {
            #expect(try await browser.open("/site/waiting").location == "/site")
        }
        #expect(try await server.audited("operation-consumed", "conflict") == 1)
        // The person begins anew.
        try await browser.signIn(by: device)
    }

    @Test("late approvals looked at by many at once are so many, and one in time costs nothing")
    func lateAtOnce() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite, rate: 8)
        // Each begins by one of the address's eight, which is there again after 7.5 s.
        for _ in 0..<10 {
            try await TestBrowser(server).signIn(by: device)
            server.time.pass(8)
        }
        server.time.pass(60)
        let browser = TestBrowser(server)
        try await browser.begin()
        _ = try await server.decide(try await server.latestOperation(), by: device)
        server.time.pass(61)
        let asked = server.request("/site/waiting", [], cookie: browser.cookie)
        _ = try await server.race(200) { await $0.answer(asked).status == 200 }
        let refused = try await server.audited("operation-consumed", "conflict")
        #expect((1...8).contains(refused))
    }

    @Test("a rejection is not told, and ends with the time", arguments: Backend.allCases)
    func rejected(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.begin()
        let before = browser.page
        _ = try await server.decide(try await server.latestOperation(), .reject, by: device)
        try await browser.open("/site/waiting")
        #expect(browser.page == before)
        server.time.pass(300)
        try await browser.open("/site/waiting")
        #expect(browser.page.contains("This sign-in is over"))
        #expect(try await !browser.isSignedIn)
    }

    @Test(
        "one approval signs one browser in, once, of many that ask at once",
        arguments: Backend.allCases)
    func once(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let browser = TestBrowser(server)
        try await browser.begin()
        _ = try await server.decide(try await server.latestOperation(), by: device)
        let waiting = browser.cookie
        // Who only looks uses nothing up.
        #expect(try await browser.open("/site/waiting", "HEAD").status == 200)
        let asked = server.request("/site/waiting", [], cookie: waiting)
        let won = try await server.race(100) { server in
            let reply = await server.answer(asked)
            return reply.headers.contains { $0.name == "Set-Cookie" }
        }
        #expect(won == 1)
        #expect(try await server.rows("SELECT hash FROM site_session").count == 1)
        #expect(try await server.rows("SELECT id FROM token_session").count == 1)
    }

    @Test(
        "another's cookie, an altered one, or two of them are nobody's", arguments: Backend.allCases
    )
    func cookies(backend: Backend) async throws {
        let (server, device) = try await TestBrowser.server(backend)
        let (one, other) = (TestBrowser(server), TestBrowser(server))
        try await one.begin()
        try await other.begin("nobody")
        _ = try await server.decide(try await server.latestOperation(), by: device)
        // The approval is of the browser that began, and of no other.
        #expect(try await other.open("/site/waiting").status == 200)
        #expect(other.page.contains("Approve on your device"))
        let own = try #require(one.cookie)
        let second = try #require(other.cookie)
        let value = own.dropFirst("__Host-signet=".count)
        for cookie in [
            "\(own)A", String(own.dropLast()), "\(own); \(second)", "\(second); \(own)",
            "\(own); \(own)", "signet=\(value)", "__Host-Signet=\(value)", "__Host-signet=",
            "x=\(own)", own.uppercased(), "__Host-signet=\"\(value)\"", ";;;=;",
            "__Host-signet=\(String(repeating: "A", count: 7_000))",
        ] {
            one.cookie = cookie
            #expect(try await one.open("/site/waiting").location == "/site", "\(cookie)")
        }
        one.cookie = "theme=dark; \(own);other=1"
        #expect(try await one.open("/site/waiting").location == "/site")
        #expect(one.cookie?.hasPrefix("__Host-signet=sgb_") == true)
    }

    @Test("a form of another page, or of another browser, does nothing")
    func foreign() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.open("/site/sign-in")
        let token = try browser.token
        let stranger = TestBrowser(server)
        try await stranger.open("/site/sign-in")
        let strange = try stranger.token
        func post(_ token: String, origin: String?, _ site: String? = nil) async throws -> Int {
            browser.origin = origin
            return try await browser.post(
                "/site/sign-in", "account=alice", token: token,
                more: site.map { [("sec-fetch-site", $0)] } ?? []
            ).status
        }
        let own = "https://id.example.org"
        for origin in [
            nil, "null", "", "https://evil.example.org", "http://id.example.org", own + ":8443",
            own + ".evil.example", own + "/", "https://ID.example.org", own + ", " + own,
        ] {
            #expect(try await post(token, origin: origin) == 403, "\(origin ?? "none")")
        }
        for site in ["cross-site", "same-site", "none", ""] {
            #expect(try await post(token, origin: own, site) == 403, "\(site)")
        }
        for token in ["", strange, token + "A", String(token.dropLast()), token.lowercased()] {
            #expect(try await post(token, origin: own) == 403, "\(token)")
        }
        #expect(browser.page.contains("This form is not taken"))
        #expect(try await server.rows("SELECT id FROM operation").isEmpty)
        #expect(try await post(token, origin: own, "same-origin") == 303)
        // Nor is anybody signed out, or a sign-in cancelled.
        let victim = TestBrowser(server)
        try await victim.begin("nobody")
        #expect(try await victim.post("/site/cancel", token: strange).status == 403)
        #expect(try await victim.open("/site/waiting").status == 200)
        _ = try await server.decide(try await server.latestOperation(), by: device)
        try await browser.open("/site/waiting")
        try await browser.open("/site")
        browser.origin = "https://evil.example.org"
        #expect(try await browser.post("/site/sign-out").status == 403)
        #expect(try await browser.isSignedIn)
    }

    @Test("what is no form, or too long, is refused by a page")
    func malformed() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.open("/site/sign-in")
        let token = try browser.token
        func post(_ fields: String, _ type: String? = nil) async throws -> Int {
            try await browser.post(
                "/site/sign-in", fields, token: token,
                type: type ?? "application/x-www-form-urlencoded; charset=UTF-8"
            ).status
        }
        for type in ["application/json", "text/plain", "multipart/form-data; boundary=x", ""] {
            #expect(try await post("account=alice", type) == 415, "\(type)")
        }
        #expect(try await post("account=\(String(repeating: "a", count: 3_000))") == 413)
        for fields in [
            "account=a&account=b", "token=x", "account=%", "account=%4", "account=%zz",
            "account=%00", "account=%ff", "account=a b", "a&b&c&d&e&f&g&h&i",
        ] {
            #expect(try await post(fields) == 400, "\(fields)")
        }
        #expect(browser.page.contains("This form cannot be read"))
        // A name that is none is said beside its field, and shown as it was.
        for name in ["", "+", "a%0d%0aSet-Cookie:+x=y", "a%09", String(repeating: "a", count: 129)]
        {
            let cookie = browser.cookie
            #expect(try await post("account=\(name)") == 400, "\(name)")
            #expect(browser.page.contains(#"aria-describedby="account-complaint""#))
            #expect(browser.cookie == cookie)
        }
        #expect(try await server.rows("SELECT id FROM operation").isEmpty)
        #expect(try await post("account=+alice+") == 303)
        #expect(try await server.rows("SELECT id FROM operation").count == 1)
    }

    @Test("it looks the same whether there is such an account, a blocked one, or one too busy")
    func unknown() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite)
        let blocked = try TestDevice(id: 0xd2)
        blocked.account = "blocked"
        try await server.register(blocked)
        try await server.change("UPDATE account SET blocked = 1 WHERE name = 'blocked'")
        var looks: Set<String> = []
        // Two of one network wait for alice, and no more.
        for name in ["nobody", "blocked"] + [String](repeating: "alice", count: 6) {
            let browser = TestBrowser(server)
            try await browser.open("/site/sign-in")
            let asked = ContinuousClock.now
            let begun = try await browser.post("/site/sign-in", "account=\(name)")
            #expect(asked.duration(to: .now) >= .milliseconds(100))
            let waiting = try await browser.open("/site/waiting")
            let shown = try browser.shown
            #expect(shown.contains(#/from 192.0.2.7\nthe page shows [A-Z2-9]{3}-[A-Z2-9]{3}$/#))
            let page = browser.page.replacing(shown, with: "").replacing(
                try browser.token, with: "")
            looks.insert(
                "\(begun.status) \(begun.headers.map(\.name)) \(browser.cookie?.count ?? 0) "
                    + "\(waiting.status) \(waiting.headers.map(\.name)) \(page)")
        }
        #expect(looks.count == 1)
        #expect(try await server.rows("SELECT id FROM operation").count == 2)
        #expect(try await server.rows("SELECT hash FROM site_login").count == 8)
        #expect(try await server.audited("operation-created", "not-found") == 1)
        #expect(try await server.audited("operation-created", "conflict") == 5)
        #expect(try await server.audited("operation-created", "ok") == 2)
    }

    @Test("tries of one address are limited, and come back with time")
    func limited() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite, rate: 3)
        let browser = TestBrowser(server)
        func sign() async throws -> Reply {
            try await browser.open("/site/sign-in")
            return try await browser.post("/site/sign-in", "account=nobody")
        }
        for _ in 0..<3 { #expect(try await sign().status == 303) }
        let refused = try await sign()
        #expect(refused.status == 429)
        #expect(refused.header("Retry-After") == "21")
        #expect(browser.page.contains("Wait 21 seconds"))
        #expect(try await server.audited("operation-created", "not-found") == 3)
        server.time.pass(20)
        #expect(try await sign().status == 303)
    }

    @Test("names are shown, and do nothing", arguments: Backend.allCases)
    func escaped(backend: Backend) async throws {
        let (server, _) = try await TestBrowser.server(backend)
        let names = [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='x",
            "&lt;b&gt;", "ali\u{202e}ecila", "a\u{200b}\u{feff}b", "</title><h1>",
            String(repeating: "é", count: 64),
        ]
        for (number, name) in names.enumerated() {
            let device = try TestDevice(id: UInt8(number))
            device.account = name
            try await server.register(device)
            let browser = TestBrowser(server)
            try await browser.open("/site/sign-in")
            let escaped = name.utf8.map { "%" + hexadecimal([$0]) }.joined()
            #expect(try await browser.post("/site/sign-in", "account=\(escaped)").status == 303)
            _ = try await server.decide(try await server.latestOperation(), by: device)
            try await browser.open("/site/waiting")
            #expect(try await browser.isSignedIn)
            for markup in ["<script", "<img", "onerror=alert(1)>", "' onf", "\u{202e}", "\u{200b}"]
            {
                #expect(!browser.page.contains(markup), "\(name)")
            }
            #expect(browser.page.components(separatedBy: "<h1>").count == 2)
        }
        let browser = TestBrowser(server)
        try await browser.open("/site/sign-in")
        let long = "%22%3E%3Cb%3E" + String(repeating: "a", count: 200)
        #expect(try await browser.post("/site/sign-in", "account=\(long)").status == 400)
        #expect(browser.page.contains("value=\"&quot;&gt;&lt;b&gt;aaa"))
    }

    @Test("every answer is kept by nobody, framed by nobody, and runs nothing")
    func headers() async throws {
        let (server, device) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await browser.signIn(by: device)
        var replies = [try await browser.post("/site/sign-in", token: "x")]
        for path in SiteRoutes.all.map(\.path) + ["/site/", "/site/nothing", "/site/../v1"] {
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
                replies.append(try await TestBrowser(server).open(path, method))
            }
        }
        for reply in replies {
            #expect(reply.status < 500)
            let policy = try #require(reply.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; form-action 'self'; "))
            #expect(policy.contains("frame-ancestors 'none'; base-uri 'none'"))
            #expect(reply.header("X-Content-Type-Options") == "nosniff")
            #expect(reply.header("Referrer-Policy") == "same-origin")
            let isKept = reply.header("Cache-Control") == "max-age=300"
            #expect(isKept || reply.header("Cache-Control") == "no-store")
            #expect(!isKept || reply.header("Content-Type") == "text/css; charset=utf-8")
            let text = String(decoding: reply.bytes, as: UTF8.self)
            #expect(!text.contains("<script") && !text.contains("style="))
        }
    }

    @Test("other methods are refused by a page, and so is what is not there")
    func methods() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        let home = try await browser.open("/site", "POST")
        #expect(home.status == 405 && home.header("Allow") == "GET, HEAD")
        #expect(browser.page.contains("<h1>This page is not used in this way</h1>"))
        let both = try await browser.open("/site/sign-in", "DELETE")
        #expect(both.status == 405 && both.header("Allow") == "GET, HEAD, POST")
        let out = try await browser.open("/site/sign-out")
        #expect(out.status == 405 && out.header("Allow") == "POST")
        #expect(try await browser.open("/site/else").status == 404)
        #expect(browser.page.contains("There is no such page"))
        #expect(try await server.send("GET", "/v1/else").code == "not-found")
        #expect(try await browser.open("/sitemap.xml").status == 404)
    }

    @Test("there is nothing where there is no site", arguments: Backend.allCases)
    func off(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for path in ["/", "/site", "/site/", "/site/else"] + SiteRoutes.all.map(\.path) {
            for method in ["GET", "HEAD", "POST"] {
                let reply = try await server.send(method, path)
                #expect(reply.status == 404 && reply.code == "not-found", "\(method) \(path)")
                #expect(reply.header("Set-Cookie") == nil)
            }
        }
    }

    @Test("'not now' is said where the template is gone, of whichever account")
    func templateGone() async throws {
        let (server, _) = try await TestBrowser.server(.sqlite)
        let browser = TestBrowser(server)
        try await server.change("DELETE FROM template")
        for name in ["alice", "nobody"] {
            try await browser.open("/site/sign-in")
            let reply = try await browser.post("/site/sign-in", "account=\(name)")
            #expect(reply.status == 503)
            #expect(browser.page.contains("<h1>Not now</h1>"))
        }
    }
}
