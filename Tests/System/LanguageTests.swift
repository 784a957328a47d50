// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// What German has for the texts that a touch at sudo shows.
private enum German {
    static let invitation = "ziehen Sie den Finger über den Leser zur Bestätigung: sudo id -un ("
    static let orPassword = "oder tippen Sie das Passwort: "
}

private let debian = "/etc/default/locale"
private let systemd = "/etc/locale.conf"

extension HostFixture {
    /// Installs the catalogue of a language, as `make install` does.
    fileprivate func installCatalogue(_ language: String) throws {
        let directory = "/usr/local/share/locale/\(language)/LC_MESSAGES"
        try run(["mkdir", "-p", directory])
        try write("\(directory)/signet.mo", CatalogueFile.compiled(language))
    }
}

@Suite("sudo in the system's language", .timeLimit(.minutes(5)))
struct SudoLanguageTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let catalogue = "/usr/local/share/locale/de/LC_MESSAGES/signet.mo"

    /// In German; French is there too, but only the caller's environment asks for it.
    init() throws {
        signet = try SignetFixture.inhabited(options: "max-tries=2 debug")
        try host.installCatalogue("de")
        try host.installCatalogue("fr")
        try host.write(debian, "# the system's\nLANG=\"de_DE.UTF-8\"\n")
    }

    private func sudo(_ environment: [String: String] = [:]) throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice, environment: environment)
    }

    private func touch(_ terminal: Terminal) throws {
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    /// English, and a touch is accepted.
    private func expectEnglish(_ comment: Comment) throws {
        let terminal = try sudo()
        let shown = try terminal.expect(SignetFixture.orPassword)
        #expect(shown.contains("\(SignetFixture.invitation) to confirm: sudo id -un"), comment)
        try touch(terminal)
    }

    @Test("a German system asks in German, the locale not installed; the journal is English")
    func german() throws {
        let locales = try host.run(["locale", "-a"])
        #expect(!locales.output.contains("de_DE"))
        let terminal = try sudo()
        try terminal.expect(German.invitation)
        try terminal.expect(German.orPassword)
        try signet.touch(Touch.nobody)
        try terminal.expect("der Finger wurde nicht erkannt: noch ein Versuch")
        try terminal.expect(German.orPassword)
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let line = try host.journal.expect("the module's line") {
            $0.message.contains("the password is used instead")
        }
        #expect(line.message.contains("pam_signet"))
        let german = host.journal.entries.filter { $0.message.contains("Passwort") }
        #expect(german.isEmpty)
    }

    @Test("systemd's file comes first, and says it as Debian's does")
    func files() throws {
        try host.write(systemd, "LANG=fr_FR.UTF-8\n")
        let terminal = try sudo()
        try terminal.expect("faites glisser votre doigt sur le lecteur pour confirmer\u{A0}: sudo")
        try terminal.expect("ou tapez le mot de passe\u{A0}: ")
        try touch(terminal)
    }

    @Test("nothing in the caller's environment makes it read another place or speak otherwise")
    func environment() throws {
        try host.run(["mkdir", "-p", "/tmp/x/LC_MESSAGES", "/tmp/x/fr/LC_MESSAGES"])
        for place in ["/tmp/x", "/tmp/x/fr"] {
            let planted = ["or type the password: ": "planted: "]
            try host.write("\(place)/LC_MESSAGES/signet.mo", CatalogueFile.made(of: planted))
        }
        let hostile = [
            "LANG": "fr_FR.UTF-8", "LC_ALL": "fr_FR.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8",
            "LANGUAGE": "../../../../tmp/x:fr", "NLSPATH": "/tmp/x/%N", "LOCPATH": "/tmp/x",
            "TEXTDOMAIN": "signet", "TEXTDOMAINDIR": "/tmp/x", "GCONV_PATH": "/tmp/x",
            "OUTPUT_CHARSET": "ISO-8859-1", "LOCALEDIR": "/tmp/x",
        ]
        let german = try sudo(hostile)
        try german.expect(German.invitation)
        try german.expect(German.orPassword)
        try touch(german)
        try host.run(["rm", debian])
        let english = try sudo(hostile)
        try english.expect(SignetFixture.orPassword)
        try touch(english)
        for terminal in [german, english] {
            #expect(!terminal.transcript.contains("planted"))
            #expect(!terminal.transcript.contains("mot de passe"))
        }
    }

    @Test("a locale that is unknown, not UTF-8, or not the system's own to say: English, and works")
    func locales() throws {
        let texts = [
            "LANG=xx_YY.UTF-8", "LANG=de_DE.ISO-8859-1", "LANG=../../../tmp/x", "LANG=", "", "\0",
            "LANG=C.UTF-8", String(repeating: "LANG=de_DE.UTF-8\n", count: 1_000),
        ]
        for text in texts {
            try host.write(debian, text)
            try expectEnglish("\(text.prefix(40))")
        }
        for ruin in [
            "chmod 666 \(debian)", "chown alice \(debian)", "rm \(debian); mkfifo \(debian)",
            "rm \(debian); ln -s /etc/other \(debian)", "rm \(debian); mkdir \(debian)",
        ] {
            try signet.shell("rm -rf \(debian); echo LANG=de_DE.UTF-8 | tee /etc/other > \(debian)")
            try signet.shell(ruin)
            try expectEnglish("\(ruin)")
        }
    }

    @Test("a catalogue that is damaged or could be another's: English, and works")
    func catalogues() throws {
        for ruin in [
            "truncate -s 1000 \(catalogue)", "truncate -s 0 \(catalogue)",
            "head -c 40000 /dev/urandom > \(catalogue)", "head -c 600000 /dev/zero >> \(catalogue)",
            "chmod 666 \(catalogue)", "chown alice \(catalogue)", "chmod 777 /usr/local/share",
            "mv \(catalogue) /etc/mo; ln -s /etc/mo \(catalogue)",
            "rm \(catalogue); mkfifo \(catalogue)", "rm -r /usr/local/share/locale",
        ] {
            try signet.shell(ruin)
            try expectEnglish("\(ruin)")
            try signet.shell("chmod 755 /usr/local/share; rm -rf \(catalogue)")
            try host.installCatalogue("de")
        }
        let terminal = try sudo()
        try terminal.expect(German.invitation)
        try touch(terminal)
    }
}

