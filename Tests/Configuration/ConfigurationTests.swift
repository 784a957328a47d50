// SPDX-License-Identifier: Apache-2.0
import Configuration
import Testing

private func configuration(_ text: String) throws -> Configuration {
    try Configuration(files: [("a.conf", [UInt8](text.utf8))])
}

private func fault(_ text: [UInt8]) -> ConfigurationFault? {
    do throws(ConfigurationFault) {
        _ = try Configuration(files: [("a.conf", text)])
        return nil
    } catch {
        return error
    }
}

private func refusal(of text: String) -> ConfigurationFault? { fault([UInt8](text.utf8)) }

private func line(_ setting: Setting, _ value: String) -> String {
    "[\(setting.section)]\n\(setting.key) = \(value)\n"
}

@Suite("The configuration")
struct ConfigurationTests {
    @Test("holds the defaults where nothing is said")
    func defaults() throws {
        for setting in Settings.all {
            #expect(Configuration().value(setting) == setting.standard)
            #expect(Configuration().origin(setting) == "default")
            #expect(try configuration("\n# x\n; y\n  \t\n").value(setting) == setting.standard)
        }
    }

    @Test("every default would be accepted in a file, as it is written")
    func defaultsParse() throws {
        for setting in Settings.all {
            let read = try configuration(line(setting, setting.standard.text))
            #expect(read.value(setting) == setting.standard)
            #expect(read.origin(setting) == "a.conf:2")
        }
    }

