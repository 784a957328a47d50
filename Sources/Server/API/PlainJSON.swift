// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// A JSON object as nearly every caller sends it: in ASCII, its members texts, each name once, and
/// nothing escaped but quotes and slashes.
///
/// What is in this form is read here, in a tenth of the time; everything else, and everything
/// that is wrong, is the decoder's for all of JSON. So this one accepts less than that, never more.
struct PlainObject {
    private struct Member {
        let name: Range<Int>
        let value: Range<Int>
        let isEscaped: Bool
    }

    private static let mostMembers = 16
    private let bytes: [UInt8]
    private var members: [Member] = []

    /// Nil for what is not in this form.
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

    /// The bytes of a member; nil where there is none of this name.
    subscript(name: StaticString) -> [UInt8]? {
        let member = members.first { name.isSpelled(by: bytes[$0.name]) }
        guard let member else { return nil }
        guard member.isEscaped else { return [UInt8](bytes[member.value]) }
        var value: [UInt8] = []
        value.reserveCapacity(member.value.count)
        var rest = bytes[member.value]
        // Most of it is not escaped, and copied as it is.
        while let mark = rest.firstIndex(of: UInt8(ascii: "\\")) {
            value += rest[..<mark]
            value.append(bytes[mark + 1])
            rest = rest[(mark + 2)...]
        }
        value += rest
        return value
    }

    /// The text of a member; nil where there is none of this name.
    func text(_ name: StaticString) -> String? {
        self[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Bytes from base64url without padding; nil where that is something else.
    func binary(_ name: StaticString) -> Binary? {
        self[name].flatMap { Base64.decode($0, .url) }.map { Binary($0) }
    }

    /// Whether a member is there.
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

    /// Goes behind a character, where it is the next one.
    private func skip(_ character: Unicode.Scalar, _ place: inout Int) -> Bool {
        skipBlanks(&place)
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Goes behind a text in quotes; gives where it is.
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
    /// Nil where anything is missing or other than wanted: then the decoder for all of JSON says
    /// what.
    init?(_ object: PlainObject)
}

/// Writes JSON (RFC 8259), member by member; who uses it names them in order.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    /// Begins with no bytes.
    init() { bytes.reserveCapacity(480) }

    /// Begins an object, of this name where it is a member.
    mutating func begin(_ name: StaticString? = nil) {
        if let name { put(name) }
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    /// Ends an object.
    mutating func end() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    /// A text; nothing where it is nil.
    mutating func put(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        put(name)
        put(text: text)
    }

    /// A whole number; nothing where it is nil.
    mutating func put(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        put(name)
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes += Decimal.encode(number.magnitude)
    }

    /// True or false.
    mutating func put(_ name: StaticString, _ value: Bool) {
        put(name)
        bytes += value ? Array("true".utf8) : Array("false".utf8)
    }

    /// Texts; nothing where they are nil.
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
        // Nearly all have nothing to escape.
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

/// An answer that is given so often that it writes itself.
protocol PlainEncodable: Encodable {
    /// Writes an object, its names in order.
    func write(to json: inout JSONWriter)
}

extension JSON {
    /// The same as for all that is encodable, faster.
    static func encode(plain value: some PlainEncodable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }
}
