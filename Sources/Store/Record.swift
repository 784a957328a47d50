// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Vault

/// What is kept in one file: strict, canonical, written durably as a whole.
protocol Record: Sendable {
    /// The most bytes that the file can have.
    static var cap: Int { get }
    /// The canonical form.
    func encoded() -> [UInt8]
    /// Reads exactly what `encoded` writes.
    init(contents: [UInt8]) throws(LineFault)
}

/// A record that is a text of lines and nothing else.
protocol LineRecord: Record {
    /// Reads the lines that `encoded` writes; the caller checks that none follows.
    init(parsing lines: inout LineReader) throws(LineFault)
}

extension LineRecord {
    init(contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        try self.init(parsing: &lines)
        try lines.end()
    }
}

extension Directory {
    /// Reads a record, nil where there is none; `.damaged` where it is not in its one form.
    func record<Value: Record>(
        _ name: String, as kind: Value.Type = Value.self
    ) throws(StoreFault) -> Value? {
        let bytes: [UInt8]?
        do throws(FileFault) {
            bytes = try read(name, cap: Value.cap)
        } catch {
            if case .tooLarge(let path) = error { throw .damaged(path: path) }
            throw .file(error)
        }
        guard let bytes else { return nil }
        do throws(LineFault) {
            return try Value(contents: bytes)
        } catch { throw .damaged(path: path + "/" + name) }
    }

    /// Writes a record durably.
    func keep(_ record: some Record, as name: String) throws(StoreFault) {
        try files { () throws(FileFault) in try replace(name, record.encoded()) }
    }
}

extension LineWriter {
    /// Appends the state that something is sealed to.
    mutating func put(enrolment: EnrolmentState) {
        put("generation", number: enrolment.generation)
        put("enrolment", Hexadecimal.encode(enrolment.digest))
    }
}

extension LineReader {
    /// The state that something is sealed to.
    mutating func enrolment() throws(LineFault) -> EnrolmentState {
        let generation = try number("generation")
        let digest = try hexadecimal("enrolment", count: 32)
        guard let state = EnrolmentState(generation: generation, digest: digest) else {
            throw .malformed
        }
        return state
    }

    /// A line that tells a record's kind and version; only version 1 is known.
    mutating func version(_ name: StaticString) throws(LineFault) {
        guard try number(name) == 1 else { throw .malformed }
    }

    /// A vault by its name.
    mutating func vault(_ name: StaticString) throws(LineFault) -> VaultKind {
        let text = try value(name, cap: 16)
        guard let kind = VaultKind.allCases.first(where: { Array($0.rawValue.utf8) == text })
        else { throw .malformed }
        return kind
    }

    /// A moment in the form of `Instant`.
    mutating func instant(_ name: StaticString) throws(LineFault) -> Instant {
        guard let instant = Instant(text: try value(name, cap: 20)) else { throw .malformed }
        return instant
    }

    /// Any number of bytes up to a cap, in base64url.
    mutating func bytes(_ name: StaticString, cap: Int) throws(LineFault) -> [UInt8] {
        guard let bytes = Base64.decode(try value(name, cap: cap * 2), .url), bytes.count <= cap
        else { throw .malformed }
        return bytes
    }
}
