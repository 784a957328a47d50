// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// The likely owners of prints stored on readers, so that a login need not search all accounts.
///
/// They are only hints. The caller must confirm them against the account's own prints.
package struct PrintOwners: Sendable {
    let directory: Directory

    /// Returns the last known owner of a print; nil if there is none.
    ///
    /// `print` is the SHA-256 of the print, 32 bytes.
    package func hint(of print: [UInt8]) -> UInt32? {
        (try? directory.record(name(print), as: OwnerRecord.self))?.uid
    }

    /// Records the owner of a print.
    ///
    /// With nil, records that no account owns it now.
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

/// A record in `stored/`.
///
/// Its file is named after the print's SHA-256.
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
