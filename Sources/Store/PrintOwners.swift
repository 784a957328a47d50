// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// Whose account a print on a reader is likely to be, so that a login need not look through all.
///
/// Only a hint: nothing may hang on it that the account's own prints do not confirm.
package struct PrintOwners: Sendable {
    let directory: Directory

    /// The uid that a print, by its SHA-256, was last found to be of; nil where that is not known.
    package func hint(of print: [UInt8]) -> UInt32? {
        (try? directory.record(name(print), as: OwnerRecord.self))?.uid
    }

    /// Remembers whose a print is, or that it is nobody's any more.
    package func remember(_ uid: UInt32?, asOwnerOf print: [UInt8]) throws(StoreFault) {
        if let uid { return try directory.keep(OwnerRecord(uid: uid), as: name(print)) }
        try files { () throws(FileFault) in
            if try directory.contains(name(print)) { try directory.remove(name(print)) }
        }
    }

    private func name(_ print: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(print), as: UTF8.self)
    }
}

/// A record in `stored/`, named after the print.
struct OwnerRecord: LineRecord, Equatable {
    static let cap = 128

    let uid: UInt32

    init(uid: UInt32) {
        self.uid = uid
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-stored", number: 1)
        lines.put("uid", number: UInt64(uid))
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-stored")
        uid = try lines.uid()
    }
}
