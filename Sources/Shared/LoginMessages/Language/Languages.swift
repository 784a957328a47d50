// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// The user's languages, as the variables of the locale name them: locale(7), and GNU's
/// `LANGUAGE`.
package struct Languages: Equatable, Sendable {
    /// The directories' names of the catalogues to be looked for, the most wanted first: `de_AT`,
    /// `de`.
    ///
    /// Empty for English, which needs none. None has any byte but letters and one `_`.
    package private(set) var names: [Bytes] = []

    /// As many as are looked for.
    private static let most = 8

    /// From the variables' values; one that is empty counts as not set.
    ///
    /// English if the locale's encoding is not UTF-8, because texts are only ever shown in UTF-8.
    ///
    /// - Parameter isConsole: whether it is shown on Linux's own console, whose fonts have no
    ///   Japanese.
    package init(isConsole: Bool, _ value: (StaticString) -> Bytes?) {
        func first(_ variables: [StaticString]) -> Bytes? {
            for variable in variables {
                if let value = value(variable), !value.isEmpty { return value }
            }
            return nil
        }
        guard let locale = first(["LC_ALL", "LC_MESSAGES", "LANG"]),
            Languages.language(of: locale) != nil || Languages.isNeutral(locale),
            let writing = first(["LC_ALL", "LC_CTYPE", "LANG"]), Languages.isUTF8(writing)
        else { return }
        let wanted = first(["LANGUAGE"]) ?? locale
        for name in wanted.parts(between: UInt8(ascii: ":")) {
            guard let language = Languages.language(of: Bytes(name)) else { continue }
            let short = Bytes(language.prefix { $0 != UInt8(ascii: "_") })
            guard short != StaticString("en").bytes else { return }
            if isConsole, short == StaticString("ja").bytes { continue }
            for name in short == language ? [short] : [language, short]
            where names.count < Languages.most {
                names.append(name)
            }
        }
    }

    /// Whether a locale is that of no country: `C.UTF-8`.
    private static func isNeutral(_ locale: Bytes) -> Bool {
        locale.starts(with: StaticString("C.").bytes)
    }

    /// Whether a locale's texts are UTF-8: `de_DE.UTF-8`, `de_DE.utf8@euro`.
    private static func isUTF8(_ locale: Bytes) -> Bool {
        var code: Bytes = []
        for byte in locale.drop(while: { $0 != UInt8(ascii: ".") }).dropFirst() {
            if byte == UInt8(ascii: "@") { break }
            // Names differ in hyphens and case only.
            if byte != UInt8(ascii: "-") { code.append(byte | 0x20) }
        }
        return code == StaticString("utf8").bytes
    }

    /// `de_DE` of `de_DE.UTF-8@euro`; nil unless it is two or three letters, and a country.
    private static func language(of locale: Bytes) -> Bytes? {
        let name = locale.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
        let parts = Bytes(name).parts(between: UInt8(ascii: "_"))
        guard let language = parts.first, (2...3).contains(language.count), parts.count <= 2,
            language.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return nil }
        guard parts.count == 2 else { return Bytes(name) }
        guard parts[1].count == 2,
            parts[1].allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        return Bytes(name)
    }
}
