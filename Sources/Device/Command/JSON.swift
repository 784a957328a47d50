// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import SignedFormats

/// A JSON document, RFC 8259, written in one line.
///
/// It is indirect because Swift 6.2 otherwise reports a circular reference when a target that
/// imports this one is compiled.
indirect enum JSON {
    case null
    case bool(Bool)
    case number(UInt64)
    case string(String)
    case array([JSON])
    case object([(name: String, value: JSON)])

    /// A string from outside; if it is not UTF-8, the offending bytes are shown as `\xNN`.
    static func bytes(_ bytes: Bytes) -> JSON {
        .string(String(validating: bytes, as: UTF8.self) ?? Text(escaping: bytes).string)
    }

    /// A value, or null for nil.
    static func optional<Value>(_ value: Value?, _ make: (Value) -> JSON) -> JSON {
        value.map(make) ?? .null
    }

    /// A moment as a string in the format of RFC 3339.
    static func instant(_ seconds: UInt64) -> JSON {
        .bytes(Instant(seconds: seconds).text)
    }

    /// A document of this program: the version, the kind and its members.
    static func document(_ kind: String, _ members: [(name: String, value: JSON)]) -> JSON {
        .object([("version", .number(1)), ("kind", .string(kind))] + members)
    }

    /// The document's text, without a line end.
    var text: Bytes {
        var text: Bytes = []
        write(to: &text)
        return text
    }

    private func write(to text: inout Bytes) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .number(let number): text += String(number).utf8
        case .string(let string): JSON.write(string, to: &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                JSON.write(member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string, and escapes all characters that could control a terminal, not only those
    /// that JSON requires.
    private static func write(_ string: String, to text: inout Bytes) {
        text.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                text.append(UInt8(ascii: "\\"))
                text += String(scalar).utf8
            case let scalar where scalar.value < 0xFFFF && isControl(scalar):
                let digits = String(scalar.value, radix: 16)
                text += "\\u".utf8
                text += String(repeating: "0", count: 4 - digits.count).utf8
                text += digits.utf8
            default: text += String(scalar).utf8
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        Printable.escaping(Bytes(String(scalar).utf8)) { _, text in text = [] }.isEmpty
    }
}

extension Text {
    /// The text as a string.
    var string: String { String(decoding: bytes, as: UTF8.self) }
}
