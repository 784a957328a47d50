// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

@testable import Site

@Suite("At the site")
struct RefusalTests {
    @Test("no browser is signed in without an approval, or by one that came too late")
    func unapproved() async throws {
        let (server, device) = try await LiveServer.withSite(seconds: 10)
        let browser = TestBrowser(try SiteProcess(server))
        try browser.begin()
        #expect(try browser.open("/waiting").status == 200)
        #expect(try !browser.isSignedIn)
        let operation = try #require(try device.awaited().first)
        // The passing of time is the only event to wait for.
        try await Task.sleep(for: .seconds(10.5))
        #expect(try device.decide(operation)["status"] as? Int == 409)
        #expect(try browser.open("/waiting").location == nil)
        #expect(browser.page.contains("This sign-in has ended"))
        #expect(try !browser.isSignedIn)
    }

    @Test("an approval that can no longer be confirmed ends the sign-in")
    func revoked() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.begin()
        try device.decide()
        try server.ask("POST", "/v1/registrations/\(device.registration)/block", [:])
        try browser.open("/waiting")
        #expect(browser.page.contains("This sign-in has ended"))
        for _ in 0..<3 { #expect(try browser.open("/waiting").location == "/") }
        #expect(try !browser.isSignedIn)
    }

    @Test("a rejection is not revealed")
    func rejected() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.begin()
        func page() -> String { browser.page.replacing(#/Time left: [^,]*,/#, with: "") }
        let before = page()
        try device.decide(.reject)
        try browser.open("/waiting")
        #expect(page() == before)
        #expect(try !browser.isSignedIn)
    }

    @Test("one approval signs one browser in, once, of many that ask at once")
    func once() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        let browser = TestBrowser(site)
        try browser.begin()
        try device.decide()
        let cookie = try #require(browser.cookie)
        // Who only looks uses nothing up.
        #expect(try browser.open("/waiting", "HEAD").status == 200)
        let won = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try site.send("GET", "/waiting", [("Cookie", cookie)], nil, from: "192.0.2.7")
                        .header("Set-Cookie") != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(won == 1)
        #expect(try server.audited("operation-consumed", "ok") == 1)
    }

