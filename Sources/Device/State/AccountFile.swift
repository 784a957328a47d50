// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The record `account`: the account's identity, and the list of its prints.
///
/// It is written as a whole, so that a change of several prints takes effect completely or not at
/// all. The list decides which files in `prints/` count. The record is not authenticated, but the
/// prints' files are, and a credential opens only for the prints and the generation that it was
/// sealed to.
struct AccountFile: LineRecord, Equatable {
    static let cap = 2_048
    /// The version that is written.
    ///
    /// Version 1, without the list of prints, can still be read.
    private static let version: UInt64 = 2

    private(set) var name: AccountName
    /// The name that everything of the account is sealed under: the one at its first enrolment.
    let sealedName: AccountName
    let uid: UInt32
    /// The number of changes made to the set of prints.
    var generation: UInt64
    let created: Instant
    /// The listed prints, sorted by id, without duplicates, at most `PrintStore.limit`.
    private(set) var prints: [ListedPrint]

    init(name: AccountName, uid: UInt32, generation: UInt64, created: Instant) {
        self.name = name
        sealedName = name
        self.uid = uid
        self.generation = generation
        self.created = created
        prints = []
    }

    /// Replaces the list of prints.
    mutating func list(_ prints: [ListedPrint]) {
        self.prints = prints.sorted { $0.identifier < $1.identifier }
    }

    /// Returns the record of the same account under another name.
    func renamed(to name: AccountName) -> AccountFile {
        var record = self
        record.name = name
        return record
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-account", number: Self.version)
        lines.put("name", name: name)
        if sealedName != name { lines.put("sealed-name", name: sealedName) }
        lines.put("uid", number: UInt64(uid))
        lines.put("generation", number: generation)
        lines.put("created", created.text)
        lines.put("prints", number: UInt64(prints.count))
        for print in prints {
            lines.put("print", id: print.identifier)
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
            let isInOrder = prints.last.map { $0.identifier < print.identifier }
            guard isInOrder ?? true else { throw .malformed }
            prints.append(print)
        }
    }

    /// Parses version 1, in which every file in `prints/` counted as a print.
    ///
    /// The list of prints is left empty; `StateDirectory.migrate` fills it.
    init(versionOne contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        try self.init(parsing: &lines, version: 1)
        try lines.end()
    }

    private init(parsing lines: inout LineReader, version: UInt64) throws(LineFault) {
        guard try lines.number("signet-account") == version else { throw .malformed }
        name = try lines.name("name", cap: AccountName.longest)
        if version == Self.version, lines.isNext("sealed-name") {
            sealedName = try lines.name("sealed-name", cap: AccountName.longest)
            guard sealedName != name, sealedName.isPrincipal else { throw .malformed }
        } else {
            sealedName = name
        }
        uid = try lines.uid()
        generation = try lines.number("generation")
        created = try lines.instant("created")
        prints = []
        guard name.isPrincipal else { throw .malformed }
    }
}

/// A print in the list of the record `account`.
///
/// Its file may be missing or damaged.
struct ListedPrint: Equatable, Sendable {
    /// The print's id.
    ///
    /// The file's name is its hexadecimal form.
    let identifier: PrintID
    /// The finger; nil if it could not be read from a damaged file of version 1.
    let finger: Finger?

    fileprivate static let unknown = StaticString("unknown").bytes

    init(identifier: PrintID, finger: Finger?) {
        self.identifier = identifier
        self.finger = finger
    }

    /// The name of the print's file in `prints/`.
    var fileName: String { Self.fileName(identifier) }

    /// The name of a print's file in `prints/`.
    static func fileName(_ identifier: PrintID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }

    /// Returns the id that a file's name encodes; nil if it is not the name of a print's file.
    static func identifier(ofFile name: String) -> PrintID? {
        PrintID(hexadecimal: Array(name.utf8))
    }

    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        identifier = try lines.identifier("print")
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
