// SPDX-License-Identifier: Apache-2.0
import CatalogueFiles
import Command
import CommandMessages
import CommandProtocol
import Glibc
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let status = ["status", "--account", "alice"]

/// Runs `signet status` in a language.
private func run(_ language: String, _ words: [String] = status) throws -> Run {
    let scratch = try Scratch()
    let catalogue = try #require(Catalogue(CatalogueFile.compiled(language)))
    let scripts = [answering(.reader(sampleReader), .status(sampleStatus))]
    try scratch.writeModule()
    return try signet(words, scripts, in: scratch) { $0.catalogue = catalogue }
}

/// Runs what asks no daemon, in a language.
private func help(_ language: String, _ words: [String]) throws -> Run {
    let catalogue = try #require(Catalogue(CatalogueFile.compiled(language)))
    return try signet(words) { $0.catalogue = catalogue }
}

@Suite("The command in other languages")
struct LanguageTests {
    @Test("the columns of a table stand below each other, in Japanese too")
    func table() throws {
        #expect(
            try run("ja").output == """
                アカウント    alice
                ログイン      有効 (2026年11月20日 から)
                指            2 本登録済み
                キーリング    リーダーに触れても開きません
                リーダー      Quick\\x1b[2J (usb-1)
                ロックアウト  なし
                使用元        sudo
                サービス      signetd 0.2.0
                保管庫        file
                デバイス      000102030405060708090a0b0c0d0e0f

                alice の指紋ログインは使えます

                """)
        #expect(
            try run("de").output.hasPrefix(
                """
                Konto          alice
                Anmeldung      ein, seit 20. Nov. 2026
                Finger         2 registriert
                Schlüsselbund  öffnet sich nicht durch eine Berührung

                """))
    }

    @Test("JSON is independent of the language", arguments: CatalogueFile.languages)
    func json(language: String) throws {
        let scratch = try Scratch()
        let english = try signet(status + ["--json"], in: scratch)
        let other = try signet(status + ["--json"], in: scratch) {
            $0.catalogue = Catalogue((try? CatalogueFile.compiled(language)) ?? [])
        }
        #expect(english.output == other.output && english.code == .noService)
        #expect(try other.document("error")["text"] is String)
        let works = try run(language, status + ["--json"])
        #expect(try works.document("status")["works"] as? Bool == true)
        #expect(works.output.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test("error messages are translated, and exit codes stay")
    func errors() throws {
        let german = try help("de", ["statuss"])
        #expect(german.code == .usage)
        #expect(german.errors.hasPrefix("signet: es gibt keinen Befehl statuss. Ist 'signet st"))
        let french = try help("fr", ["help", "enroll"])
        #expect(french.output.contains("utilisation\u{A0}: signet enroll [FINGER] [OPTION…]"))
    }
}

@Suite("Where the command finds its language")
struct CataloguePlaceTests {
    private func install(_ text: String, _ place: String, in scratch: Scratch) throws {
        let path = "\(place)/LC_MESSAGES/signet.mo"
        try scratch.write(path, CatalogueFile.made(of: ["this text": text]), mode: 0o644)
    }

    private func found(_ locale: String, _ scratch: Scratch) -> String? {
        let wanted = Languages(isConsole: false) { variable in
            "\(variable)" == "LANG" ? Bytes(locale.utf8) : nil
        }
        return Catalogue.first(of: wanted, in: [scratch.at("one"), scratch.at("two")])?
            .translation(of: Bytes("this text".utf8))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("the country's comes before the language's, and the first directory's before the next")
    func order() throws {
        let scratch = try Scratch()
        try install("two de", "two/de", in: scratch)
        #expect(found("de_AT.UTF-8", scratch) == "two de")
        try install("one de", "one/de", in: scratch)
        #expect(found("de_AT.UTF-8", scratch) == "one de")
        try install("two de_AT", "two/de_AT", in: scratch)
        #expect(found("de_AT.UTF-8", scratch) == "two de_AT")
        #expect(found("de_DE.UTF-8", scratch) == "one de")
        #expect(found("fr_FR.UTF-8", scratch) == nil)
    }

    @Test("a file that others could have written is not used, nor is a damaged one")
    func distrust() throws {
        let scratch = try Scratch()
        let path = "one/de/LC_MESSAGES/signet.mo"
        try install("good", "one/de", in: scratch)
        #expect(found("de.UTF-8", scratch) == "good")
        try scratch.write(path, try scratch.read(path), mode: 0o666)
        #expect(found("de.UTF-8", scratch) == nil)
        try scratch.write(path, [UInt8](repeating: 0, count: 100), mode: 0o644)
        #expect(found("de.UTF-8", scratch) == nil)
        // The next directory's is taken then.
        try install("sound", "two/de", in: scratch)
        #expect(found("de.UTF-8", scratch) == "sound")
        #expect(unsafe chown(scratch.at("two/de"), 4_242, 4_242) == 0)
        #expect(found("de.UTF-8", scratch) == nil)
        #expect(unsafe unlink(scratch.at(path)) == 0)
        #expect(unsafe symlink(scratch.at("elsewhere"), scratch.at(path)) == 0)
        #expect(found("de.UTF-8", scratch) == nil)
    }
}
