// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// A fast parser for JSON objects as nearly every caller sends them: ASCII, all values strings, no
/// repeated names, and no escapes except for quotes, backslashes and slashes.
///
/// It takes a tenth of the decoder's time. It accepts a subset of what `JSON.decode` accepts;
/// everything else, including everything invalid, is left to that.
struct PlainObject {
    private struct Member {
        let name: Range<Int>
        let value: Range<Int>
        let isEscaped: Bool
    }

    private static let mostMembers = 16
    private let bytes: [UInt8]
    private var members: [Member] = []

    /// Returns nil if the bytes are not in this form.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        members.reserveCapacity(4)
        var place = 0
        guard skip("{", &place) else { return nil }
        repeat {
            guard let name = text(&place), !name.isEscaped, skip(":", &place),
                let value = text(&place), members.count < Self.mostMembers,
                !members.contains(where: { isSame($0.name, name.range) })
            else { return nil }
            members.append(
                Member(name: name.range, value: value.range, isEscaped: value.isEscaped))
        } while skip(",", &place)
        guard skip("}", &place) else { return nil }
        skipBlanks(&place)
        guard place == bytes.count else { return nil }
    }

    /// A member's value, unescaped; nil if there is no member of this name.
    subscript(name: StaticString) -> [UInt8]? {
        let member = members.first { name.isSpelled(by: bytes[$0.name]) }
        guard let member else { return nil }
        guard member.isEscaped else { return [UInt8](bytes[member.value]) }
        var value: [UInt8] = []
        value.reserveCapacity(member.value.count)
        var rest = bytes[member.value]
        // Most of the value has no escapes and is copied in large pieces.
        while let mark = rest.firstIndex(of: UInt8(ascii: "\\")) {
            value += rest[..<mark]
            value.append(bytes[mark + 1])
            rest = rest[(mark + 2)...]
        }
        value += rest
        return value
    }

    /// A member's value as a string; nil if there is no member of this name.
    func text(_ name: StaticString) -> String? {
        self[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// A member's value decoded from base64url without padding; nil if it is not that.
    func binary(_ name: StaticString) -> Binary? {
        self[name].flatMap { Base64.decode($0, alphabet: .url) }.map { Binary($0) }
    }

    func has(_ name: StaticString) -> Bool {
        members.contains { name.isSpelled(by: bytes[$0.name]) }
    }

    private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.count == other.count && bytes[one] == bytes[other]
    }

    private func skipBlanks(_ place: inout Int) {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0a, 0x0d: place += 1
            default: return
            }
        }
    }

    /// Advances past a character if it is the next one after blanks.
    private func skip(_ character: Unicode.Scalar, _ place: inout Int) -> Bool {
        skipBlanks(&place)
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Advances past a string; returns its range.
    private func text(_ place: inout Int) -> (range: Range<Int>, isEscaped: Bool)? {
        guard skip("\"", &place) else { return nil }
        let start = place
        var isEscaped = false
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                place += 1
                return (start..<place - 1, isEscaped)
            case UInt8(ascii: "\\"):
                guard place + 1 < bytes.count else { return nil }
                switch bytes[place + 1] {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): place += 2
                default: return nil
                }
                isEscaped = true
            case 0x20...0x7e: place += 1
            default: return nil
            }
        }
        return nil
    }
}

/// A body that most callers send in the plain form.
protocol PlainDecodable: Decodable {
    /// Returns nil if a member is missing or wrong; `JSON.decode` then says what is wrong.
    init?(_ object: PlainObject)
}

/// Writes JSON (RFC 8259) member by member. The caller supplies the names in sorted order.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    init() { bytes.reserveCapacity(480) }

    /// Begins an object; `name` is its name as a member of the enclosing one.
    mutating func begin(_ name: StaticString? = nil) {
        if let name { put(name) }
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    mutating func end() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    /// Writes a string member; nothing if it is nil.
    mutating func put(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        put(name)
        put(text: text)
    }

    /// Writes an integer member; nothing if it is nil.
    mutating func put(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        put(name)
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes += Decimal.encode(number.magnitude)
    }

    mutating func put(_ name: StaticString, _ value: Bool) {
        put(name)
        bytes += value ? Array("true".utf8) : Array("false".utf8)
    }

    /// Writes a member that is an array of strings; nothing if it is nil.
    mutating func put(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        put(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            put(text: text)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func put(_ name: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func put(text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Nearly all strings have nothing to escape.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c }) {
            bytes.append(contentsOf: text.utf8)
        } else {
            escape(text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes += Array("\\u00".utf8) + Hexadecimal.encode([byte])
            default: bytes.append(byte)
            }
        }
    }
}

/// An answer that is given so often that it encodes itself.
protocol PlainEncodable: Encodable {
    /// Writes the object with its names in sorted order.
    func write(to json: inout JSONWriter)
}

extension JSON {
    /// Encodes like `encode(_:)`, but faster.
    static func encode(plain value: some PlainEncodable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }
}
