// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import SQLSupport
import ServerAPI
import TestSupport
import Testing

@testable import RelyingParty

@Suite("What a server reports about itself")
struct ServerObservationTests {
    @Test("are figures, on their own address alone")
    func figures() async throws {
        let home = try ServerHome(.sqlite)
        let server = try ServerProcess(home, settings: "[metrics]\nlisten = 127.0.0.1:0")
        let said = try #require(
            server.process.errors.firstMatch(of: #/metrics on port (\d+)/#)?.output.1)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        _ = try await server.send("POST", "/v1/login", ["statement": "", "signature": ""])
        let digest = base64([UInt8](repeating: 7, count: 32))
        let verified = try await server.ask(
            "POST", "/v1/authentication/verify",
            [
                "authorization": "Signet x", "method": "GET", "resource": "/", "body": digest,
            ])
        #expect(verified.status == 200 && verified["valid"] as? Bool == false)
        var settings = ClientConfiguration()
        settings.allowsPlain = true
        let client = HTTPClient(settings)
        let page = try await client.send(
            ClientRequest(url: "http://127.0.0.1:\(said)/metrics"))
        #expect(page.status == 200)
        let text = String(decoding: page.body, as: UTF8.self)
        for line in [
            #"signet_requests_total{method="POST",route="/v1/login",status="200"} 1"#,
            #"signet_request_seconds_count{method="POST",route="/v1/login"} 2"#,
            #"signet_logins_total{outcome="ok"} 1"#,
            #"signet_logins_total{outcome="malformed"} 1"#,
            #"signet_verifications_total{outcome="malformed"} 1"#,
            #"route="/v1/registrations/{id}/proof",status="200"} 1"#,
            "signet_refusals_unwritten_total 0", "signet_connections ",
            "signet_connections_shed_total 0",
            "signet_database_wait_seconds_count ", "signet_database_batch_sum ",
            #"signet_database_errors_total{kind="full"} 0"#,
            #"signet_database_errors_total{kind="busy"} 0"#,
            #"signet_database_errors_total{kind="damaged"} 0"#,
            #"signet_database_errors_total{kind="unreachable"} 0"#,
            #"signet_database_errors_total{kind="other"} 0"#,
        ] {
            #expect(text.contains(line), "\(line)")
        }
        // Every line is a comment, or a name with labels and a number.
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: #/[a-z_]+(\{[^ ]*\})? [0-9.e+-]+/#) != nil, "\(line)")
        }
        for path in ["/health/live", "/health/ready"] {
            let answer = try await client.send(
                ClientRequest(url: "http://127.0.0.1:\(said)\(path)"))
            #expect(answer.status == 200)
        }
        let other = try await client.send(
            ClientRequest(url: "http://127.0.0.1:\(said)/v1/login/challenge"))
        #expect(other.status == 404)
        #expect(try await server.send("GET", "/metrics").status == 404)
        try server.stop()
    }

    @Test("are lines without a path, a token or a statement", arguments: ["text", "json"])
    func lines(format: String) async throws {
        let home = try ServerHome(.sqlite)
        let server = try ServerProcess(home, settings: "[log]\nformat = \(format)")
        let device = try TestDevice()
        try await server.register(device)
        let reply = try await server.logIn(device)
        let request = try #require(reply.headers.first { $0.name == "x-request-id" }?.value)
        _ = try await server.send("GET", "/v1/registrations/secret-of-somebody?token=LOUI")
        let log = try server.stop().errors
        let line = try #require(log.split(separator: "\n").first { $0.contains(request) })
        if format == "json" {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["route"] as? String == "/v1/login")
            #expect(object["status"] as? Int == 200)
            #expect(object["peer"] as? String == "127.0.0.1")
        } else {
            #expect(line.contains(" method=POST route=/v1/login status=200 outcome=ok us="))
        }
        let tokens = try #require(reply["tokens"] as? [String: Any])
        for secret in [
            server.apiKey, tokens["accessToken"] as? String ?? "-none-", "sgr_",
            "secret-of-somebody", "LOUI", device.registration, "alice",
        ] {
            #expect(!log.contains(secret), "\(secret)")
        }
    }

    @Test("are only refused requests, or none, where the configuration says so")
    func fewer() async throws {
        for (requests, lines) in [("problems", 1), ("none", 0)] {
            let home = try ServerHome(.sqlite)
            let server = try ServerProcess(home, settings: "[log]\nrequests = \(requests)")
            _ = try await server.send("GET", "/health/live")
            _ = try await server.send("GET", "/nothing")
            let log = try server.stop().errors
            #expect(log.split(separator: "\n").filter { $0.contains("method=") }.count == lines)
        }
    }
}
