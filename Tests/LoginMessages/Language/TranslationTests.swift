// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Synchronization
import TestSupport
import Testing

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

/// Texts with an example of everything that a login can be told.
private var loginTexts: [Text] {
    // Without a letter: what comes from outside is looked for, and not found.
    let details = bytes("#17")
    let denials = DenialReason.allCases.flatMap { reason in
        [Denial(reason), Denial(reason, seconds: 30, since: 0, subject: details)]
    }
    let causes = InvalidationCause.allCases.map { Denial(.invalidated, cause: $0, since: 0) }
    let notices = NoticeKind.allCases.flatMap { kind in
        [
            Notice(kind, subject: details), Notice(kind, triesLeft: 1, subject: details),
            Notice(kind, triesLeft: 2, subject: details),
        ]
    }
    let retries = RetryReason.allCases.map { Notice(.retry, retry: $0) }
    let touches = ScanType.allCases.map { Notice(.touch, scan: $0) }
    let told: [Text] = (denials + causes).map { $0.text(account: "alice") }
    let noticed: [Text] = (notices + retries + touches).compactMap(\.text)
    let who: Text = "\(bytes("alice"))"
    let asked: [Text] = touches.flatMap { touch in
        [details, []].map { Prompt.touch(touch, purpose: $0, service: "su", who: who) }
    }
    let dates: [Text] = (0..<12).map { Text.date(1_296_000 + $0 * 2_629_800) }
    return told + noticed + asked + dates + [
        Prompt.orPassword, Prompt.silent, Prompt.refused, Prompt.unclear, Prompt.tooLong,
        Prompt.unseen,
    ]
}

/// The patterns that a text is looked up by, those of the texts in it too, if they have a letter.
private func patterns(of text: Text) -> [String] {
    let found = Mutex<[String]>([])
    _ = text.rendered { pattern in
        found.withLock { $0.append(String(decoding: pattern, as: UTF8.self)) }
        return nil
    }
    return found.withLock { $0 }.filter { pattern in
        pattern.replacing(#/%\d+\$s/#, with: "").contains { $0.isLetter }
    }
}

@Suite("The translations")
struct TranslationTests {
    @Test(
        "every text that a login can show is there, and differs from English",
        arguments: CatalogueFile.languages)
    func login(language: String) throws {
        let catalogue = try #require(Catalogue(CatalogueFile.compiled(language)))
        for text in loginTexts {
            for pattern in patterns(of: text) {
                #expect(catalogue.translation(of: bytes(pattern)) != nil, "\(pattern)")
            }
            let shown = text.rendered { catalogue.translation(of: $0) }
            #expect(shown != text.bytes, "\(String(decoding: shown, as: UTF8.self))")
            #expect(shown.last == UInt8(ascii: " ") || shown.last != UInt8(ascii: "."))
            #expect((shown.last == UInt8(ascii: " ")) == (text.bytes.last == UInt8(ascii: " ")))
        }
    }

    @Test("each exit code of the command has a text in each language")
    func exitCodes() throws {
        for language in CatalogueFile.languages {
            let catalogue = try #require(Catalogue(CatalogueFile.compiled(language)))
            for code in ExitCode.allCases {
                #expect(catalogue.translation(of: code.text.pattern) != nil)
            }
        }
    }
}

/// A copy of the texts and their translations, in which faults are planted.
private struct Workshop {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        for pattern in [
            "checks/languages", "po/*", "Sources/Shared/LoginMessages/*.swift",
            "Sources/Device/ArgumentSyntax/*.swift", "Sources/Device/Command/*/*.swift",
            "Sources/Device/Command/*.swift", "Sources/Device/Command/*/*/*.swift",
            "Sources/Device/CommandMessages/*.swift", "Sources/Device/Doctor/Checks/*.swift",
        ] {
            let copy = "cp --parents -t \(scratch.path) \(pattern)"
            let outcome = try Program(Command(["sh", "-c", "cd \(Layout.package) && \(copy)"]))
                .expectEnd()
            #expect(outcome.succeeded, "\(outcome.errors)")
        }
    }

    /// Puts something else in the place of a text in a file.
    func replace(_ text: String, with other: String, in file: String) throws {
        let old = String(decoding: try scratch.read(file), as: UTF8.self)
        #expect(old.contains(text), "\(file) has no \(text)")
        try scratch.write(file, old.replacing(text, with: other))
    }

    /// What checks/languages says of it.
    func check() throws -> (passes: Bool, complaints: String) {
        let outcome = try Program(Command(["bash", scratch.at("checks/languages")]))
            .expectEnd()
        return (outcome.succeeded, outcome.errors)
    }
}

@Suite("checks/languages", .timeLimit(.minutes(10)))
struct LanguageCheckTests {
    @Test("passes the texts as they are: none is missing, and format arguments agree")
    func passes() throws {
        let check = try Workshop().check()
        #expect(check.passes, "\(check.complaints)")
    }