    @Test("a stolen or altered cookie, or two of them, sign no one in")
    func cookies() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        let (one, other) = (TestBrowser(site), TestBrowser(site))
        try one.begin()
        try other.begin("nobody")
        try device.decide()
        // The approval is of the browser that began, and of no other.
        #expect(try other.open("/waiting").status == 200)
        #expect(other.page.contains("Approve on your device"))
        let own = try #require(one.cookie)
        let second = try #require(other.cookie)
        let value = own.dropFirst("__Host-signet=".count)
        for cookie in [
            "\(own)A", String(own.dropLast()), "\(own); \(second)", "\(second); \(own)",
            "\(own); \(own)", "signet=\(value)", "__Host-Signet=\(value)", "__Host-signet=",
            "x=\(own)", own.uppercased(), "__Host-signet=\"\(value)\"", ";;;=;",
            "__Host-signet=\(String(repeating: "A", count: 2_000))",
            "__Host-signet=\(String(repeating: "A", count: 43))",
        ] {
            one.cookie = cookie
            #expect(try one.open("/waiting").location == "/", "\(cookie)")
        }
        one.cookie = "theme=dark; \(own);other=1"
        #expect(try one.open("/waiting").location == "/")
        let signedIn = try #require(one.cookie)
        // What the thief of the earlier cookie has is worth nothing now.
        let thief = TestBrowser(site)
        thief.cookie = own
        #expect(try !thief.isSignedIn)
        // And what was stolen afterwards, nothing once its owner has signed out.
        thief.cookie = signedIn
        #expect(try thief.isSignedIn)
        try one.open("/")
        try one.post("/sign-out")
        #expect(try !thief.isSignedIn)
    }

    @Test("another person's device approves nothing, and another's records are not shown")
    func anotherPerson() async throws {
        let (server, device) = try await LiveServer.withSite()
        let bob = try SiteDevice.registered(for: "bob", at: server)
        let site = try SiteProcess(server)
        let browser = TestBrowser(site)
        try browser.begin("alice")
        let operation = try #require(try device.awaited().first)
        #expect(try bob.awaited().isEmpty)
        let refused = try bob.decide(operation, shownTo: device)
        #expect(refused["status"] as? Int == 401)
        #expect(try browser.open("/waiting").status == 200)
        #expect(try !browser.isSignedIn)
        try browser.post("/cancel", token: try tokenOfWaitingPage(browser))
        // Bob, signed in, sees what is Bob's.
        try server.makeTemplate()
        _ = try server.pay("77", account: "alice")
        let own = TestBrowser(site)
        try own.signIn(by: bob)
        #expect(own.page.contains(bob.name) && !own.page.contains(device.name))
        #expect(!own.page.contains("pay 77 EUR") && !own.page.contains("alice"))
    }

    private func tokenOfWaitingPage(_ browser: TestBrowser) throws -> String {
        try browser.open("/waiting")
        return try browser.token
    }

    @Test("a form of another page, or of another browser, does nothing")
    func foreign() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server, site: "rate = 1000")
        let browser = TestBrowser(site)
        try browser.open("/sign-in")
        let token = try browser.token
        let stranger = TestBrowser(site)
        try stranger.open("/sign-in")
        let strange = try stranger.token
        func post(_ token: String, origin: String?, _ from: String? = nil) throws -> Int {
            browser.origin = origin
            return try browser.post(
                "/sign-in", "account=alice", token: token,
                more: from.map { [("Sec-Fetch-Site", $0)] } ?? []
            ).status
        }
        let own = SiteProcess.url
        for origin in [
            nil, "null", "", "https://evil.example.org", "http://shop.example.org", own + ":8443",
            own + ".evil.example", own + "/", "https://SHOP.example.org", own + ", " + own,
        ] {
            #expect(try post(token, origin: origin) == 403, "\(origin ?? "none")")
        }
        for from in ["cross-site", "same-site", "none", ""] {
            #expect(try post(token, origin: own, from) == 403, "\(from)")
        }
        for token in ["", strange, token + "A", String(token.dropLast()), token.lowercased()] {
            #expect(try post(token, origin: own) == 403, "\(token)")
        }
        #expect(browser.page.contains("This form is not accepted"))
        #expect(try device.awaited().isEmpty)
        #expect(try post(token, origin: own, "same-origin") == 303)
        // Nor is any user signed out, or a sign-in cancelled.
        let victim = TestBrowser(site)
        try victim.begin("nobody")
        #expect(try victim.post("/cancel", token: strange).status == 403)
        #expect(try victim.open("/waiting").status == 200)
        try device.decide()
        try browser.open("/waiting")
        try browser.open("/")
        browser.origin = "https://evil.example.org"
        #expect(try browser.post("/sign-out").status == 403)
        #expect(try browser.isSignedIn)
    }

    @Test("a form that is sent again after its step does nothing")
    func replayed() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.open("/sign-in")
        let first = try browser.token
        #expect(try browser.post("/sign-in", "account=alice", token: first).status == 303)
        // The cookie is another now, and with it the token.
        #expect(try browser.post("/sign-in", "account=alice", token: first).status == 403)
        let waiting = try tokenOfWaitingPage(browser)
        try device.decide()
        try browser.open("/waiting")
        for token in [first, waiting] {
            #expect(try browser.post("/sign-out", token: token).status == 403)
            #expect(try browser.post("/cancel", token: token).status == 403)
        }
        #expect(try browser.isSignedIn)
        let home = try browser.token
        let cookie = browser.cookie
        try browser.post("/sign-out", token: home)
        browser.cookie = cookie
        // Of a browser that is signed out already, it ends nothing.
        #expect(try browser.post("/sign-out", token: home).location == "/signed-out")
        #expect(try server.audited("revocation", "ok") == 1)
    }

    @Test("an invalid or oversized form is refused by a page")
    func malformed() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server, site: "rate = 1000"))
        try browser.open("/sign-in")
        let token = try browser.token
        func post(_ fields: String, _ type: String? = nil) throws -> Int {
            try browser.post(
                "/sign-in", fields, token: token,
                type: type ?? "application/x-www-form-urlencoded; charset=UTF-8"
            ).status
        }
        for type in ["application/json", "text/plain", "multipart/form-data; boundary=x", ""] {
            #expect(try post("account=alice", type) == 415, "\(type)")
        }
        #expect(try post("account=\(String(repeating: "a", count: 3_000))") == 413)
        for fields in [
            "account=a&account=b", "token=x", "account=%", "account=%4", "account=%zz",
            "account=%00", "account=%ff", "account=a b", "a&b&c&d&e&f&g&h&i",
        ] {
            #expect(try post(fields) == 400, "\(fields)")
        }
        #expect(browser.page.contains("This form cannot be read"))
        // A name that is none is said beside its field, and shown as it was.
        for name in ["", "+", "a%0d%0aSet-Cookie:+x=y", "a%09", String(repeating: "a", count: 129)]
        {
            let cookie = browser.cookie
            #expect(try post("account=\(name)") == 400, "\(name)")
            #expect(browser.page.contains(#"aria-describedby="account-complaint""#))
            #expect(browser.cookie == cookie)
        }
        #expect(try device.awaited().isEmpty)
        #expect(try post("account=+alice+") == 303)
        #expect(try device.awaited().count == 1)
    }

    @Test("an existing account, an unknown one, a blocked one and one too busy look alike")
    func unknown() async throws {
        let (server, device) = try await LiveServer.withSite()
        _ = try SiteDevice.registered(for: "blocked", at: server)
        try server.administer("account", "block", "shop", "blocked")
        let site = try SiteProcess(server, site: "rate = 1000")
        var looks: Set<String> = []
        // Two of one network wait for alice, and no more.
        for name in ["nobody", "blocked"] + [String](repeating: "alice", count: 4) {
            let browser = TestBrowser(site)
            try browser.open("/sign-in")
            let asked = ContinuousClock.now
            let begun = try browser.post("/sign-in", "account=\(name)")
            #expect(asked.duration(to: .now) >= .milliseconds(100))
            let waiting = try browser.open("/waiting")
            let shown = try browser.shown
            #expect(shown.contains(#/from 192\.0\.2\.7\nthe page shows [A-Z2-9]{3}-[A-Z2-9]{3}$/#))
            let page = browser.page.replacing(shown, with: "")
                .replacing(try browser.token, with: "").replacing(#/Time left: .*/#, with: "")
            looks.insert(
                "\(begun.status) \(begun.headers.map(\.name)) \(browser.cookie?.count ?? 0) "
                    + "\(waiting.status) \(waiting.headers.map(\.name)) \(page)")
        }
        #expect(looks.count == 1, "\(looks)")
        #expect(try device.awaited().count == 2)
        // Another network has a place of its own.
        let far = TestBrowser(site)
        far.peer = "198.51.100.1"
        try far.begin()
        #expect(try device.awaited().count == 3)
    }

    @Test("tries of one address are limited, and those of another are not")
    func limited() async throws {
        let (server, _) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server, site: "rate = 3"))
        func sign() throws -> HTTPAnswer {
            try browser.open("/sign-in")
            return try browser.post("/sign-in", "account=nobody")
        }
        for _ in 0..<3 { #expect(try sign().status == 303) }
        let refused = try sign()
        #expect(refused.status == 429)
        let seconds = try #require(refused.header("Retry-After"))
        #expect((1...21).contains(Int(seconds) ?? 0))
        #expect(browser.page.contains("Wait \(seconds) seconds"))
        browser.peer = "198.51.100.1"
        #expect(try sign().status == 303)
        // The proxy's word counts, and nothing that stands before it.
        browser.peer = "203.0.113.9, 192.0.2.7"
        #expect(try sign().status == 429)
        // Where the proxy names no address, nothing is begun.
        browser.peer = "unknown"
        #expect(try sign().status == 503)
    }

    @Test("names are shown, and do nothing")
    func escaped() async throws {
        let (server, _) = try await LiveServer.withSite()
        let site = try SiteProcess(server, site: "rate = 1000")
        let names = [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='x",
            "&lt;b&gt;", "ali\u{202e}ecila", "a\u{200b}\u{feff}b", "</title><h1>", "a/b%2f?c#d",
            String(repeating: "é", count: 64),
        ]
        for name in names {
            let device = try SiteDevice.registered(for: name, at: server)
            let browser = TestBrowser(site)
            try browser.open("/sign-in")
            let escaped = name.utf8.map { String(format: "%%%02x", $0) }.joined()
            #expect(try browser.post("/sign-in", "account=\(escaped)").status == 303)
            try device.decide()
            try browser.open("/waiting")
            #expect(try browser.isSignedIn)
            // It has the right account's records.
            #expect(browser.page.contains(device.name))
            for markup in ["<script", "<img", "onerror=alert(1)>", "' onf", "\u{202e}", "\u{200b}"]
            {
                #expect(!browser.page.contains(markup), "\(name)")
            }
            #expect(browser.page.components(separatedBy: "<h1>").count == 2)
        }
        let browser = TestBrowser(site)
        try browser.open("/sign-in")
        let long = "%22%3E%3Cb%3E" + String(repeating: "a", count: 200)
        #expect(try browser.post("/sign-in", "account=\(long)").status == 400)
        #expect(browser.page.contains("value=\"&quot;&gt;&lt;b&gt;aaa"))
    }

    @Test("no answer is cached or framed, and none runs a script")
    func headers() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        let browser = TestBrowser(site)
        try browser.signIn(by: device)
        var replies = [try browser.open("/"), try browser.post("/sign-in", token: "x")]
        for path in Routes.all.map(\.path) + ["/nothing", "/waiting/", "/../v1"] {
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
                replies.append(try TestBrowser(site).open(path, method))
            }
        }
        // Also where the HTTP server itself refuses.
        replies.append(
            try site.send(
                "POST", "/sign-in", [], String(repeating: "a", count: 10_000), from: "192.0.2.7"))
        #expect(replies.last?.status == 413)
        for reply in replies {
            #expect(reply.status < 500)
            let policy = try #require(reply.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; form-action 'self'; "))
            #expect(policy.contains("frame-ancestors 'none'; base-uri 'none'"))
            #expect(reply.header("X-Content-Type-Options") == "nosniff")
            #expect(reply.header("X-Frame-Options") == "DENY")
            #expect(reply.header("Referrer-Policy") == "same-origin")
            let isKept = reply.header("Cache-Control") == "max-age=300"
            #expect(isKept || reply.header("Cache-Control") == "no-store")
            #expect(!isKept || reply.header("Content-Type") == "text/css; charset=utf-8")
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(!text.contains("<script") && !text.contains("style="))
        }
    }

    @Test("other methods are refused by a page, and so is what is not there")
    func methods() async throws {
        let (server, _) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        let home = try browser.open("/", "POST")
        #expect(home.status == 405 && home.header("Allow") == "GET, HEAD")
        #expect(browser.page.contains("<h1>This page cannot be used in this way</h1>"))
        let both = try browser.open("/sign-in", "DELETE")
        #expect(both.status == 405 && both.header("Allow") == "GET, HEAD, POST")
        let out = try browser.open("/sign-out")
        #expect(out.status == 405 && out.header("Allow") == "POST")
        #expect(try browser.open("/else").status == 404)
        #expect(browser.page.contains("This page does not exist"))
    }
}
