// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPClient
import RelyingPartySupport
import TestSupport
import Testing

@Suite("The site without a server that answers")
struct UnavailableTests {
    /// The page says so, and nothing of the reason.
    private func expectNotNow(_ browser: TestBrowser, _ reply: HTTPAnswer) {
        #expect(reply.status == 503)
        #expect(reply.header("Retry-After") == "5")
        #expect(reply.header("Set-Cookie") == nil)
        #expect(browser.page.contains("<h1>Not now</h1>"))
        for word in ["127.0.0.1", "server can't", "curl", "Fault", "refuse", "swift", "api-key"] {
            #expect(!browser.page.contains(word), "\(word)")
        }
    }

    @Test("says so, and continues where it was when the server answers again")
    func down() async throws {
        let (server, device) = try await LiveServer.withSite()
        let site = try SiteProcess(server)
        let (signedIn, waiting) = (TestBrowser(site), TestBrowser(site))
        try signedIn.signIn(by: device)
        try waiting.begin()
        let token = try waiting.token
        let cookies = [signedIn.cookie, waiting.cookie]
        // It takes connections, and answers none.
        server.program.suspend()
        expectNotNow(signedIn, try signedIn.open("/"))
        expectNotNow(waiting, try waiting.open("/waiting"))
        expectNotNow(waiting, try waiting.post("/cancel", token: token))
        let other = TestBrowser(site)
        try other.open("/sign-in")
        expectNotNow(other, try other.post("/sign-in", "account=alice"))
        server.program.signal(SIGCONT)
        #expect([signedIn.cookie, waiting.cookie] == cookies)
        #expect(try signedIn.isSignedIn)
        #expect(try waiting.open("/waiting").status == 200)
        // The administrator is told why.
        try site.process.expectError("signet-site: the server")
    }

    @Test("can still sign out")
    func signOut() async throws {
        let (server, device) = try await LiveServer.withSite()
        let browser = TestBrowser(try SiteProcess(server))
        try browser.signIn(by: device)
        let cookie = browser.cookie
        server.program.signal(SIGTERM)
        _ = try server.program.expectEnd()
        #expect(try browser.post("/sign-out").location == "/signed-out")
        #expect(browser.cookie == nil)
        browser.cookie = cookie
        #expect(try !browser.isSignedIn)
        try browser.open("/sign-in")
        expectNotNow(browser, try browser.post("/sign-in", "account=alice"))
    }

    @Test("says so for whichever account, where key or template are not good")
    func misconfigured() async throws {
        let (server, _) = try await LiveServer.withSite()
        let wrong = "sgk_" + String(repeating: "A", count: 43)
        for (site, reason) in [
            (try SiteProcess(server, key: wrong), "the API key is refused"),
            (try SiteProcess(server, settings: "template = none"), "404 not-found"),
        ] {
            let browser = TestBrowser(site)
            for account in ["alice", "nobody"] {
                try browser.open("/sign-in")
                expectNotNow(browser, try browser.post("/sign-in", "account=\(account)"))
            }
            try site.process.expectError(reason)
        }
    }
}
