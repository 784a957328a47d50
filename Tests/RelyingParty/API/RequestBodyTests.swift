// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import JSONFormat
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("The body of a call")
struct RequestBodyTests {
    private struct Sample: Decodable, Equatable {
        let text: String
        let number: Int64
        let list: [String]?
        let inner: [String: String]?
    }

    private func problem(_ text: String) -> Problem? {
        do throws(Problem) {
            _ = try JSON.body([UInt8](text.utf8)).value(Sample.self)
            return nil
        } catch { return error }
    }

    @Test(
        "that is refused names the field, and what is wrong with it",
        arguments: [
            ("", "the body is not JSON"), ("{}", "'text' is missing"),
            (#"{"text":"a","number":1,}"#, "the body is not JSON"),
            (#"{"text":"a","text":"b","number":1}"#, "an object in the body has a member twice"),
            (String(repeating: "[", count: 513), "the body is nested too deeply"),
            ("[]", "'the body' has the wrong type"),
            ("null", "'the body' has the wrong type"),
            (#"{"text":1,"number":1}"#, "'text' has the wrong type"),
            (#"{"text":null,"number":1}"#, "'text' has the wrong type"),
            (#"{"text":"a","number":"1"}"#, "'number' has the wrong type"),
            (#"{"text":"a","number":1.5}"#, "'number' is not valid"),
            (#"{"text":"a","number":9223372036854775808}"#, "'number' is not valid"),
            (#"{"text":"a","number":1,"list":{}}"#, "'list' has the wrong type"),
            (#"{"text":"a","number":1,"list":["a",1]}"#, "'list' has the wrong type"),
            (#"{"text":"a","number":1,"inner":{"x":1}}"#, "'x' has the wrong type"),
        ])
    func refused(text: String, title: String) {
        #expect(problem(text) == .malformed(title))
    }

    @Test("is read with what it has")
    func read() throws {
        let text = #"{"text":"a\n","number":1e2,"list":["x"],"inner":{"k":"v"}}"#
        #expect(
            try JSON.body([UInt8](text.utf8)).value(Sample.self)
                == Sample(text: "a\n", number: 100, list: ["x"], inner: ["k": "v"]))
        #expect(problem(#"{"text":"","number":-1,"list":null}"#) == nil)
    }

    @Test("of a frequent call is read as the decoder reads it")
    func frequent() throws {
        let id = String(repeating: "0", count: 32)
        for (body, isRead) in [
            (#"{"application":"shop","account":"é","device":"\#(id)"}"#, true),
            (#"{"application":"a","account":"b","device":"\#(id)","action":"mac-token"}"#, true),
            (#"{"application":"","account":"b","device":"\#(id)"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id)0"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id.dropLast())"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id.dropLast(2))"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id.dropLast())A"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id.dropLast())g"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id)","action":"all"}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id)","action":7}"#, false),
            (#"{"application":"a","account":"b","device":"\#(id)","x":"login"}"#, false),
            (#"{"application":"a","account":"b"}"#, false), ("[]", false),
        ] {
            let json = try JSON.body([UInt8](body.utf8))
            let plain = ChallengeRequest(json)
            let decoded = try? json.value(ChallengeRequest.self)
            #expect((plain != nil) == isRead && (decoded != nil) == isRead, "\(body)")
            #expect(plain?.application == decoded?.application)
            #expect(plain?.account == decoded?.account && plain?.device == decoded?.device)
            #expect(plain?.action == decoded?.action)
        }
        // What has more members than the fast way reads is left to the decoder.
        for body in [
            #"{"statement":"AA","signature":"A"}"#, #"{"statement":"AA=","signature":"AA"}"#,
            #"{"statement":"AA"}"#, #"{"statement":"AA","signature":"AA","module":"x"}"#,
            #"{"statement":"AA","signature":"AA","other":"x"}"#,
        ] {
            #expect(SignedChallengeRequest(try JSON.body([UInt8](body.utf8))) == nil)
        }
    }

    @Test("is what each call asks for", arguments: Backend.allCases)
    func called(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate("pay", "pay {amount}")
        func ask(_ path: String, _ body: String) async -> Reply {
            await server.answer(
                HTTPRequest(
                    method: "POST", path: path,
                    headers: [
                        ("content-type", "application/json"),
                        ("authorization", "Bearer \(server.apiKey)"),
                    ], body: [UInt8](body.utf8), peer: "192.0.2.1"))
        }
        func operation(_ data: String) -> String {
            #"{"account":"alice","template":"pay","data":{\#(data)}}"#
        }
        for data in [
            #""amount":"1","amount":"1000""#, #""amount":"1","\u0061mount":"1000""#,
            #""amount":"1","#,
        ] {
            let reply = await ask("/v1/operations", operation(data))
            #expect(reply.status == 400 && reply.code == "malformed", "\(data)")
        }
        #expect(try await server.rows("SELECT id FROM operation").isEmpty)
        #expect(await ask("/v1/operations", operation(#""amount":"1""#)).status == 201)
        // Also where a body is in the plain form, which is read without the decoder.
        let id = hexadecimal(device.id)
        for more in [#","application":"other""#, ",", #","\u0061pplication":"other""#] {
            let reply = await ask(
                "/v1/login/challenge",
                #"{"application":"shop","account":"alice","device":"\#(id)"\#(more)}"#)
            #expect(reply.status == 400, "\(more)")
        }
        #expect(await ask("/v1/activations", "\u{feff}{\"account\":\"alice\"}").status == 400)
    }
}
