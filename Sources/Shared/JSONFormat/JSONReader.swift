// SPDX-License-Identifier: Apache-2.0

// Reads JSON from other programs. Anything that two readers could understand differently is
// rejected. Reading takes linear time and does not use the stack, whatever the document.
extension JSON {
    /// The maximum nesting depth of containers.
    package static let deepest = 512
    /// The maximum length of a name in bytes.
    ///
    /// Comparing two strings sorts the combining marks of each character, in quadratic time, so the
    /// length of names must be limited.
    package static let longestName = 128

    /// Reads a whole document.
    ///
    /// Anything that two programs could read differently is rejected: an object with the same name
    /// twice, a trailing comma, a byte order mark, an encoding other than UTF-8, an unpaired
    /// surrogate. Names are compared as Unicode strings. The time is linear, and nesting does not
    /// use the stack.
    ///
    /// - Throws: the first fault found.
    package init(parsing bytes: [UInt8]) throws(JSONFault) {
        var reader = JSONReader(bytes)
        self = try reader.document()
    }
}

/// Reads one document, from its first byte to its last.
private struct JSONReader {
    /// An object or array that is open.
    private struct Container {
        let isObject: Bool
        /// The name of the member whose value is read next.
        var name = ""
        var members: [(name: String, value: JSON)] = []
        var elements: [JSON] = []
        /// The names read so far, once they are so many that a search through `members` costs more.
        var names: Set<String> = []

        var value: JSON { isObject ? .object(members) : .array(elements) }

        func has(_ name: String) -> Bool {
            names.isEmpty ? members.contains { $0.name == name } : names.contains(name)
        }

        mutating func add(_ value: JSON) {
            guard isObject else { return elements.append(value) }
            members.append((name, value))
            if members.count == 16 { names = Set(members.map(\.name)) }
            if members.count > 16 { names.insert(name) }
        }
    }

