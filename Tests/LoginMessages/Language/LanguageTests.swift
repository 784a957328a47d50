// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Testing

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

/// What is looked for, with these variables.
private func languages(_ variables: [String: String], isConsole: Bool = false) -> [String] {
    Languages(isConsole: isConsole) { variables["\($0)"].map(bytes) }.names
        .map { String(decoding: $0, as: UTF8.self) }
}

@Suite("Which language")
struct LanguageTests {
    @Test("the locale says it: LC_ALL before LC_MESSAGES before LANG")
    func locale() {
        #expect(languages(["LANG": "de_DE.UTF-8"]) == ["de_DE", "de"])
        #expect(languages(["LANG": "de.utf8"]) == ["de"])
        let messages = ["LANG": "fr_CA.UTF-8", "LC_MESSAGES": "de_DE.UTF-8"]
        #expect(languages(messages) == ["de_DE", "de"])
        let all = ["LANG": "fr_FR.UTF-8", "LC_MESSAGES": "de_DE.UTF-8", "LC_ALL": "ja_JP.UTF-8"]
        #expect(languages(all) == ["ja_JP", "ja"])
        // Empty is not set.
        #expect(languages(["LANG": "de_DE.UTF-8", "LC_ALL": ""]) == ["de_DE", "de"])
        #expect(languages(["LANG": "de_DE.UTF-8@euro"]) == ["de_DE", "de"])
    }

    @Test("LANGUAGE is a list of wishes, where there is a locale at all")
    func wishes() {
        let german = ["LANG": "de_DE.UTF-8"]
        func with(_ wishes: String) -> [String] {
            languages(german.merging(["LANGUAGE": wishes]) { _, new in new })
        }
        #expect(with("fr:es_MX") == ["fr", "es_MX", "es"])
        #expect(with("") == ["de_DE", "de"])
        // Every text is English already.
        #expect(with("en_GB:de") == [])
        #expect(with("fr:en:de") == ["fr"])
        #expect(languages(["LANGUAGE": "de"]) == [])
        #expect(languages(["LANG": "C", "LANGUAGE": "de"]) == [])
        #expect(languages(["LANG": "POSIX", "LANGUAGE": "de"]) == [])
        #expect(languages(["LANG": "C.UTF-8", "LANGUAGE": "de"]) == ["de"])
        #expect(with((0..<99).map { _ in "fr_FR" }.joined(separator: ":")).count == 8)
    }

    @Test("without a locale, or with an invalid one, it is English")
    func english() {
        let locales = [
            "", "C", "POSIX", "C.UTF-8", "en_US.UTF-8", "en.UTF-8", "d.UTF-8", "deutsch.UTF-8",
            "DE_de.UTF-8", "de_.UTF-8", "de_DE_x.UTF-8", "de-DE.UTF-8", ".UTF-8", "_DE.UTF-8",
        ]
        for locale in locales { #expect(languages(["LANG": locale]) == [], "\(locale)") }
        #expect(languages([:]) == [])
    }

    @Test("if UTF-8 cannot be shown, it is English, not something unreadable")
    func encoding() {
        for locale in ["de_DE", "de_DE.ISO-8859-1", "de_DE@euro", "ja_JP.EUC-JP", "de_DE.UTF-16"] {
            #expect(languages(["LANG": locale]) == [], "\(locale)")
        }
        let mixed = ["LANG": "de_DE.UTF-8", "LC_CTYPE": "de_DE.ISO-8859-15"]
        #expect(languages(mixed) == [])
        #expect(languages(["LC_MESSAGES": "de_DE", "LC_CTYPE": "C.UTF-8"]) == ["de_DE", "de"])
    }

    @Test("no value leads to another directory")
    func hostile() {
        let values = [
            "../../../tmp/x", "/tmp/x", "de/../../x", "de_DE/../x.UTF-8", "de\0", "..", "de_..",
            "de\n", "de_D\u{C4}",
        ]
        for value in values {
            #expect(languages(["LANG": value + ".UTF-8"]) == [], "\(value)")
            #expect(languages(["LANG": "fr.UTF-8", "LANGUAGE": value]) == [], "\(value)")
        }
    }

    @Test("Linux's console gets no language that its fonts have not")
    func console() {
        #expect(languages(["LANG": "ja_JP.UTF-8"], isConsole: true) == [])
        #expect(languages(["LANG": "de_DE.UTF-8"], isConsole: true) == ["de_DE", "de"])
        let both = ["LANG": "ja_JP.UTF-8", "LANGUAGE": "ja:fr"]
        #expect(languages(both, isConsole: true) == ["fr"])
    }
}

@Suite("The file of the system's locale")
struct LocaleFileTests {
    private func value(_ name: StaticString, in text: String) -> String? {
        LocaleFile(bytes(text)).value(name).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a line says it, with quotes or without; the last one counts")
    func lines() {
        #expect(value("LANG", in: "LANG=de_DE.UTF-8\n") == "de_DE.UTF-8")
        #expect(value("LANG", in: "# LANG=x\nLANG=\"de_DE.UTF-8\"") == "de_DE.UTF-8")
        #expect(value("LANG", in: "LANG='de'\n") == "de")
        #expect(value("LANG", in: "LANG=de\nLC_ALL=fr\nLANG=es\n") == "es")
        #expect(value("LC_ALL", in: "LANG=de\nLC_ALL=fr\n") == "fr")
        #expect(value("LANG", in: "LANGUAGE=de\n") == nil)
        #expect(value("LANG", in: " LANG=de\nexport LANG=de\n") == nil)
    }

    @Test("a file that is not a locale file is ignored")
    func garbage() {
        for text in ["", "\0\0", "LANG", "=", "LANG=\"", "LANG='de\"", "LANG=$(id)"] {
            let file = LocaleFile(bytes(text))
            #expect(Languages(isConsole: false, file.value).names.isEmpty)
        }
    }
}
