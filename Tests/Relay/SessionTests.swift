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

private func item(
    _ more: String = "", factor: String = "fingerprint", id: String = id, created: Int = 1
) -> String {
    """
    {"session": "\(id)", "own": true, "registration": "\(id)", "device": "\(id)", \
    "factor": "\(factor)", "created": \(created), "expires": 9\(more)}
    """
}

private func list(_ items: [String], total: Int? = nil) -> String {
    #"{"sessions": [\#(items.joined(separator: ","))], "total": \#(total ?? items.count)}"#
}

@Suite("The relay, asked about sessions")
struct SessionTests {
    private func says(
        _ body: String, _ request: (ServerURL) -> RelayRequest
    ) async throws -> [RelayAnswer] {
        try await relayed(request) { _ in
            HTTPResponse(status: 200, headers: [], body: Array(body.utf8))
        }
    }

    private func listing(_ server: ServerURL) -> RelayRequest {
        .sessions(server: server, authorization: header)
    }

    @Test("sends each call once, with signetd's header and exactly the body that it covers")
    func calls() async throws {
        let seen = Mutex<[String]>([])
        let requests: [(ServerURL) -> RelayRequest] = [
            listing,
            { .endSession(server: $0, authorization: header, session: .sample(repeating: 0xab)) },
            { .endSessions(server: $0, authorization: header) },
        ]
        for request in requests {
            _ = try await relayed(request) { request in
                let body = String(decoding: request.body, as: UTF8.self)
                let authorization = request.header("authorization") ?? ""
                seen.withLock {
                    $0.append("\(request.method) \(request.target) \(authorization) \(body)")
                }
                return HTTPResponse(status: 503, headers: [], body: [])
            }
        }
        let token = "SignetMAC token=\"x\""
        #expect(
            seen.withLock { $0 } == [
                "GET /v1/device/sessions \(token) ",
                "POST /v1/device/sessions/\(id)/revoke \(token) {}",
                "POST /v1/device/sessions/revoke \(token) {}",
            ])
    }

    @Test("gives each session of a list, and how many there are")
    func items() async throws {
        let full = item(
            #", "deviceName": "desk", "refreshed": 5, "address": "192.0.2.1", "agent": "a\u001b""#,
            factor: "both")
        let answers = try await says(list([full, item()], total: 7), listing)
        #expect(answers.last == .sessionsListed(count: 2, total: 7) && answers.count == 3)
        let session = SessionContent(
            session: .sample(repeating: 0xab), device: .sample(repeating: 0xab),
            deviceName: DeviceName(Bytes("desk".utf8)), isOwn: true, factor: .both, created: 1,
            refreshed: 5, expires: 9, address: Bytes("192.0.2.1".utf8), agent: Bytes("a\u{1B}".utf8)
        )
        #expect(answers.first == .session(session))
        #expect(try await says(list([]), listing) == [.sessionsListed(count: 0, total: 0)])
    }

    @Test(
        "takes nothing for a list that is not what is documented",
        arguments: [
            "", "{}", #"{"sessions": {}, "total": 0}"#, #"{"sessions": []}"#,
            #"{"sessions": [{}], "total": 1}"#, list([item(id: "ab")]), list([item(created: -1)]),
            list([item(factor: "either")]), list([item(factor: "")]),
            list([item(#", "deviceName": "a\u001b""#)]), list([item(#", "refreshed": -1"#)]),
            list([], total: -1), list([], total: 4_294_967_296),
            list([item(#", "address": "\#(String(repeating: "1", count: 2_049))""#)]),
            list([String](repeating: item(), count: 65)),
        ])
    func malformed(body: String) async throws {
        let answers = try await says(body, listing)
        #expect(
            answers.count == 1
                && answers[0].why?.contains("does not match its documented form") == true)
    }

    @Test("says how many sessions have ended, and takes no other answer for that")
    func ended() async throws {
        let end = { (server: ServerURL) in
            RelayRequest.endSessions(server: server, authorization: header)
        }
        #expect(try await says(#"{"ended": 3}"#, end) == [.sessionsEnded(count: 3)])
        for body in ["", "{}", #"{"ended": -1}"#, #"{"ended": "1"}"#, #"{"ended": 4294967296}"#] {
            let answers = try await says(body, end)
            #expect(answers.count == 1 && answers[0].why != nil, "\(body)")
        }
    }
}
