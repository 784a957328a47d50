import HTTP
import Synchronization
import Testing
import Wire

@testable import Relay

@Suite("The relay and a server that does not behave")
struct BadServerTests {
    private static let request = RelayChallengeWish(
        server: [], account: Bytes("alice".utf8), device: Bytes(repeating: 1, count: 16),
        application: Bytes("shop".utf8), action: Bytes("login".utf8))

    /// Asks a server that answers so.
    private func ask(
        _ limit: Duration = .seconds(10),
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> RelayAnswer {
        let answers = try await relayed(
            { server in
                var wish = Self.request
                wish.server = server
                return .challenge(wish)
            }, within: limit, answer)
        return try #require(answers.first)
    }

    private func says(_ status: Int, _ body: String) async throws -> RelayAnswer {
        try await ask { _ in HTTPResponse(status: status, headers: [], body: Array(body.utf8)) }
    }

    @Test(
        "takes nothing for an answer that is not what is documented",
        arguments: [
            "", "null", "[]", "{", "{}", #"{"challenge": 1, "audience": "a", "expires": 1}"#,
            #"{"challenge": "AAAA", "audience": "a", "expires": 1}"#,
            #"{"challenge": "\#(String(repeating: "A", count: 43))", "audience": "", "expires": 1}"#,
            #"{"challenge": "\#(String(repeating: "A", count: 43))", "audience": "a", "expires": -1}"#,
            String(repeating: "[", count: 4_000),
        ])
    func malformed(body: String) async throws {
        let answer = try await says(200, body)
        #expect(answer.why?.contains("not what docs/SERVER.md says") == true, "\(answer)")
        #expect(answer.isRepeatable == false)
    }

    @Test("takes what is documented, with members that it does not know")
    func wellFormed() async throws {
        let challenge = String(repeating: "A", count: 43)
        let answer = try await says(
            200, #"{"challenge": "\#(challenge)", "audience": "a", "expires": 7, "more": [{}]}"#)
        #expect(
            answer
                == .challenge(Bytes(repeating: 0, count: 32), audience: Bytes("a".utf8), expires: 7)
        )
    }

    @Test("follows no redirection")
    func redirected() async throws {
        let asked = Atomic<Int>(0)
        let answer = try await ask { _ in
            asked.add(1, ordering: .relaxed)
            return HTTPResponse(
                status: 307, headers: [("Location", "https://127.0.0.1/")], body: [])
        }
        #expect(answer.why?.contains("sends elsewhere (307)") == true)
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    @Test("stops reading an answer that is too long")
    func oversize() async throws {
        let answer = try await says(200, String(repeating: " ", count: 64 * 1_024))
        #expect(answer.why?.contains("too long") == true)
    }

    @Test("waits for a silent server no longer than it may, and does not ask again")
    func silent() async throws {
        let asked = Atomic<Int>(0)
        let begin = ContinuousClock.now
        let answer = try await ask(.milliseconds(500)) { _ in
            asked.add(1, ordering: .relaxed)
            // Longer than anybody waits; ends with the server.
            try? await Task.sleep(for: .seconds(3))
            return HTTPResponse(status: 200, headers: [], body: [])
        }
        #expect(answer.why?.contains("does not answer in time") == true)
        #expect(answer.isRepeatable == false)
        #expect(asked.load(ordering: .relaxed) == 1)
        #expect(ContinuousClock.now - begin < .seconds(10))
    }

    @Test(
        "passes on only a code of the documented form",
        arguments: [
            (#"{"code": "slow-down"}"#, true), (#"{"code": "Slow\nDown"}"#, false),
            (#"{"code": ""}"#, false), ("<html>", false),
        ])
    func problems(body: String, isCode: Bool) async throws {
        let answer = try await says(429, body)
        if isCode {
            #expect(
                answer == .refused(code: Bytes("slow-down".utf8), status: 429, attempts: nil))
        } else {
            #expect(answer.why?.contains("HTTP status 429") == true)
        }
    }
}
