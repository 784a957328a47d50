// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// The record `account`: who it is, and which prints count.
///
/// Written as a whole, so that a change of several prints happens at once or not at all.
struct AccountRecord: LineRecord, Equatable {
    static let cap = 2_048
    /// The form that is written; the only other that there ever was is 1, without prints.
    private static let version: UInt64 = 2

    let name: [UInt8]
    let uid: UInt32
    /// How often the prints were changed.
    var generation: UInt64
    let created: Instant
    /// Sorted by id, no id twice, at most `PrintStore.limit`.
    private(set) var prints: [ListedPrint]

    init(name: [UInt8], uid: UInt32, generation: UInt64, created: Instant) {
        self.name = name
        self.uid = uid
        self.generation = generation
        self.created = created
        prints = []
    }

    /// Puts other prints in the place of those that count.
    mutating func list(_ prints: [ListedPrint]) {
        self.prints = prints.sorted {
            $0.identifier.lexicographicallyPrecedes($1.identifier)
        }
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-account", number: Self.version)
        lines.put("name", name)
        lines.put("uid", number: UInt64(uid))
        lines.put("generation", number: generation)
        lines.put("created", created.text)
        lines.put("prints", number: UInt64(prints.count))
        for print in prints {
            lines.put("print", Hexadecimal.encode(print.identifier))
            lines.put("finger", print.finger?.name.bytes ?? ListedPrint.unknown)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try self.init(parsing: &lines, version: Self.version)
        let count = try lines.number("prints")
        guard count <= PrintStore.limit else { throw .tooLong }
        for _ in 0..<count {
            let print = try ListedPrint(parsing: &lines)
            let isInOrder = prints.last.map {
                $0.identifier.lexicographicallyPrecedes(print.identifier)
            }
            guard isInOrder ?? true else { throw .malformed }
            prints.append(print)
        }
    }

    /// Reads the form of version 1, when every file in `prints/` counted; the list is left empty.
    init(versionOne contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        try self.init(parsing: &lines, version: 1)
        try lines.end()
    }

    private init(parsing lines: inout LineReader, version: UInt64) throws(LineFault) {
        guard try lines.number("signet-account") == version else { throw .malformed }
        name = try lines.value("name", cap: 255)
        uid = try lines.uid()
        generation = try lines.number("generation")
        created = try lines.instant("created")
        prints = []
        guard AccountRecord.isSupported(name: name) else { throw .malformed }
    }

    /// Whether a name can stand as a principal in an allowed_signers file, which has patterns,
    /// lists, quotes and comments; ssh-keygen(1). Such names no passwd(5) should have anyway.
    static func isSupported(name: [UInt8]) -> Bool {
        guard (1...255).contains(name.count), PercentEncoding.encode(name) == name else {
            return false
        }
        return !name.contains { $0 == 0x20 || Array("*?!,:\"#/".utf8).contains($0) }
    }
}

/// A print that counts, whether its file is there or not.
struct ListedPrint: Equatable, Sendable {
    /// Its id, 16 bytes; its file is named after it.
    let identifier: [UInt8]
    /// Which finger; nil where version 1 had a file that did not tell.
    let finger: Finger?

    fileprivate static let unknown = StaticString("unknown").bytes

    init(identifier: [UInt8], finger: Finger?) {
        self.identifier = identifier
        self.finger = finger
    }

    /// The name of its file in `prints/`.
    var fileName: String { Self.fileName(identifier) }

    /// The name of a print's file in `prints/`.
    static func fileName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
    }

    /// The id that a file's name stands for; nil where it is no print's.
    static func identifier(ofFile name: String) -> [UInt8]? {
        guard let bytes = Hexadecimal.decode(Array(name.utf8)), bytes.count == 16 else {
            return nil
        }
        return bytes
    }

    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        identifier = try lines.hexadecimal("print", count: 16)
        let text = try lines.value("finger", cap: 16)
        if text == Self.unknown {
            finger = nil
            return
        }
        guard let known = Finger.allCases.first(where: { $0.name.bytes == text }) else {
            throw .malformed
        }
        finger = known
    }
}