@Suite("the command in its caller's language")
struct CommandLanguageTests {
    private let host: HostFixture

    init() throws {
        host = try HostFixture()
        try host.installCatalogue("de")
        try host.installCatalogue("ja")
    }

    private func firstLine(_ environment: [String: String]) throws -> String {
        let program = try Built.program("signet")
        let outcome = try host.run(
            [program, "help"], as: HostFixture.alice, environment: environment)
        #expect(outcome.succeeded)
        return outcome.output.split(separator: "\n").first.map(String.init) ?? ""
    }

    @Test("LC_ALL, LC_MESSAGES, LANG and LANGUAGE say it, and no locale has to be installed")
    func variables() throws {
        let german =
            "signet: Anmeldung per Fingerabdruck mit einem Nachweis, den andere prüfen können"
        let english = "signet: fingerprint login with a proof that others can verify"
        let japanese = "signet: 他者が検証できる証明を伴う指紋ログイン"
        #expect(try firstLine([:]) == english)
        #expect(try firstLine(["LANG": "de_DE.UTF-8"]) == german)
        #expect(try firstLine(["LC_ALL": "ja_JP.UTF-8", "LANG": "de_DE.UTF-8"]) == japanese)
        #expect(try firstLine(["LC_MESSAGES": "ja_JP.UTF-8", "LANG": "de_DE.UTF-8"]) == japanese)
        #expect(try firstLine(["LANGUAGE": "fr:de", "LANG": "ja_JP.UTF-8"]) == german)
        #expect(try firstLine(["LC_ALL": "C", "LANG": "de_DE.UTF-8"]) == english)
        #expect(try firstLine(["LANG": "xx_YY.UTF-8"]) == english)
        #expect(try firstLine(["LANG": "ja_JP.EUC-JP"]) == english)
        #expect(try firstLine(["LANG": "ja_JP.UTF-8", "TERM": "linux"]) == english)
        #expect(try firstLine(["LANG": "de_DE.UTF-8", "TERM": "linux"]) == german)
    }
}
