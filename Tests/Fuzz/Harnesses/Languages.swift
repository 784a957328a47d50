// SPDX-License-Identifier: Apache-2.0
import LoginMessages

private let sample: Text = "\(bytes("al%1$sice")) has \(number: UInt8(3)) fingers"
private let pattern = bytes("%1$s has %2$s fingers")

/// The claims that hold of whatever is shown.
private func requireLine(_ shown: [UInt8]) {
    require(String(validating: shown, as: UTF8.self) != nil, "a line that is not UTF-8")
    require(!shown.contains { $0 < 0x20 || $0 == 0x7F }, "a line with controls")
    // Bytes, not characters: a translation may put a mark over the last letter.
    for argument in ["al%1$sice", "3"] {
        require(shown.firstRange(of: bytes(argument)) != nil, "an argument is lost")
    }
}

/// A compiled catalogue.
enum Catalogues: Harness {
    static let name = "catalogues"
    static var seeds: [[UInt8]] {
        let header = ("", "Content-Type: text/plain; charset=UTF-8\n")
        let own = [("%1$s has %2$s fingers", "%2$s Finger hat %1$s"), ("a", "A"), ("z", "Z")]
        return [file([header]), file([header] + own), file([header] + own.reversed())]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let catalogue = Catalogue(bytes) else { return }
        requireLine(sample.rendered { catalogue.translation(of: $0) })
        for text in ["", "a", "z", "zz"] {
            let own = catalogue.translation(of: Array(text.utf8))
            require(own.map { $0.count <= bytes.count } ?? true, "more than the file has")
        }
    }

    /// As msgfmt(1) writes it, but for the order.
    private static func file(_ texts: [(String, String)]) -> [UInt8] {
        var place = 28 + texts.count * 16
        var table = [0x9504_12DE, 0, texts.count, 28, 28 + texts.count * 8, 0, place]
        var strings: [UInt8] = []
        for string in texts.map(\.0) + texts.map(\.1) {
            table += [string.utf8.count, place]
            strings += Array(string.utf8) + [0]
            place += string.utf8.count + 1
        }
        return table.flatMap { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        } + strings
    }
}

/// A translation.
enum Translations: Harness {
    static let name = "translations"
    static var seeds: [[UInt8]] {
        ["%2$s Finger hat %1$s", "%1$s%%%2$s%1$s", "%1$s", "%s %d %", "%3$s", "%1$s %2$s\u{85}"]
            .map(bytes)
    }

    static func feed(_ bytes: [UInt8]) {
        let shown = sample.rendered { $0 == pattern ? bytes : nil }
        requireLine(shown)
    }
}

/// The file of the system's locale.
enum Locales: Harness {
    static let name = "locales"
    static var seeds: [[UInt8]] {
        [
            "LANG=\"de_DE.UTF-8\"\nLANGUAGE=fr:ja_JP:../x", "LC_ALL='C.UTF-8'\nLANGUAGE=de",
            "LC_CTYPE=C.utf8\nLC_MESSAGES=es_MX@x\n", "LANG=C",
        ].map(bytes)
    }

    static func feed(_ bytes: [UInt8]) {
        let file = LocaleFile(bytes)
        for isConsole in [false, true] {
            let names = Languages(isConsole: isConsole, file.value).names
            require(names.count <= 8, "too many languages")
            for name in names {
                let isName = name.allSatisfy { byte in
                    byte == UInt8(ascii: "_") || (65...90).contains(byte & 0xDF)
                }
                require(isName && (2...6).contains(name.count), "what is no name of a language")
            }
        }
    }
}
