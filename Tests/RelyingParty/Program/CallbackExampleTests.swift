// SPDX-License-Identifier: Apache-2.0
import Foundation
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The documented receiver of callbacks")
struct CallbackExampleTests {
    private let script = "\(Layout.package)/Tests/RelyingParty/Fixtures/Judges/receiver.py"

    @Test("is in the documents as it is tested here")
    func documented() throws {
        let text = String(decoding: try Layout.read(script), as: UTF8.self)
        let parts = text.components(separatedBy: "# --- ")
        #expect(parts.count == 3)
        let example = parts[1].split(separator: "\n", omittingEmptySubsequences: false)
            .dropFirst().joined(separator: "\n").trimmingCharacters(in: .newlines)
        let document = String(
            decoding: try Layout.read("\(Layout.package)/docs/developer/SERVER-INTEGRATE.md"),
            as: UTF8.self)
        #expect(document.contains("```python\n\(example)\n```\n"))
    }

    @Test("takes what the server sends, and refuses what it does not")
    func receives() async throws {
        let home = try ServerHome(.sqlite)
        let settings = "[callback]\nnetworks = 127.0.0.1/32"
        let server = try ServerProcess(home, settings: settings)
        let port = try freePort()
        let url = "http://127.0.0.1:\(port)/signet"
        let receiver = try Program(
            Command(
                [
                    "/usr/bin/python3", script, home.url, url,
                    "http://127.0.0.1:\(server.port)/.well-known/jwks.json", "\(port)",
                ], environment: ["PYTHONPATH": "\(Layout.package)/libraries/python"]))
        let configuration = try home.configuration(settings)
        let outcome = try Program(
            Command([
                ServerProcess.program, "admin", "--config", configuration, "callback", "set",
                "shop", url,
            ])
        ).expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
        let device = try TestDevice()
        try await server.register(device)
        try receiver.expect(
            "registration.active alice \(device.registration)\n")
        let forged = try Program(
            Command(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "x", url])
        ).expectEnd()
        #expect(forged.output == "400")
        try receiver.expect("refused: malformed", within: .seconds(10))
        receiver.signal(SIGTERM)
        try server.stop()
    }
}