    private let bytes: [UInt8]
    private var place = 0
    /// The containers that are open, outermost first.
    private var open: [Container] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONFault) -> JSON {
        while true {
            guard var complete = try value() else { continue }
            while !open.isEmpty {
                open[open.count - 1].add(complete)
                guard let container = try following() else { break }
                complete = container
            }
            guard open.isEmpty else { continue }
            skipBlanks()
            guard place == bytes.count else { throw .malformed }
            return complete
        }
    }

    /// Reads a value; returns nil if it opens a container, whose first member or element comes
    /// next.
    private mutating func value() throws(JSONFault) -> JSON? {
        skipBlanks()
        switch try take() {
        case UInt8(ascii: "{"):
            try begin(object: true)
            if let empty = close("}") { return empty }
            try name()
            return nil
        case UInt8(ascii: "["):
            try begin(object: false)
            return close("]")
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"):
            try word("rue")
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("alse")
            return .bool(false)
        case UInt8(ascii: "n"):
            try word("ull")
            return .null
        case let first: return try number(from: first)
        }
    }

    /// Reads the comma or the end after a value in a container.
    ///
    /// After a comma it returns nil, and another value is to be read; at the end it returns the
    /// container.
    private mutating func following() throws(JSONFault) -> JSON? {
        let isObject = open[open.count - 1].isObject
        skipBlanks()
        switch try take() {
        case UInt8(ascii: ","):
            if isObject { try name() }
            return nil
        case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
            return open.removeLast().value
        default: throw .malformed
        }
    }

    private mutating func begin(object isObject: Bool) throws(JSONFault) {
        guard open.count < JSON.deepest else { throw .tooDeep }
        open.append(Container(isObject: isObject))
    }

    /// Closes the container that was just opened, if it is empty; returns nil otherwise.
    private mutating func close(_ end: Unicode.Scalar) -> JSON? {
        skipBlanks()
        return skip(end) ? open.removeLast().value : nil
    }

    /// Reads a member's name and the colon.
    private mutating func name() throws(JSONFault) {
        skipBlanks()
        guard try take() == UInt8(ascii: "\"") else { throw .malformed }
        let name = try text(most: JSON.longestName)
        guard !open[open.count - 1].has(name) else { throw .repeatedName }
        open[open.count - 1].name = name
        skipBlanks()
        guard try take() == UInt8(ascii: ":") else { throw .malformed }
    }

    /// Reads a number whose first character has been taken.
    private mutating func number(from first: UInt8) throws(JSONFault) -> JSON {
        let start = place - 1
        var isInteger = true
        let leading = first == UInt8(ascii: "-") ? try take() : first
        guard isDigit(leading) else { throw .malformed }
        if leading != UInt8(ascii: "0") { skipDigits() }
        if skip(".") {
            isInteger = false
            try digits()
        }
        if skip("e") || skip("E") {
            isInteger = false
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        guard isInteger, let integer = Int64(text) else { return .decimal(text) }
        return .integer(integer)
    }

    private mutating func word(_ rest: StaticString) throws(JSONFault) {
        let end = place + rest.utf8CodeUnitCount
        guard end <= bytes.count,
            rest.withUTF8Buffer({ unsafe bytes[place..<end].elementsEqual($0) })
        else { throw .malformed }
        place = end
    }

    private mutating func digits() throws(JSONFault) {
        guard isDigit(try take()) else { throw .malformed }
        skipDigits()
    }

    private mutating func skipDigits() {
        while place < bytes.count, isDigit(bytes[place]) { place += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0a, 0x0d: place += 1
            default: return
            }
        }
    }

    private mutating func take() throws(JSONFault) -> UInt8 {
        guard place < bytes.count else { throw .malformed }
        place += 1
        return bytes[place - 1]
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

// Strings.
extension JSONReader {
    /// Reads a string of at most `most` bytes, whose opening quote has been taken.
    private mutating func text(most: Int = .max) throws(JSONFault) -> String {
        let start = place
        skipPlain()
        guard place < bytes.count else { throw .malformed }
        switch bytes[place] {
        case UInt8(ascii: "\""):
            place += 1
            return try string(bytes[start..<place - 1], most: most)
        case UInt8(ascii: "\\"): return try escapedText(from: start, most: most)
        default: throw .malformed
        }
    }

    /// Reads the rest of a string that has an escape at `place`.
    private mutating func escapedText(
        from start: Int, most: Int
    ) throws(JSONFault) -> String {
        var plain = [UInt8](bytes[start..<place])
        while true {
            // What needs no decoding is copied in one piece.
            let run = place
            skipPlain()
            plain += bytes[run..<place]
            switch try take() {
            case UInt8(ascii: "\""): return try string(plain[...], most: most)
            case UInt8(ascii: "\\"): try escape(into: &plain)
            default: throw .malformed
            }
        }
    }

    /// Skips the bytes of a string up to its end, an escape, or a byte that may not be in it.
    private mutating func skipPlain() {
        place =
            bytes[place...].firstIndex {
                $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
            } ?? bytes.count
    }

    private func string(_ text: ArraySlice<UInt8>, most: Int) throws(JSONFault) -> String {
        guard text.count <= most, let string = String(validating: text, as: UTF8.self) else {
            throw .malformed
        }
        return string
    }

    /// Reads the rest of an escape, after the backslash.
    private mutating func escape(into plain: inout [UInt8]) throws(JSONFault) {
        switch try take() {
        case let mark where mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "\\"),
            let mark where mark == UInt8(ascii: "/"):
            plain.append(mark)
        case UInt8(ascii: "b"): plain.append(0x08)
        case UInt8(ascii: "f"): plain.append(0x0c)
        case UInt8(ascii: "n"): plain.append(0x0a)
        case UInt8(ascii: "r"): plain.append(0x0d)
        case UInt8(ascii: "t"): plain.append(0x09)
        case UInt8(ascii: "u"): plain += String(try scalar()).utf8
        default: throw .malformed
        }
    }

    /// Reads the digits after `\u`, and the second escape of a surrogate pair.
    private mutating func scalar() throws(JSONFault) -> Unicode.Scalar {
        var code = try unit()
        if (0xd800..<0xdc00).contains(code) {
            guard skip("\\"), skip("u") else { throw .malformed }
            let low = try unit()
            guard (0xdc00..<0xe000).contains(low) else { throw .malformed }
            code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw .malformed }
        return scalar
    }

    private mutating func unit() throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let byte = try take()
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw .malformed
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
