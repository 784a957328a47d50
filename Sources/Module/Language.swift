// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import SignedFormats

/// The system's language, for messages to the user; the journal is always in English.
///
/// The locale files are read when the first text is shown. Environment variables are never
/// consulted, because in sudo's process the caller controls them. If anything is missing, damaged
/// or not owned by root, texts are English.
final class Language {
    private var catalogue: Catalogue?
    private var isKnown = false

    /// Returns a text for the user as UTF-8; `isConsole` is passed to `Languages`.
    func rendering(_ text: Text, isConsole: Bool) -> Bytes {
        if !isKnown {
            isKnown = true
            catalogue = Language.catalogue(isConsole)
        }
        let catalogue = catalogue
        return text.rendered { pattern in catalogue?.translation(of: pattern) }
    }

    private static func catalogue(_ isConsole: Bool) -> Catalogue? {
        for path in LocaleFile.paths {
            guard let bytes = contents(of: path.bytes, cap: LocaleFile.maximumLength) else {
                continue
            }
            let file = LocaleFile(bytes)
            for name in Languages(isConsole: isConsole, file.value).names {
                for directory in Catalogue.directories {
                    if let found = catalogue(name, in: directory) { return found }
                }
            }
        }
        return nil
    }

    private static func catalogue(_ name: Bytes, in directory: StaticString) -> Catalogue? {
        let slash = UInt8(ascii: "/")
        let path =
            directory.bytes + [slash] + name + StaticString("/LC_MESSAGES/").bytes
            + Catalogue.fileName.bytes
        guard let bytes = contents(of: path, cap: Catalogue.maximumLength) else { return nil }
        return Catalogue(bytes)
    }

    /// Reads a regular file of root's at an absolute path; nil if it is absent or untrusted.
    private static func contents(of path: Bytes, cap: Int) -> Bytes? {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")),
            let directory = try? TrustedPath.directory(Bytes(path[..<slash]))
        else { return nil }
        let name = Bytes(path[(slash + 1)...])
        return try? TrustedPath.contents(of: name, in: directory, cap: cap)
    }
}
