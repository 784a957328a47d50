// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import SignedFormats

/// The account's prints that a reader has reported as no longer stored, with the time of the report.
///
/// The prompt tells the user who waits for a touch; the list is there so that `signet status` says
/// the same afterwards. It decides nothing: the reader is asked again at the next touch.
package struct LostPrintList: Equatable, Sendable {
    /// More prints than an account can have.
    static let limit = 64

    private(set) var reports: [PrintID: Instant] = [:]

    /// Creates an empty list.
    package init() {}

    /// Whether no print was reported.
    package var isEmpty: Bool { reports.isEmpty }

    /// When a print was reported as lost; nil if it was not.
    package func since(_ print: PrintID) -> Instant? { reports[print] }

    /// Adds a print; returns false if it was reported before.
    package mutating func add(_ print: PrintID, now: Instant) -> Bool {
        guard reports[print] == nil, reports.count < Self.limit else { return false }
        reports[print] = now
        return true
    }

    /// Removes a print, because a reader has found it; returns false if it was not in the list.
    package mutating func remove(_ print: PrintID) -> Bool {
        reports.removeValue(forKey: print) != nil
    }

    /// Removes the prints that are no longer enrolled.
    package mutating func keep(only prints: [PrintID]) {
        reports = reports.filter { prints.contains($0.key) }
    }
}

extension LostPrintList: LineRecord {
    static let cap = 8_192

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-lost-prints", number: 1)
        lines.put("prints", number: UInt64(reports.count))
        let ordered = reports.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        for (print, since) in ordered {
            lines.put("print", id: print)
            lines.put("since", since.text)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-lost-prints")
        let count = try lines.number("prints")
        guard count <= UInt64(Self.limit) else { throw .tooLong }
        for _ in 0..<count {
            let print: PrintID = try lines.identifier("print")
            reports[print] = try lines.instant("since")
        }
        guard reports.count == Int(count) else { throw .malformed }
    }
}

/// Stores the account's lost prints. A missing file counts as empty, and so does a damaged one.
package struct LostPrintStore: Sendable {
    let directory: Directory

    /// Returns the stored list.
    package func load() throws(StoreFault) -> LostPrintList {
        do throws(StoreFault) {
            return try directory.record(Self.name) ?? LostPrintList()
        } catch {
            guard error.isAboutContent else { throw error }
            return LostPrintList()
        }
    }

    /// Stores the list durably; an empty one leaves no file.
    package func save(_ list: LostPrintList) throws(StoreFault) {
        if list.isEmpty {
            return try files { () throws(FileFault) in try directory.remove(Self.name) }
        }
        try directory.keep(list, as: Self.name)
    }

    static let name = "lost-prints"
}