    /// Plants a fault in each language, and expects that each is found: a check takes seconds.
    private func expectRefused(
        _ message: String, _ faults: [String: (String, String) -> String]
    ) throws {
        let workshop = try Workshop()
        let text = "msgid \"\(message)\"\n"
        for (language, fault) in faults {
            let file = "po/\(language).po"
            let all = String(decoding: try workshop.scratch.read(file), as: UTF8.self)
            let rest = try #require(all.split(separator: text, maxSplits: 1).last)
            let own = try #require(rest.split(separator: "\n").first) + "\n"
            let form = "#, c-format\n" + text
            let entry = all.contains(form) ? form : text
            try workshop.replace(entry + own, with: fault(entry, String(own)), in: file)
        }
        let check = try workshop.check()
        #expect(!check.passes)
        for language in faults.keys {
            #expect(
                check.complaints.contains("languages: po/\(language).po"), "\(check.complaints)")
        }
    }

    @Test("refuses a text that is missing, empty, doubtful or left over")
    func missing() throws {
        try expectRefused(
            "touch the reader",
            [
                "de": { _, _ in "" },
                "es": { text, _ in text + "msgstr \"\"\n" },
                "fr": { text, own in
                    text.replacing("#, c-format", with: "#, fuzzy, c-format") + own
                },
                "ja": { text, own in text + own + "\n#~ msgid \"old\"\n#~ msgstr \"alt\"\n" },
            ])
    }

    @Test("refuses a text that is new in the sources")
    func new() throws {
        let workshop = try Workshop()
        try workshop.replace(
            "touch the reader", with: "touch the sensor",
            in: "Sources/Shared/LoginMessages/NoticeText.swift")
        let check = try workshop.check()
        #expect(!check.passes)
        #expect(check.complaints.contains("languages: po/"), "\(check.complaints)")
    }

    @Test("refuses a translation with other arguments than the text")
    func arguments() throws {
        let wrong = [
            "de": "noch 3 Versuche", "es": "%1$s %2$s Versuche", "fr": "%1$d Versuche",
            "ja": "%s Versuche",
        ]
        try expectRefused(
            "the finger did not match: %1$s tries left",
            wrong.mapValues { wrong in { text, _ in text + "msgstr \"\(wrong)\"\n" } })
    }

    @Test("finds each text as the program looks it up")
    func extraction() throws {
        let scratch = try Scratch()
        try scratch.write(
            "Sample.swift",
            #"""
            /// For translators: what it is.
            let one: Text = "plain \"quoted\" \u{2026} \\ 100 %"
            let two: Text = "\(name("(\(b ? "nested one" : ")")")) and \(number: 3), /* no comment */"
            /* "no text" // */ // "nor this"
            let three: Text = """
                long, \
                in "two" lines
                """
            let none = [StaticString("/dev/").bytes, Bytes("purpose ".utf8), UInt8(ascii: "\n")]
            let form: Text = "\(one): \(two)"
            // Untranslated: a command.
            let command: Text = "ls -l"
            enum Code: String { case raw = "raw value" }
            let finding = Finding(
                // Untranslated: a command.
                mend: "ls -a")
            let again: Text = "after"
            """#)
        let extracted = try Program(
            Command(["\(Layout.package)/po/extract", scratch.at("Sample.swift")])
        ).expectEnd()
        #expect(extracted.succeeded, "\(extracted.errors)")
        let found = extracted.output.split(separator: "\n").filter { $0.hasPrefix("msgid ") }
        #expect(
            found == [
                #"msgid """#,
                #"msgid "plain \"quoted\" … \\ 100 %%""#,
                #"msgid "nested one""#,
                #"msgid "%1$s and %2$s, /* no comment */""#,
                #"msgid "long, in \"two\" lines""#,
                #"msgid "after""#,
            ])
        #expect(extracted.output.contains("#. For translators: what it is.\n"))
    }

    @Test("finds in the doctor's checks what findings say, and neither commands nor other words")
    func checks() throws {
        let scratch = try Scratch()
        let file = "Doctor/Checks/Sample.swift"
        try scratch.write(
            file,
            #"""
            let path = "/etc/pam.d"
            /// For translators: what it is.
            let finding = Finding(
                "some-code", level: .note, area: .files, subject: "a path".bytes,
                what: isShort ? "short" : "long: \(name(path))", why: """
                    two \
                    lines
                    """,
                mend: isKnown ? "ls \(path)" : "ls -l")
            // Untranslated: a command.
            let command: Text = "ls -a"
            let other = path + "other"
            """#)
        func extract() throws -> (succeeded: Bool, output: String) {
            let outcome = try Program(
                Command(["\(Layout.package)/po/extract", scratch.at(file)])
            ).expectEnd()
            return (outcome.succeeded, outcome.output)
        }
        let (succeeded, output) = try extract()
        #expect(succeeded)
        let found = output.split(separator: "\n").filter { $0.hasPrefix("msgid ") }
        #expect(
            found == [
                #"msgid """#, #"msgid "short""#, #"msgid "long: %1$s""#, #"msgid "two lines""#,
            ])
        #expect(output.contains("#. For translators: what it is.\n"))
        // Nobody would translate it.
        try scratch.write(file, "let why: Text = \"words\"\n")
        #expect(try !extract().succeeded)
        try scratch.write(file, "func why() -> Text { \"words\" }\n")
        #expect(try !extract().succeeded)
    }

    @Test(
        "refuses sources that it does not understand",
        arguments: [
            "let a: Text = \"two\\nlines\"\n", "let a: Text = \"\"\"\n  two\n  lines\n  \"\"\"\n",
            "let a: Text = #\"raw\"#\n", "let a: Text = \"no end\n",
            "let a: Text = \"\\(no end\"\n",
            "/* no end",
        ])
    func odd(source: String) throws {
        let scratch = try Scratch()
        try scratch.write("Sample.swift", source)
        let outcome = try Program(
            Command(["\(Layout.package)/po/extract", scratch.at("Sample.swift")])
        ).expectEnd()
        #expect(!outcome.succeeded)
        #expect(outcome.errors.contains("Sample.swift:"))
    }
}
