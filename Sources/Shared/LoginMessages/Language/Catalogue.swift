// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// The texts in one language, as msgfmt(1) compiles them: GNU's .mo, revision 0, little-endian, UTF-8.
///
/// libc's gettext(3) is not used: see docs/contributor/LANGUAGES.md. Every length and place in the file is checked
/// where it is read, so that a damaged file has fewer translations, and does nothing else.
package struct Catalogue: Sendable {
    private let file: Bytes
    private let count: Int
    private let patterns: Int
    private let translations: Int

    /// The length in bytes that no file of ours comes near.
    package static let maximumLength = 524_288
    /// The name of the files, as `…/de/LC_MESSAGES/` has them.
    package static let fileName: StaticString = "signet.mo"
    /// Where the directories of the languages are; a file in the first comes before the others.
    ///
    /// Fixed: what an installed program shows depends on no variable of the environment.
    package static var directories: [StaticString] {
        ["/usr/local/share/locale", "/usr/share/locale"]
    }

    private static let magic: UInt32 = 0x9504_12DE
    private static let headerLength = 28

    /// The texts in a file's bytes; nil where it is no such file.
    package init?(_ file: Bytes) {
        guard file.count >= Catalogue.headerLength, file.count <= Catalogue.maximumLength,
            Catalogue.number(in: file, at: 0) == Catalogue.magic,
            Catalogue.number(in: file, at: 4) == 0
        else { return nil }
        self.file = file
        count = Int(Catalogue.number(in: file, at: 8))
        patterns = Int(Catalogue.number(in: file, at: 12))
        translations = Int(Catalogue.number(in: file, at: 16))
        guard count <= file.count / 8, isTable(at: patterns), isTable(at: translations),
            let header = translation(of: []), Catalogue.isUTF8(header)
        else { return nil }
    }

    /// The translation of a text's pattern; nil where there is none.
    package func translation(of pattern: Bytes) -> Bytes? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            guard let found = entry(middle, of: patterns) else { return nil }
            if found.elementsEqual(pattern) {
                guard let own = entry(middle, of: translations), !own.isEmpty else { return nil }
                return Bytes(own)
            }
            if found.lexicographicallyPrecedes(pattern) { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private func isTable(at place: Int) -> Bool {
        place <= file.count && count * 8 <= file.count - place
    }

    /// The bytes of an entry of a table; nil where it says that they are outside of the file.
    private func entry(_ index: Int, of table: Int) -> ArraySlice<UInt8>? {
        let length = Int(Catalogue.number(in: file, at: table + index * 8))
        let place = Int(Catalogue.number(in: file, at: table + index * 8 + 4))
        guard place <= file.count, length <= file.count - place else { return nil }
        return file[place..<place + length]
    }

    /// A number of four bytes; the caller has checked that they are there.
    private static func number(in file: Bytes, at place: Int) -> UInt32 {
        UInt32(file[place]) | UInt32(file[place + 1]) << 8 | UInt32(file[place + 2]) << 16
            | UInt32(file[place + 3]) << 24
    }

    private static func isUTF8(_ header: Bytes) -> Bool {
        let wanted = StaticString("charset=UTF-8").bytes
        var rest = header[...]
        while rest.count >= wanted.count {
            if rest.starts(with: wanted) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
