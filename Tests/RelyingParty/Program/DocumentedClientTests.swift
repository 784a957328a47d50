// SPDX-License-Identifier: Apache-2.0
import Foundation
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A client that knows the documents alone")
struct DocumentedClientTests {
    private func run(_ server: ServerProcess, code: String) throws -> Outcome {
        let script = "\(Layout.package)/Examples/device.py"
        let url = "http://127.0.0.1:\(server.port)"
        return try Program(Command(["/usr/bin/python3", script, url, "shop", code]))
            .expectEnd()
    }

    @Test(
        "registers and logs in, with ssh-keygen's signatures, and PyJWT takes the token",
        arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try ServerProcess(try ServerHome(backend))
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
            .text("code")
        let outcome = try run(server, code: code)
        #expect(outcome.errors == "")
        #expect(outcome.output == "alice\n")
        let again = try run(server, code: code)
        #expect(!again.succeeded)
        #expect(again.errors.contains("401 activation-refused"))
        #expect(try server.stop().succeeded)
    }
}