    @Test("every setting has bounds that are accepted, and nothing beyond them")
    func bounds() throws {
        for setting in Settings.all {
            switch setting.accepts {
            case .count(let bounds):
                for count in [bounds.lowerBound, bounds.upperBound] {
                    #expect(try configuration(line(setting, "\(count)")).count(setting) == count)
                }
                for bad in ["\(bounds.upperBound + 1)", "\(bounds.lowerBound - 1)"] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2)
                }
            case .duration(let bounds, let orOff):
                for limit in [bounds.lowerBound, bounds.upperBound] {
                    let read = try configuration(line(setting, "\(limit.wholeMilliseconds)ms"))
                    #expect(read.duration(setting) == limit)
                }
                for bad in [
                    bounds.lowerBound - .milliseconds(1), bounds.upperBound + .milliseconds(1),
                ] {
                    let text = line(setting, "\(bad.wholeMilliseconds)ms")
                    #expect(fault([UInt8](text.utf8))?.line == 2)
                }
                #expect((fault([UInt8](line(setting, "off").utf8)) == nil) == orOff)
            case .words:
                #expect(try configuration(line(setting, "")).words(setting) == [])
                #expect(try configuration(line(setting, "a, b")).words(setting) == ["a", "b"])
            case .names:
                #expect(try configuration(line(setting, "")).words(setting) == [])
                for good in ["a, !b", "!root", "!systemd-user", "ünï", #""a b""#, #"a, !"b c d""#] {
                    #expect(try configuration(line(setting, good)).value(setting).text == good)
                }
                let longest = String(repeating: "x", count: 256)
                #expect(try configuration(line(setting, "!\(longest)")).words(setting).count == 1)
                for bad in [
                    "!", "!!a", "a b", "a:b", "/a", "! a", "!a, !a", longest + "x", #""""#,
                    #"" a""#, #""a ""#, #""a"#, #"a""#, #"a"b""#, #""!a""#, #""a"b""#,
                ] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2)
                }
            case .plainNames:
                #expect(try configuration(line(setting, "")).words(setting) == [])
                for good in ["a", "a, gdm-password", "ünï"] {
                    #expect(try configuration(line(setting, good)).value(setting).text == good)
                }
                for bad in ["!a", "a, !b", "!", "a b", "a:b", "/a", "a, a", #""a b""#, #""a""#] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2, "\(bad)")
                }
            case .choice(let words):
                for word in words {
                    #expect(try configuration(line(setting, word)).word(setting) == word)
                }
                for bad in ["", "none", words.joined(separator: ","), words[0].uppercased()] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2)
                }
            case .text(let most):
                let longest = String(repeating: "x", count: most)
                #expect(try configuration(line(setting, longest)).word(setting) == longest)
                for bad in ["", longest + "x"] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2)
                }
            case .numbers(let bounds):
                #expect(try configuration(line(setting, "")).numbers(setting) == [])
                let ends = "\(bounds.lowerBound), \(bounds.upperBound)"
                #expect(
                    try configuration(line(setting, ends)).numbers(setting)
                        == [bounds.lowerBound, bounds.upperBound])
                for bad in ["1,1", "2,1", "\(bounds.upperBound + 1)", "-1", "a", "1,", "1 2"] {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2)
                }
            }
            if case .text = setting.accepts { continue }
            for bad in [
                "1e3", "-1", "+1", "yes", "0x5", "5 s", "5m", "99999999999999999999", ",",
                "a,,b", "a, a",
            ] {
                let takesWords = if case .words = setting.accepts { true } else { false }
                let takesNames =
                    switch setting.accepts {
                    case .names, .plainNames: true
                    default: false
                    }
                guard takesWords || (takesNames && !bad.contains(" ")), !bad.contains(",") else {
                    #expect(fault([UInt8](line(setting, bad).utf8))?.line == 2, "\(bad)")
                    continue
                }
            }
        }
    }

    @Test(
        "a setting that no longer exists has no effect, is reported, and leaves the rest in force")
    func former() throws {
        let old = "[keyring]\nexcept = sudo, su\n[login]\naccounts = !bob\n"
        let read = try configuration(old)
        #expect(read.words(Settings.loginAccounts) == ["!bob"])
        #expect(read.value(Settings.keyringServices) == Settings.keyringServices.standard)
        #expect(read.isDefault(Settings.keyringServices) && !read.isDefault(Settings.loginAccounts))
        let told = try #require(read.obsoleteLines.first)
        #expect(read.obsoleteLines.count == 1)
        #expect(told.text.hasPrefix("a.conf:2: 'except' in [keyring] has no effect"))
        #expect(told.problem.contains("'services' now lists the services that may get"))
        #expect(try configuration("[keyring]\nservices = login\n").obsoleteLines == [])
        // Its successor beside it holds, and a mistake in another line refuses the file as ever.
        let both = try configuration("[keyring]\nexcept = a/b\nservices = login\n")
        #expect(both.words(Settings.keyringServices) == ["login"])
        #expect(refusal(of: old + "acounts = bob\n")?.line == 5)
        // In another section, or in a table without the setting that took its place, it is unknown.
        #expect(refusal(of: "[login]\nexcept = sudo\n")?.problem.contains("unknown key") == true)
        #expect(throws: ConfigurationFault.self) {
            try Configuration([Settings.loginAccounts], files: [("a", [UInt8](old.utf8))])
        }
    }

    @Test(
        "the login password is for login and greeters, and for none that gives rights on the spot")
    func keyringServices() throws {
        let services = Configuration().words(Settings.keyringServices)
        for name in ["login", "gdm-password", "gdm-fingerprint", "lightdm", "sddm", "greetd"] {
            #expect(services.contains(name), "\(name)")
        }
        for name in [
            "sudo", "su", "polkit-1", "sshd", "openvpn", "xrdp-sesman", "other", "common-auth",
            "kde",
            "i3lock", "passwd", "cron", "signet",
        ] {
            #expect(!services.contains(name), "\(name)")
        }
    }

    @Test("times are written in three units, and shown in the largest that fits")
    func times() throws {
        let cases = [("90s", "90s"), ("120s", "2min"), ("2min", "2min"), ("1500ms", "1500ms")]
        for (written, shown) in cases {
            let read = try configuration(line(Settings.touchTimeout, written))
            #expect(read.value(Settings.touchTimeout).text == shown)
        }
        #expect(SettingValue.duration(nil).text == "off")
        #expect(SettingValue.words(["a", "b"]).text == "a, b")
    }

    @Test("spaces, comments and a section named twice do not matter")
    func layout() throws {
        let read = try configuration(
            """
            # first
            [ touch ]
            \ttimeout=5s\t
              ; another
            [daemon]
            connections = 9
            [touch]
            max-tries   =   2
            """)
        #expect(read.duration(Settings.touchTimeout) == .seconds(5))
        #expect(read.count(Settings.touchTries) == 2)
        #expect(read.count(Settings.connections) == 9)
        #expect(read.origin(Settings.touchTries) == "a.conf:8")
    }

    @Test("a later file overrides an earlier one, key by key")
    func dropIns() throws {
        let read = try Configuration(files: [
            ("signet.conf", Array("[touch]\ntimeout = 5s\nmax-tries = 2\n".utf8)),
            ("10.conf", Array("[touch]\ntimeout = 6s\n".utf8)),
            ("20.conf", Array("\n\n[touch]\ntimeout = 7s\n".utf8)),
        ])
        #expect(read.duration(Settings.touchTimeout) == .seconds(7))
        #expect(read.origin(Settings.touchTimeout) == "20.conf:4")
        #expect(read.count(Settings.touchTries) == 2)
        #expect(read.origin(Settings.touchTries) == "signet.conf:3")
    }

    @Test("a value that is not of the asked kind reads as nothing")
    func kinds() {
        #expect(Configuration().duration(Settings.connections) == nil)
        #expect(Configuration().count(Settings.touchTimeout) == 0)
        #expect(Configuration().words(Settings.touchTimeout) == [])
    }
}

