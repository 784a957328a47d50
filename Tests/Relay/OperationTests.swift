// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import HTTPServer
import LoginProtocol
import Synchronization
import TestSupport
import Testing

@testable import Relay

private let id = String(repeating: "ab", count: 16)
private let header = Bytes("SignetMAC token=\"x\"".utf8)

private func item(_ data: String = "pay", id: String = id) -> String {
    """
    {"operation": "\(id)", "template": "t", "data": "\(data)", "created": 1, "expires": 2}
    """
}

private func list(_ items: [String]) -> String {
    #"{"operations": [\#(items.joined(separator: ","))]}"#
}

@Suite("The relay, asked about operations")
struct OperationTests {
    private func says(
        _ body: String, _ request: (ServerURL) -> RelayRequest
    ) async throws -> [RelayAnswer] {
        try await relayed(request) { _ in
            HTTPResponse(status: 200, headers: [], body: Array(body.utf8))
        }
    }

    private func listing(_ server: ServerURL) -> RelayRequest {
        .operations(server: server, authorization: header)
    }

    @Test("sends a reading call once, with signetd's header and without a body")
    func reading() async throws {
        let seen = Mutex<[String]>([])
        _ = try await relayed(listing) { request in
            seen.withLock {
                $0.append(
                    "\(request.method) \(request.target) \(request.header("authorization") ?? "")")
            }
            return HTTPResponse(status: 200, headers: [], body: Array(#"{"operations":[]}"#.utf8))
        }
        #expect(
            seen.withLock { $0 } == ["GET /v1/device/operations SignetMAC token=\"x\""])
    }

    @Test("ends a token once, with signetd's header and only the statement that it has ended")
    func ending() async throws {
        let seen = Mutex<[String]>([])
        let request = { (server: ServerURL) in
            RelayRequest.endMACToken(
                server: server, authorization: header, token: .sample(repeating: 0xab))
        }
        func answer(to status: Int) async throws -> RelayAnswer? {
            try await relayed(request) { request in
                let body = String(decoding: request.body, as: UTF8.self)
                let authorization = request.header("authorization") ?? ""
                seen.withLock {
                    $0.append("\(request.method) \(request.target) \(authorization) \(body)")
                }
                return HTTPResponse(status: status, headers: [], body: [])
            }.first
        }
        #expect(try await answer(to: 204) == .removed)
        let call = "POST /v1/device/mac-tokens/\(id)/revoke SignetMAC token=\"x\" {}"
        #expect(seen.withLock { $0 } == [call])
        #expect(try await answer(to: 503)?.why != nil && seen.withLock { $0.count } == 2)
    }

    @Test("gives each operation of a list, and how many there were")
    func items() async throws {
        let answers = try await says(
            list([item("pay \\u00e4\\n\\\"x\\\""), item()]), listing)
        #expect(answers.count == 3 && answers.last == .listed(count: 2))
        guard case .awaited(let first) = answers[0] else {
            Issue.record("\(answers)")
            return
        }
        #expect(first.content.data == Bytes("pay ä\n\"x\"".utf8))
        #expect(first.content.operation == .sample(repeating: 0xab))
        #expect(try await says(list([]), listing) == [.listed(count: 0)])
        // As many as there can be, each as long as it can be: more than a socket takes at once.
        let long = [String](
            repeating: item(String(repeating: "\\\"", count: 4_096)), count: 25)
        #expect(try await says(list(long), listing).count == 26)
    }

    @Test(
        "takes nothing for a list that is not what is documented",
        arguments: [
            "", "{}", #"{"operations": {}}"#, #"{"operations": [{}]}"#,
            list([item(id: "ab")]), list([item(id: "zz" + id.dropFirst(2))]),
            list([item(String(repeating: "x", count: 4_097))]),
            list([String](repeating: item(), count: 33)),
        ])
    func malformed(body: String) async throws {
        let answers = try await says(body, listing)
        #expect(
            answers.count == 1
                && answers[0].why?.contains("does not match its documented form") == true)
    }

    @Test("stops reading a list that is too long")
    func oversize() async throws {
        let answers = try await says(String(repeating: " ", count: 300 * 1_024), listing)
        #expect(answers.count == 1 && answers[0].why?.contains("too long") == true)
    }

    @Test(
        "takes no state, count or challenge that there is not",
        arguments: [
            ("", false), (#""status": "PENDING", "#, true), (#""status": "APPROVED", "#, true),
            (#""status": "pending", "#, false), (#""status": "DONE", "#, false),
        ])
    func detail(status: String, isGood: Bool) async throws {
        let challenge = String(repeating: "A", count: 43)
        let body = """
            {"operation": "\(id)", "application": "shop", "audience": "a", "account": "alice",
            "template": "t", "data": "d", "challenge": "\(challenge)", \(status)"failureCount": 0,
            "maxFailureCount": 3, "created": 1, "expires": 2}
            """
        let request = { (server: ServerURL) in
            RelayRequest.operation(
                server: server, authorization: header,
                operation: .sample(repeating: 0xab))
        }
        let answers = try await says(body, request)
        guard case .operation? = answers.first else {
            #expect(!isGood, "\(answers)")
            return
        }
        #expect(isGood)
        for change in [("\"failureCount\": 0", "\"failureCount\": -1"), (challenge, "AA")] {
            let wrong = body.replacing(change.0, with: change.1)
            #expect(try await says(wrong, request).first?.why != nil)
        }
    }

    @Test("does not send a decision twice, nor a header to where it is sent on")
    func once() async throws {
        let asked = Atomic<Int>(0)
        let decision = { (server: ServerURL) in
            RelayRequest.decide(
                RelayDecision(
                    server: server, operation: .sample(repeating: 0xab),
                    statement: [1], signature: [2]))
        }
        for request in [decision, listing] {
            let answers = try await relayed(request) { _ in
                asked.add(1, ordering: .relaxed)
                return HTTPResponse(
                    status: 307, headers: [("Location", "https://127.0.0.1/")], body: [])
            }
            #expect(answers.first?.why?.contains("redirects") == true)
        }
        #expect(asked.load(ordering: .relaxed) == 2)
    }
}
