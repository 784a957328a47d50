// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSONFormat
import Testing

@Suite("JSON that is written")
struct JSONWriterTests {
    private func text(
        _ json: JSON, _ escapes: JSONWriter.Escapes = .required
    ) -> String {
        String(decoding: json.encoded(escaping: escapes), as: UTF8.self)
    }

    @Test("has no spaces, and the members in their order")
    func values() {
        let json = JSON.object([
            ("b", .array([.null, .bool(true), .bool(false), .integer(-1), .number(.max)])),
            ("a", .object([])), ("", .array([])), ("c", .decimal("1.5")),
        ])
        #expect(
            text(json)
                == #"{"b":[null,true,false,-1,18446744073709551615],"a":{},"":[],"c":1.5}"#)
        #expect(text(.integer(.min)) == "-9223372036854775808")
    }

    @Test("has the escapes that Foundation's encoder writes")
    func escapes() throws {
        let odd = (0..<0x80).map { String(Unicode.Scalar($0)) }.joined() + "/é日\u{2028}\u{1f600}"
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        #expect(text(.string(odd)) == String(decoding: try encoder.encode(odd), as: UTF8.self))
    }

    @Test("has nothing that controls a terminal, where that is asked for")
    func terminal() throws {
        let odd = "a\n\u{1b}[2J\u{7f}\u{85}\u{202e}é\"\\"
        let json = text(.string(odd), .terminal)
        #expect(json == #""a\u000a\u001b[2J\u007f\u0085\u202eé\"\\""#)
        #expect(try JSON(parsing: [UInt8](json.utf8)).stringValue == odd)
    }

    @Test("is written member by member as it is as a whole")
    func members() {
        var writer = JSONWriter()
        writer.begin()
        writer.put("a", text: "x\n")
        writer.put("none", text: nil as String?)
        writer.put("b", number: 7)
        writer.begin("c")
        writer.put("d", true)
        writer.end()
        writer.put("e", texts: ["y", "\""])
        writer.end()
        let whole = JSON.object([
            ("a", .string("x\n")), ("b", .integer(7)), ("c", .object([("d", .bool(true))])),
            ("e", .array([.string("y"), .string("\"")])),
        ])
        #expect(writer.bytes == whole.encoded())
    }
}
