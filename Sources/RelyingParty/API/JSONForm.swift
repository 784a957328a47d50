// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Checks that bytes are strict JSON (RFC 8259), and that no object has a name twice.
///
/// The decoder is more lenient: it takes the first of two members with the same name, where another
/// program may take the last; it accepts a trailing comma, a byte order mark, and UTF-16. A body
/// that two programs could read differently is refused here. Names are compared like the decoder
/// compares them: unescaped, as Unicode strings. Takes linear time and does not recurse.
struct JSONForm {
    enum Fault: Error {
        case malformed, tooDeep, repeatedName
    }

    /// The same limit as that of JSONDecoder.
    private static let deepest = 512
    /// The maximum length of a name in bytes: comparing two strings sorts the combining marks of
    /// each character, in quadratic time.
    private static let longestName = 128
    private let bytes: [UInt8]
    private var place = 0
    /// The containers that are open, outermost first; true for an object.
    private var open: [Bool] = []
    /// The names in each open object, outermost first.
    private var names: [Set<String>] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Checks a whole body; throws the first fault found.
    static func check(_ bytes: [UInt8]) throws(Fault) {
        var form = JSONForm(bytes)
        repeat { try form.value() } while try form.goesOn()
        form.skipBlanks()
        guard form.place == bytes.count else { throw .malformed }
    }

    /// Advances past a value, or past the opening of containers up to the first value in them.
    private mutating func value() throws(Fault) {
        while true {
            skipBlanks()
            switch try take() {
            case UInt8(ascii: "{"):
                try begin(object: true)
                if try isEnd("}") { return }
                try name()
            case UInt8(ascii: "["):
                try begin(object: false)
                if try isEnd("]") { return }
            case UInt8(ascii: "\""):
                _ = try text()
                return
            case UInt8(ascii: "t"): return try word("rue")
            case UInt8(ascii: "f"): return try word("alse")
            case UInt8(ascii: "n"): return try word("ull")
            case UInt8(ascii: "-"): return try number(from: take())
            case let first: return try number(from: first)
            }
        }
    }

    /// Advances past what follows a value; returns whether another value follows.
    private mutating func goesOn() throws(Fault) -> Bool {
        while let isObject = open.last {
            skipBlanks()
            switch try take() {
            case UInt8(ascii: ","):
                if isObject { try name() }
                return true
            case UInt8(ascii: "}"):
                guard isObject else { throw .malformed }
                end()
            case UInt8(ascii: "]"):
                guard !isObject else { throw .malformed }
                end()
            default: throw .malformed
            }
        }
        return false
    }

    private mutating func begin(object isObject: Bool) throws(Fault) {
        guard open.count < Self.deepest else { throw .tooDeep }
        open.append(isObject)
        if isObject { names.append([]) }
    }

    private mutating func end() {
        if open.popLast() == true { names.removeLast() }
    }

    /// Closes the container that was just opened, if it is empty.
    private mutating func isEnd(_ character: Unicode.Scalar) throws(Fault) -> Bool {
        skipBlanks()
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        end()
        return true
    }

    /// Advances past a member's name and the colon.
    private mutating func name() throws(Fault) {
        skipBlanks()
        guard try take() == UInt8(ascii: "\"") else { throw .malformed }
        let (range, isEscaped) = try text()
        guard range.count <= Self.longestName else { throw .malformed }
        let plain = isEscaped ? try unescaped(range) : Array(bytes[range])
        guard let name = String(validating: plain, as: UTF8.self) else { throw .malformed }
        guard names[names.count - 1].insert(name).inserted else { throw .repeatedName }
        skipBlanks()
        guard try take() == UInt8(ascii: ":") else { throw .malformed }
    }

    /// Advances past a string whose opening quote was taken; returns its range.
    private mutating func text() throws(Fault) -> (range: Range<Int>, isEscaped: Bool) {
        let start = place
        var isEscaped = false
        var isASCII = true
        while true {
            switch try take() {
            case UInt8(ascii: "\""):
                let range = start..<place - 1
                if !isASCII && String(validating: bytes[range], as: UTF8.self) == nil {
                    throw .malformed
                }
                return (range, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                let mark = try take()
                if mark == UInt8(ascii: "u") {
                    for _ in 0..<4 { try digit(hexadecimal: true) }
                } else if Self.escaped(mark) == nil {
                    throw .malformed
                }
            case 0..<0x20: throw .malformed
            case 0x80...: isASCII = false
            default: break
            }
        }
    }

    /// Advances past a number whose first digit was taken.
    private mutating func number(from first: UInt8) throws(Fault) {
        guard isDigit(first) else { throw .malformed }
        if first != UInt8(ascii: "0") { skipDigits() }
        if skip(".") {
            try digit()
            skipDigits()
        }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digit()
            skipDigits()
        }
    }

    private mutating func word(_ rest: StaticString) throws(Fault) {
        let end = place + rest.utf8CodeUnitCount
        guard end <= bytes.count, rest.isSpelled(by: bytes[place..<end]) else { throw .malformed }
        place = end
    }

    private mutating func digit(hexadecimal: Bool = false) throws(Fault) {
        let byte = try take()
        guard hexadecimal ? Self.hexadecimal(byte) != nil : isDigit(byte) else {
            throw .malformed
        }
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

    private mutating func take() throws(Fault) -> UInt8 {
        guard place < bytes.count else { throw .malformed }
        place += 1
        return bytes[place - 1]
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

// Unescaping of names.
extension JSONForm {
    /// Unescapes a string that has been checked; throws for an unpaired surrogate.
    private func unescaped(_ range: Range<Int>) throws(Fault) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = bytes[range]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let mark = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            if let character = Self.escaped(mark) {
                plain.append(character)
                continue
            }
            var code = Self.unit(&rest)
            if (0xd800..<0xdc00).contains(code) {
                guard rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
                    throw .malformed
                }
                rest = rest.dropFirst(2)
                let low = Self.unit(&rest)
                guard (0xdc00..<0xe000).contains(low) else { throw .malformed }
                code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw .malformed }
            plain += String(scalar).utf8
        }
        return plain
    }

    /// The four digits after `\u`, which are known to be there.
    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32 {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.reduce(0) { $0 << 4 | UInt32(hexadecimal($1) ?? 0) }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The character for the letter after a backslash, other than `u`; nil if it is not an escape.
    private static func escaped(_ mark: UInt8) -> UInt8? {
        switch mark {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): mark
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }
}
