// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSONFormat
import Testing

@Suite("JSON that is read")
struct JSONReaderTests {
    private func fault(_ text: String) -> JSONFault? { fault([UInt8](text.utf8)) }

    private func fault(_ bytes: [UInt8]) -> JSONFault? {
        do throws(JSONFault) {
            _ = try JSON(parsing: bytes)
            return nil
        } catch { return error }
    }

    @Test(
        "is all of RFC 8259, with the values that Foundation reads",
        arguments: [
            "{}", "[]", " {\t}\r\n", "[ ]", "null", "true", "false", "0", "-0", #""""#,
            #"{"a":{"a":{"a":"a"}},"b":[{"a":1},{"a":2}]}"#, "[1,-2,3.5,0.25e10,1E+2,1e-2,0e0]",
            #"["\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"]"#,
            #"["\"a\"","a\\","\\a","日\"b\\\"c 本","\"\"","Signet a=\"b\", c=\"d\""]"#,
            "{\"\":\"\u{7f}\",\" \":\"日本\"}",
            #"{"a":1,"A":2,"a ":3,"\u0061b":4}"#, "[9223372036854775807,9223372036854775808]",
            #"{"data":{"application":"a"},"application":"b"}"#, "[-9223372036854775808]",
            #"[[],{},[[]],[{}],"",[true,[false,[null]]]]"#,
        ])
    func whole(text: String) throws {
        let read = try JSON(parsing: [UInt8](text.utf8))
        let theirs = try JSONSerialization.jsonObject(
            with: Data(text.utf8), options: .fragmentsAllowed)
        // Written and read again, it is the same to Foundation.
        let again = try JSONSerialization.jsonObject(
            with: Data(read.encoded()), options: .fragmentsAllowed)
        #expect((theirs as? NSObject) == (again as? NSObject))
    }

    @Test("has the values that its text states")
    func values() throws {
        let text = #"{"a":"x\u00e9\ud83d\ude00\n","b":-7,"c":[true,null,1.5],"d":{"e":false}}"#
        let json = try JSON(parsing: [UInt8](text.utf8))
        #expect(json["a"]?.stringValue == "xé\u{1f600}\n")
        #expect(json["b"]?.integerValue == -7)
        #expect(json["c"]?.arrayValue?.count == 3)
        #expect(json["c"]?.arrayValue?.first?.boolValue == true)
        #expect(json["c"]?.arrayValue?.last?.integerValue == nil)
        #expect(json["d"]?["e"]?.boolValue == false)
        // A value of another kind is none.
        #expect(json["b"]?.stringValue == nil && json["a"]?.integerValue == nil)
        #expect(json["z"] == nil && json["a"]?["b"] == nil && json["d"]?.arrayValue == nil)
    }

    @Test(
        "has each name of an object once, whatever its escapes",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#,
            #"{"\u0061":1,"a":2}"#, #"{"a\/b":1,"a/b":2}"#, #"{"\n":1,"\u000A":2}"#,
            #"{"\u00e9":1,"\u00E9":2}"#, "{\"\u{e9}\":1,\"\\u00e9\":2}", #"{"":1,"":2}"#,
            "{\"\\ud83d\\ude00\":1,\"\u{1f600}\":2}", #"[{"x":{"a":1,"b":[],"a":2}}]"#,
            #"{"x":1,"data":{"a":"1","a":"2"}}"#, #"{"x":{"x":1},"x":2}"#,
            // Texts that are the same to Unicode: the sign for kelvin, and a letter with its accent.
            #"{"K":1,"\u212a":2}"#, #"{"\u00e9":1,"e\u0301":2}"#,
        ])
    func twice(text: String) {
        #expect(fault(text) == .repeatedName)
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
            "[\"a\nb\"]", "[\"\u{1f}\"]", "[\"\0\"]", "[\"\\na\nb\"]", "[\"a\\n\u{1f}\"]",
            #"["\x"]"#, #"["\u12"]"#, #"["\u12g4"]"#,
            #"["\U0041"]"#, #"["\"]"#, #"["\"#, #"["\u"#, #"["a]"#, #"{"\ud83d":1}"#,
            #"{"\ude00":1}"#, #"{"\ud83d\ud83d":1}"#, #"{"\ud83dx":1}"#, "{}\0",
            #"["\ud83d"]"#, #"["\ude00\ud83d"]"#, #"["\ud83d\n"]"#, #"["\ud83d\u0041"]"#,
        ])
    func refused(text: String) {
        #expect(fault(text) == .malformed)
    }

    @Test("has names of at most 128 bytes; longer ones are refused before they are compared")
    func longNames() {
        let most = String(repeating: "a", count: 128)
        #expect(fault("{\"\(most)\":1}") == nil)
        #expect(fault("{\"\(most)a\":1}") == .malformed)
        // Marks in an order that Unicode sorts the slowest.
        let marks = String(repeating: "\u{301}\u{316}", count: 4_000)
        #expect(fault("{\"a\(marks)\":1,\"b\":2}") == .malformed)
        #expect(fault("{\"a\":\"\(marks)\"}") == nil)
    }

    @Test("is UTF-8 throughout, even in members that are skipped")
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

    @Test("is bounded in its depth, and has any breadth")
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
        for last in [#""\u0037""#, #""15""#, #""16""#, #""1999""#] {
            #expect(fault("{\(many),\(last):0}") == .repeatedName)
        }
    }

    @Test("that was cut anywhere is not read")
    func cut() {
        let whole = [UInt8](#"{"a":[true,null,{"b":"\u00e9\\"}],"c":"x"}"#.utf8)
        #expect(fault(whole) == nil)
        for count in 0..<whole.count { #expect(fault(Array(whole[..<count])) == .malformed) }
    }
}
