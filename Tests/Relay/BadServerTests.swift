// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import HTTPClient
import HTTPServer
import LoginProtocol
import Synchronization
import TestSupport
import Testing

@testable import Relay

@Suite("The relay and a server that does not behave")
struct BadServerTests {
    private static let request = RelayChallengeRequest(
        server: .none, account: "alice", device: .sample(repeating: 1),
        application: "shop", action: Bytes("login".utf8))

    /// Asks a server that answers so.
    private func ask(
        _ limit: Duration = .seconds(10), milliseconds: UInt32? = nil,
        toLogin: Bool = false, _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> RelayAnswer {
        let answers = try await relayed(
            { server in
                var wish = Self.request
                wish.server = server
                wish.milliseconds = milliseconds
                let login = RelayLogin(server: server, statement: [1], signature: [2])
                return toLogin ? .login(login) : .challenge(wish)
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
        let why = "does not match its documented form"
        #expect(answer.why?.contains(why) == true, "\(answer)")
        #expect(answer.isRepeatable == false)
    }

    @Test("takes what is documented, with members that it does not know")
    func wellFormed() async throws {
        let challenge = String(repeating: "A", count: 43)
        let answer = try await says(
            200, #"{"challenge": "\#(challenge)", "audience": "a", "expires": 7, "more": [{}]}"#)
        #expect(
            answer
                == .challenge(.sample(repeating: 0), audience: "a", expires: 7)
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
        #expect(answer.why?.contains("redirects (status 307)") == true)
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    @Test("stops reading an answer that is too long")
    func oversize() async throws {
        let answer = try await says(200, String(repeating: " ", count: 64 * 1_024))
        #expect(answer.why?.contains("too long") == true)
    }

    @Test("waits for a silent server up to its limit, and does not ask again")
    func silent() async throws {
        let asked = Atomic<Int>(0)
        let begin = ContinuousClock.now
        let answer = try await ask(.milliseconds(500)) { _ in
            asked.add(1, ordering: .relaxed)
            // Longer than any client waits; ends with the server.
            try? await Task.sleep(for: .seconds(3))
            return HTTPResponse(status: 200, headers: [], body: [])
        }
        #expect(answer.why?.contains("did not answer in time") == true)
        #expect(answer.isRepeatable == false)
        #expect(asked.load(ordering: .relaxed) == 1)
        #expect(ContinuousClock.now - begin < .seconds(10))
    }

    @Test("distinguishes a server that it cannot connect to from all others")
    func away() throws {
        var wish = Self.request
        wish.server = "https://127.0.0.1:1"
        #expect(Relay(ClientConfiguration()).answer(.challenge(wish)).isAway == true)
        wish.server = "https://no-such-host.invalid"
        #expect(Relay(ClientConfiguration()).answer(.challenge(wish)).isAway == true)
        var proxied = ClientConfiguration()
        proxied.proxy = .url("http://127.0.0.1:1")
        #expect(Relay(proxied).answer(.challenge(wish)).isAway == true)
    }

    @Test("a server that answers is not unreachable, whatever it does then")
    func reached() async throws {
        for status in [200, 302, 418, 502, 503, 504] {
            #expect(try await says(status, "<html>").isAway == false, "\(status)")
        }
        let silent = try await ask(milliseconds: 300) { _ in
            try? await Task.sleep(for: .seconds(3))
            return HTTPResponse(status: 200, headers: [], body: [])
        }
        #expect(silent.isAway == false && silent.why?.contains("in time") == true, "\(silent)")
    }

    @Test("a server that takes connections, and does nothing with them, is not away")
    func noHandshake() throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, size) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        try #require(isBound)
        var wish = Self.request
        wish.server = ServerURL("https://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        wish.milliseconds = 300
        let answer = Relay(ClientConfiguration()).answer(.challenge(wish))
        #expect(answer.isAway == false && answer.why?.contains("in time") == true, "\(answer)")
    }

    @Test("takes a no for one, also where HTTP says that all is well")
    func saysNo() async throws {
        let answer = try await ask(toLogin: true) { _ in
            HTTPResponse(status: 200, headers: [], body: Array(#"{"valid": false}"#.utf8))
        }
        #expect(answer == .refused(code: Bytes("refused".utf8), status: 200, attempts: nil))
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
