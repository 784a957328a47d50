// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The start of a server with a page for browsers")
struct SiteStartTests {
    /// What a start, and `check-config` before it, say.
    private struct Refusals {
        let start: String
        let check: String
    }

    private func refusals(_ home: ServerHome, _ settings: String) throws -> Refusals {
        let configuration = try home.configuration("[site]\nenabled = on\n\(settings)")
        let program = ServerProcess.program
        let check = try Program(
            Command([program, "admin", "--config", configuration, "check-config"])
        ).expectEnd(within: .seconds(30))
        let start = try Program(Command([program, "--config", configuration]))
            .expectEnd(within: .seconds(30))
        #expect(start.ending == .exited(1), "\(settings)")
        return Refusals(start: start.errors, check: check.errors)
    }

    @Test("is refused where the settings alone are wrong, and check-config says so before")
    func settings() throws {
        let home = try ServerHome(.sqlite)
        let nameless = try refusals(home, "")
        for said in [nameless.start, nameless.check] {
            #expect(said.contains("site.application is not set"))
        }
        let url = "https://id.example.org/signet"
        let said = try refusals(try ServerHome(.sqlite, url: url), "application = shop")
        for said in [said.start, said.check] {
            #expect(said.contains("server.url is '\(url)', where no browser can sign in"))
        }
    }

    @Test(
        "is refused where application or template are missing, or are not for this",
        arguments: Backend.allCases)
    func subject(backend: Backend) throws {
        let home = try ServerHome(backend)
        try ServerProcess(home).stop()
        func said(_ settings: String) throws -> String {
            let said = try refusals(home, settings)
            // The database is not looked at by who only checks the settings.
            #expect(said.check.isEmpty)
            return said.start
        }
        #expect(try said("application = bank").contains("there is no application 'bank'"))
        #expect(try said("application = shop").contains("'shop' has no template 'sign-in'"))
        for (name, text, options) in [
            ("payment", "{code}", []),
            ("bound", "{code}", ["--purpose", "login", "--device", "one"]),
            ("codeless", "from {address}", ["--purpose", "login"]),
            ("wide", "{code} {amount}", ["--purpose", "login"]),
        ] {
            let made = try Program(
                Command(
                    [ServerProcess.program, "admin", "--config", try home.configuration()]
                        + ["template", "add", "shop", name, text] + options)
            ).expectEnd(within: .seconds(30))
            #expect(made.succeeded, "\(made.errors)")
        }
        func refusal(_ template: String) throws -> String {
            try said("application = shop\ntemplate = \(template)")
        }
        #expect(try refusal("payment").contains("is not for logins"))
        #expect(try refusal("bound").contains("wants a device to be named"))
        for template in ["codeless", "wide"] {
            #expect(try refusal(template).contains("must show {code}, may show {address}"))
        }
    }

    @Test("has no page where nothing is said of one")
    func off() async throws {
        let server = try ServerProcess(try ServerHome(.sqlite))
        for path in ["/", "/site", "/site/sign-in", "/site/style.css"] {
            #expect(try await server.send("GET", path).code == "not-found", "\(path)")
        }
        try server.stop()
    }
}
