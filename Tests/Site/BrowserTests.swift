// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelyingPartySupport
import TestSupport
import Testing

@Suite("The site in Chromium")
struct BrowserTests {
    private static let account = "alice <b>&amp;"

    @Test("is used, read and left as it should be, over HTTPS")
    func secure() async throws {
        let scratch = try Scratch()
        try scratch.makeCertificate("site")
        let site = """
            certificate = \(scratch.at("site.pem"))
            key = \(scratch.at("site.key"))
            """
        #expect(try await use(site, scratch, url: "https://shop.example.org") == "__Host-signet")
    }

    @Test("is used, read and left as it should be, over plain HTTP of this machine")
    func plain() async throws {
        #expect(try await use("", try Scratch(), url: "http://localhost") == "signet")
    }

    /// Has a person in Chromium go the whole way; gives the cookie's name.
    private func use(_ settings: String, _ scratch: Scratch, url: String) async throws -> String {
        let (server, _) = try await LiveServer.withSite()
        let device = try SiteDevice.registered(for: Self.account, at: server)
        // A browser that comes directly is its own address.
        let site = try SiteProcess(
            server, url: url, site: settings, scratch: scratch, isBehindProxy: false)
        let script = "\(Layout.package)/Tests/Site/Fixtures/browser.py"
        let browser = try Program(
            Command(["/usr/bin/python3", script, url, "\(site.port)", Self.account]))
        do {
            try browser.expect("shown: ", within: .seconds(120))
            let data = try device.text(of: try #require(try device.awaited().first))
            #expect(data.hasPrefix("sign in from 127.0.0.1\n"))
            try device.decide()
            let outcome = try browser.expectEnd(within: .seconds(120))
            #expect(outcome.succeeded, "\(outcome.output)\n\(outcome.errors)")
            #expect(try said("shown", outcome) == data)
            let seen = try said("seen", outcome)
            for text in [
                Self.account, device.name, "approved by it", "approved sign-in",
                try #require(device.fingerprint),
            ] { #expect(seen.contains(text), "\(text)") }
            try site.process.expectError("path=/waiting status=303 outcome=ok")
            #expect(!site.process.errors.contains("status=404"))
            #expect(try site.stop().ending == .exited(0))
            return try said("cookie", outcome)
        } catch {
            throw TestFault.closed(
                awaited: "a browser that is content",
                transcript: "\(error)\n\(site.process.errors)\n\(browser.errors)")
        }
    }

    /// What the script said of something.
    private func said(_ what: String, _ outcome: Outcome) throws -> String {
        let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("\(what): ") }
        let json = Data((line ?? "").dropFirst(what.count + 2).utf8)
        let text = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
        return try #require(text as? String)
    }
}
