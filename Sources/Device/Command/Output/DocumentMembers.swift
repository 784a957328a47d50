// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

// The documents that commands print with `--json`.
extension JSON {
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
    static func document(_ kind: String, members: [(name: String, value: JSON)]) -> JSON {
        .object([("version", .number(1)), ("kind", .string(kind))] + members)
    }

    /// The document's text, without a line end, and without characters that could control a
    /// terminal.
    var text: Bytes { encoded(escaping: .terminal) }
}

extension Text {
    /// The text as a string.
    var string: String { String(decoding: bytes, as: UTF8.self) }
}
