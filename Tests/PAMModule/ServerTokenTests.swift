// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// The token that comes with a server's yes.
extension ServerLoginTests {
    @Test("a token is put into the environment if the file says so, and only after an approval")
    func token() throws {
        try write("token = environment")
        func lines(
            _ token: String, _ change: (inout Verdict) -> Void = { _ in }
        ) throws -> [String] {
            try self.lines { request in
                #expect(request.server?.token == .answer)
                var verdict = verdict(for: request)
                change(&verdict)
                return try proof(for: request, self.lines(), verdict, token: token)
            }
        }
        let told = try lines("eyJ.a-b_c.d")
        #expect(told.contains("info SIGNET_TOKEN=eyJ.a-b_c.d") && told.contains("auth 0"))
        let denied = try lines("eyJ.a.b") { $0.decision = .deny }
        #expect(denied.contains("auth \(ModuleFixture.Code.authError)"))
        #expect(!denied.contains { $0.contains("SIGNET_TOKEN") })
        for token in ["a\nLD_PRELOAD=/x", "a b", "a\u{7f}", "\u{e9}"] {
            let told = try lines(token)
            #expect(told.contains("auth \(ModuleFixture.Code.authError)"))
            #expect(!told.contains { $0.contains("SIGNET_TOKEN") || $0.contains("LD_PRELOAD") })
        }
        // Nobody asked for this one.
        try write()
        let unasked = try self.lines { request in
            try proof(for: request, self.lines(), verdict(for: request), token: "eyJ.a.b")
        }
        #expect(unasked.contains("auth 0"))
        #expect(!unasked.contains { $0.contains("SIGNET_TOKEN") })
        #expect(!fixture.host.journal.entries.contains { $0.message.contains("eyJ") })
    }

    @Test("a token's file is named where the daemon has written it")
    func tokenFile() throws {
        try write("token = file")
        for hasFile in [true, false] {
            let told = try lines { request in
                #expect(request.server?.token == .file)
                var assertion = try proof(for: request, lines(), verdict(for: request))
                let server = try #require(assertion.server)
                assertion.server = ServerProof(
                    verdict: server.verdict, signature: server.signature, hasTokenFile: hasFile)
                return assertion
            }
            #expect(told.contains("auth 0"))
            #expect(
                told.contains("info SIGNET_TOKEN_FILE=/run/signet/tokens/4242") == hasFile)
        }
    }
}