@Suite("A configuration that is refused")
struct ConfigurationRefusalTests {
    @Test(
        "says file, line and what is wrong",
        arguments: [
            ("[touch]\ntimeuot = 5s\n", 2, "unknown key 'timeuot' in [touch]"),
            ("[touch]\nconnections = 9\n", 2, "unknown key 'connections' in [touch]"),
            ("[touch]\nTimeout = 5s\n", 2, "unknown key 'Timeout' in [touch]"),
            ("\n[tuoch]\n", 2, "unknown section [tuoch]"),
            ("[]\n", 1, "unknown section []"),
            ("[touch\n", 1, "']' is missing"),
            ("[touch] # x\n", 1, "']' is missing"),
            ("timeout = 5s\n", 1, "a key before the first [section]"),
            ("[touch]\ntimeout\n", 2, "neither a [section] nor 'key = value'"),
            ("[touch]\ntimeout = 5s\n\ntimeout = 5s", 4, "'timeout' is set twice in this file"),
            ("[touch]\ntimeout = 5s\n[touch]\ntimeout = 6s", 4, "'timeout' is set twice"),
            ("[touch]\ntimeout = 5s # x\n", 2, "'5s # x' is not a valid value for 'timeout'"),
            ("[touch]\ntimeout =\n", 2, "it takes a time from 1s to 170s"),
            ("[touch]\nmax-tries = 6\n", 2, "it takes a whole number from 1 to 5"),
            ("[daemon]\nidle-exit = 0s\n", 2, "it takes a time from 1s to 1440min, or off"),
            ("[touch]\n= 5s\n", 2, "unknown key ''"),
            ("[touch]\r\ntimeout = 5s\r\n", 1, "control character"),
            ("[touch]\ntimeout = 5s\r\n", 2, "control character"),
            ("[touch]\ntimeout = 5s\0\n", 2, "control character"),
            ("# a\u{1B}[2J\n", 1, "control character"),
            ("# a\u{9B}2J\n", 1, "control character"),
            ("[touch]\nt\u{7F} = 1\n", 2, "control character"),
            ("\u{FEFF}[touch]\n", 1, "neither"),
        ])
    func mistakes(text: String, line: Int, problem: String) throws {
        let fault = try #require(refusal(of: text))
        #expect(fault.file == "a.conf")
        #expect(fault.line == line)
        #expect(fault.problem.contains(problem), "\(fault.problem)")
        #expect(fault.text == "a.conf:\(line): \(fault.problem)")
        #expect(!fault.text.contains("\n"))
    }

    @Test("names the whole file if no line is to blame")
    func wholeFile() throws {
        let long = [UInt8](repeating: UInt8(ascii: "\n"), count: Configuration.maximumFileLength)
        #expect(fault(long) == nil)
        #expect(fault(long + [10])?.text == "a.conf: longer than 64 KiB")
        #expect(fault([UInt8(ascii: "["), 0xFF, 10])?.text == "a.conf: not UTF-8")
        #expect(fault([0xC0, 0x80])?.problem == "not UTF-8")
    }

    @Test("is refused as a whole, also for a mistake in its last file")
    func allOrNothing() {
        #expect(throws: ConfigurationFault.self) {
            try Configuration(files: [
                ("signet.conf", Array("[touch]\ntimeout = 5s\n".utf8)),
                ("10.conf", Array("[touch]\nmax-tries = 0\n".utf8)),
            ])
        }
        let first = fault([UInt8]("[touch]\ntimeout = x\nmax-tries = x\n".utf8))
        #expect(first?.line == 2)
    }

    @Test("no file of random words traps", arguments: 0..<4 as Range<UInt64>)
    func noise(seed: UInt64) {
        let pieces = [
            "[", "]", "touch", "timeout", "=", " ", "\n", "5s", "#", "max-tries", "3", "\r\n", "é",
            "e\u{301}", "\t", "[daemon]\n", "\0",
        ]
        var state = seed &* 7_919 &+ 1
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            _ = fault([UInt8](text.utf8))
        }
    }

    @Test("a list begins with its default where it says so, but for names of accounts and groups")
    func defaultWord() throws {
        let settings = try Configuration(files: [
            (
                "signet.conf",
                Array(
                    """
                    [login]
                    terminals = default, new-terminal
                    accounts = default, !bob
                    [keyring]
                    services = default
                    """.utf8)
            )
        ])
        let standard = Configuration()
        #expect(
            settings.words(Settings.loginTerminals)
                == standard.words(Settings.loginTerminals) + ["new-terminal"])
        #expect(
            settings.words(Settings.keyringServices) == standard.words(Settings.keyringServices))
        #expect(settings.words(Settings.loginAccounts) == ["default", "!bob"])
        #expect(settings.value(Settings.loginTerminals).text == "default, new-terminal")
    }

}
