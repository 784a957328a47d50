// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelyingPartySupport
import TestSupport
import Testing

@Suite("The start of the site")
struct StartTests {
    private func start(_ arguments: [String]) throws -> Outcome {
        try Program(Command([SiteProcess.program] + arguments)).expectEnd()
    }

    @Test("requires one absolute path, and shows its usage")
    func usage() throws {
        for arguments in [[], ["site.conf"], ["/a", "/b"], ["--help"]] {
            let outcome = try start(arguments)
            #expect(outcome.ending == .exited(2), "\(arguments)")
            #expect(outcome.errors.hasPrefix("usage: signet-site FILE"))
        }
    }

    @Test("is refused with settings that cannot work, and says what is wrong")
    func settings() async throws {
        let server = try await LiveServer.start()
        let scratch = try Scratch()
        try scratch.write("key", server.apiKey)
        try scratch.write("open", server.apiKey, mode: 0o644)
        func refusal(
            url: String = SiteProcess.url, site: String = "", settings: String = "",
            key: String = "key"
        ) throws -> String {
            try scratch.write(
                "site.conf",
                SiteProcess.configuration(
                    server, url: url, site: site, settings: settings, key: scratch.at(key)))
            let outcome = try start([scratch.at("site.conf")])
            #expect(outcome.ending == .exited(1))
            #expect(outcome.errors.hasPrefix("signet-site: cannot start: "))
            #expect(!outcome.errors.contains(server.apiKey))
            return outcome.errors
        }
        for url in ["https://shop.example.org/site", "http://shop.example.org", "shop"] {
            #expect(try refusal(url: url).contains("site.url is '\(url)'"))
        }
        #expect(try refusal(site: "address = 0.0.0.0").contains("plain HTTP is refused"))
        #expect(try refusal(site: "certificate = /c").contains("set both or neither"))
        #expect(try refusal(site: "colour = red").contains("site.conf:4"))
        #expect(try refusal(site: "port = 70000").contains("site.conf:4"))
        let plain = "url = http://id.example.org"
        #expect(try refusal(settings: plain).contains("server.url is 'http://id.example.org'"))
        // A key that others can read, or that is not there.
        #expect(try refusal(key: "open").contains(scratch.at("open")))
        #expect(try refusal(key: "none").contains(scratch.at("none")))
        #expect(try start([scratch.at("nowhere")]).errors.contains(scratch.at("nowhere")))
    }

    @Test("reads the example that is documented")
    func example() async throws {
        let server = try await LiveServer.start()
        let scratch = try Scratch()
        try scratch.write("key", server.apiKey)
        let text = String(
            decoding: try Layout.read("\(Layout.package)/Examples/site.conf"), as: UTF8.self
        ).replacing("port = 8080", with: "port = 0")
            .replacing("/etc/signet/site.key", with: scratch.at("key"))
        try scratch.write("site.conf", text)
        let program = try Program(Command([SiteProcess.program, scratch.at("site.conf")]))
        try program.expectError("serving on port ")
        program.signal(SIGTERM)
        #expect(try program.expectEnd().ending == .exited(0))
    }
}
