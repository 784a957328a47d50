// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Writes JSON (RFC 8259) without spaces: whole values, or objects member by member.
package struct JSONWriter {
    /// The characters of strings that are escaped.
    package enum Escapes: Sendable {
        /// Only the characters that JSON requires to be escaped.
        case required
        /// These, and all characters that could control a terminal.
        case terminal
    }

    package private(set) var bytes: [UInt8] = []
    private let escapes: Escapes
    private var isFirst = true

    /// Creates an empty document.
    package init(escaping escapes: Escapes = .required) {
        self.escapes = escapes
        bytes.reserveCapacity(480)
    }

    /// Begins an object; `name` is the member's name if it is in another object.
    package mutating func begin(_ name: StaticString? = nil) {
        if let name { put(name) }
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    /// Ends the object that was begun last and has not been ended.
    package mutating func end() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    /// Writes a string member, unless the string is nil.
    package mutating func put(_ name: StaticString, text: String?) {
        guard let text else { return }
        put(name)
        write(text)
    }

    /// Writes an integer member, unless the integer is nil.
    package mutating func put(_ name: StaticString, number: Int64?) {
        guard let number else { return }
        put(name)
        write(number)
    }

    /// Writes a boolean member.
    package mutating func put(_ name: StaticString, _ value: Bool) {
        put(name)
        write(.bool(value))
    }

    /// Writes a member that is an array of strings, unless the array is nil.
    package mutating func put(_ name: StaticString, texts: [String]?) {
        guard let texts else { return }
        put(name)
        write(.array(texts.map { .string($0) }))
    }

    /// Writes a whole value.
    package mutating func write(_ value: JSON) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let number): write(number)
        case .decimal(let text): bytes += text.utf8
        case .string(let text): write(text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(value)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.name)
                bytes.append(UInt8(ascii: ":"))
                write(member.value)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private mutating func put(_ name: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func write(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes += Decimal.encode(number.magnitude)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Nearly all strings have no character to escape.
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
            bytes.append(contentsOf: text.utf8)
        } else {
            for scalar in text.unicodeScalars { write(scalar) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        switch (scalar, escapes) {
        case ("\"", _), ("\\", _): bytes += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
        case ("\u{8}", .required): bytes += "\\b".utf8
        case ("\u{c}", .required): bytes += "\\f".utf8
        case ("\n", .required): bytes += "\\n".utf8
        case ("\r", .required): bytes += "\\r".utf8
        case ("\t", .required): bytes += "\\t".utf8
        case ("\0"..<" ", .required): escape(scalar)
        case (let scalar, .terminal) where scalar.value < 0xffff && isControl(scalar):
            escape(scalar)
        case (let scalar, _): bytes += String(scalar).utf8
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        let digits = String(scalar.value, radix: 16)
        bytes += "\\u".utf8
        bytes += String(repeating: "0", count: 4 - digits.count).utf8
        bytes += digits.utf8
    }

    private func isControl(_ scalar: Unicode.Scalar) -> Bool {
        Printable.escaping([UInt8](String(scalar).utf8)) { _, text in text = [] }.isEmpty
    }
}

extension JSON {
    /// Encodes the document without spaces and without a line end.
    package func encoded(escaping escapes: JSONWriter.Escapes = .required) -> [UInt8] {
        var writer = JSONWriter(escaping: escapes)
        writer.write(self)
        return writer.bytes
    }
}
