// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing
import SignedFormats

/// The contents of one file, in a strict canonical form.
///
/// A record is always written durably and as a whole. A file that is not exactly in the form that
/// `encoded` writes is rejected as damaged.
protocol Record: Sendable {
    /// The maximum length of the file in bytes.
    static var cap: Int { get }
    /// Returns the canonical form.
    func encoded() -> [UInt8]
    /// Parses exactly what `encoded` writes.
    init(contents: [UInt8]) throws(LineFault)
}

/// A record that consists only of lines of text.
protocol LineRecord: Record {
    /// Parses the lines that `encoded` writes.
    ///
    /// The caller checks that no more follow.
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
    /// Reads a record; nil if the file does not exist.
    ///
    /// Throws `.damaged` if the file is too long or not in canonical form, and `.file` if it cannot
    /// be read or is not trusted.
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

    /// Writes a record durably, replacing the previous one atomically.
    func keep(_ record: some Record, as name: String) throws(StoreFault) {
        try files { () throws(FileFault) in try replace(name, bytes: record.encoded()) }
    }
}

extension LineWriter {
    /// Writes an enrolment state, as two lines.
    mutating func put(enrolment: EnrolmentState) {
        put("generation", number: enrolment.generation)
        put("enrolment", Hexadecimal.encode(enrolment.digest))
    }
}

extension LineReader {
    /// Reads an enrolment state.
    mutating func enrolment() throws(LineFault) -> EnrolmentState {
        let generation = try number("generation")
        let digest = try hexadecimal("enrolment", count: 32)
        guard let state = EnrolmentState(generation: generation, digest: digest) else {
            throw .malformed
        }
        return state
    }

    /// Reads the line with a record's kind and version, and throws unless the version is 1.
    mutating func version(_ name: StaticString) throws(LineFault) {
        guard try number(name) == 1 else { throw .malformed }
    }

    /// Reads a vault by its name.
    mutating func vault(_ name: StaticString) throws(LineFault) -> VaultKind {
        let text = try value(name, cap: 16)
        guard let kind = VaultKind.allCases.first(where: { Array($0.rawValue.utf8) == text })
        else { throw .malformed }
        return kind
    }

    /// Reads a time in the form of `Instant`.
    mutating func instant(_ name: StaticString) throws(LineFault) -> Instant {
        guard let instant = Instant(text: try value(name, cap: 20)) else { throw .malformed }
        return instant
    }

    /// Reads up to `cap` bytes in base64url.
    mutating func bytes(_ name: StaticString, cap: Int) throws(LineFault) -> [UInt8] {
        guard let bytes = Base64.decode(try value(name, cap: cap * 2), alphabet: .url),
            bytes.count <= cap
        else { throw .malformed }
        return bytes
    }
}
