// SPDX-License-Identifier: Apache-2.0
/// Compiled catalogues, as msgfmt(1) writes them.
package enum CatalogueFile {
    /// The languages that there must be.
    package static let languages = ["de", "es", "fr", "ja"]

    /// What po/ has in a language now, compiled as `make catalogues` does.
    package static func compiled(_ language: String) throws -> [UInt8] {
        let scratch = try Scratch()
        let command = Command([
            "msgfmt", "--check", "--endianness=little", "\(Layout.package)/po/\(language).po",
            "-o", scratch.at("signet.mo"),
        ])
        let outcome = try Program(command).expectEnd()
        guard outcome.succeeded else {
            throw TestFault.closed(awaited: "a catalogue", transcript: outcome.errors)
        }
        return try scratch.read("signet.mo")
    }

    /// One with these texts and translations, and a header that says UTF-8 unless told otherwise.
    package static func made(
        of texts: [String: String], header: String = "Content-Type: text/plain; charset=UTF-8\n"
    ) -> [UInt8] {
        let all = texts.merging(["": header]) { _, new in new }
            .map { (Array($0.key.utf8), Array($0.value.utf8)) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
        let tables = 28
        var place = tables + all.count * 16
        var file = numbers([0x9504_12DE, 0, all.count, tables, tables + all.count * 8, 0, place])
        var strings: [UInt8] = []
        for column in [all.map(\.0), all.map(\.1)] {
            for string in column {
                file += numbers([string.count, place])
                strings += string + [0]
                place += string.count + 1
            }
        }
        return file + strings
    }

    private static func numbers(_ values: [Int]) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
    }
}
