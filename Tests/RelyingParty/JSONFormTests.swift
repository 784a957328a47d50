// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("The form of JSON that is read")
struct JSONFormTests {
    private func fault(_ text: String) -> JSONForm.Fault? { fault([UInt8](text.utf8)) }

    private func fault(_ bytes: [UInt8]) -> JSONForm.Fault? {
        do throws(JSONForm.Fault) {
            try JSONForm.check(bytes)
            return nil
        } catch { return error }
    }

    @Test(
        "is all of RFC 8259",
        arguments: [
            "{}", "[]", " {\t}\r\n", "[ ]", "null", "true", "false", "0", "-0", #""""#,
            #"{"a":{"a":{"a":"a"}},"b":[{"a":1},{"a":2}]}"#, "[1,-2,3.5,0.25e10,1E+2,1e-2,0e0]",
            #"["\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"]"#, "{\"\":\"\u{7f}\",\" \":\"日本\"}",
            #"{"a":1,"A":2,"a ":3,"\u0061b":4}"#,
            #"{"data":{"application":"a"},"application":"b"}"#,
        ])
    func whole(text: String) {
        #expect(fault(text) == nil)
        #expect(
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
                != nil)
    }

    @Test(
        "has each name of an object once, whatever its escapes",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#,
            #"{"\u0061":1,"a":2}"#, #"{"a\/b":1,"a/b":2}"#, #"{"\n":1,"\u000A":2}"#,
            #"{"\u00e9":1,"\u00E9":2}"#, "{\"\u{e9}\":1,\"\\u00e9\":2}", #"{"":1,"":2}"#,
            "{\"\\ud83d\\ude00\":1,\"\u{1f600}\":2}", #"[{"x":{"a":1,"b":[],"a":2}}]"#,
            #"{"x":1,"data":{"a":"1","a":"2"}}"#, #"{"x":{"x":1},"x":2}"#,
            // Texts that the decoder takes for the same: the sign for kelvin, and a letter with its accent.
            #"{"K":1,"\u212a":2}"#, #"{"\u00e9":1,"e\u0301":2}"#,
        ])
    func twice(text: String) {
        #expect(fault(text) == .repeatedName)
        #expect(throws: Problem.malformed("an object of the body has a name twice")) {
            try JSON.decode([String: Int].self, from: [UInt8](text.utf8))
        }
    }

    @Test(
        "is nothing else",
        arguments: [
            "", " ", "{", "}", "[", "]", #"""#, "{]", "[}", "{}}", "[]]", "{}{}", "[1][2]", "1 2",
            #"{"a":1,}"#, "[1,]", "[,1]", #"{,"a":1}"#, #"{"a":1,,"b":2}"#, "[1,,2]", "[1 2]",
            #"{"a"}"#, #"{"a":}"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a"::1}"#, "{1:2}", "{a:1}",
            "{'a':1}", "{null:1}", #"{["a"]:1}"#, "\u{feff}{}", "{}\u{feff}", "\u{a0}{}", "\u{c}{}",
            "{}//", "/**/{}", "#", "tru", "True", "nul", "nulll", "undefined", "NaN", "Infinity",
            "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e2", "0x1", "1_0", "--1",
            "[\"a\nb\"]", "[\"\u{1f}\"]", "[\"\0\"]", #"["\x"]"#, #"["\u12"]"#, #"["\u12g4"]"#,
            #"["\U0041"]"#, #"["\"]"#, #"["\"#, #"["\u"#, #"["a]"#, #"{"\ud83d":1}"#,
            #"{"\ude00":1}"#, #"{"\ud83d\ud83d":1}"#, #"{"\ud83dx":1}"#, "{}\0",
        ])
    func refused(text: String) {
        #expect(fault(text) == .malformed)
        #expect(throws: Problem.malformed("the body is not JSON")) {
            try JSON.decode([String: Int].self, from: [UInt8](text.utf8))
        }
    }

    @Test("has names of 128 bytes at the most, however long it takes to compare longer ones")
    func longNames() {
        let most = String(repeating: "a", count: 128)
        #expect(fault("{\"\(most)\":1}") == nil)
        #expect(fault("{\"\(most)a\":1}") == .malformed)
        // Marks in an order that Unicode sorts the slowest.
        let marks = String(repeating: "\u{301}\u{316}", count: 4_000)
        #expect(fault("{\"a\(marks)\":1,\"b\":2}") == .malformed)
        #expect(fault("{\"a\":\"\(marks)\"}") == nil)
    }

    @Test("is UTF-8 throughout, also where nobody looks")
    func encoding() {
        for text: [UInt8] in [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80]] {
            #expect(fault([UInt8](#"{"a":""#.utf8) + text + [UInt8](#""}"#.utf8)) == .malformed)
            #expect(fault([UInt8](#"{""#.utf8) + text + [UInt8](#"":1}"#.utf8)) == .malformed)
            #expect(fault(text) == .malformed)
        }
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
            let bytes = [UInt8]("{\"a\":1}".data(using: encoding) ?? Data())
            #expect(!bytes.isEmpty && fault(bytes) == .malformed)
        }
    }

    @Test("is bounded in its depth, as the decoder is, and has any breadth")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: "["), count: depth)
                + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(fault(nested(512)) == nil && fault(nested(513)) == .tooDeep)
        #expect(fault([UInt8](repeating: UInt8(ascii: "["), count: 16_384)) == .tooDeep)
        let object = String(repeating: #"{"a":"#, count: 513)
        #expect(fault(object + "1" + String(repeating: "}", count: 513)) == .tooDeep)
        let many = (0..<2_000).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(fault("{\(many)}") == nil)
        #expect(fault("{\(many),\"\\u0037\":0}") == .repeatedName)
    }

    @Test("that was cut anywhere is not read")
    func cut() {
        let whole = [UInt8](#"{"a":[true,null,{"b":"\u00e9\\"}],"c":"x"}"#.utf8)
        #expect(fault(whole) == nil)
        for count in 0..<whole.count { #expect(fault(Array(whole[..<count])) == .malformed) }
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
