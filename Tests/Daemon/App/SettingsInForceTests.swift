// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    /// What the daemon does with files that it does not understand.
    @Suite("settings that are not understood") struct SettingsInForceTests {
        /// One mistyped key, in a line that was meant to forbid.
        private static let mistake = "[login]\nacounts = !daemon\n"

        private func reason(_ answer: Answer) -> DenialReason? {
            if case .denial(let denial) = answer { return denial.reason }
            return nil
        }

        @Test(
            "and none before them: no finger is asked for, for any purpose, and the mistake is named"
        )
        func noTouch() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.restart {
                try DaemonFixture.write(Self.mistake, to: fixture.configuration)
                #expect(unsafe unlink(fixture.state + "/private/settings") == 0)
            }
            let denial = try fixture.ask(.login(.daemon))
            guard case .denial(let told) = denial else {
                Issue.record("\(denial)")
                return
            }
            #expect(told.reason == .settingsNotUnderstood)
            let subject = String(decoding: told.subject ?? [], as: UTF8.self)
            #expect(subject.hasPrefix("\(fixture.configuration):2: unknown key 'acounts'"))
            let status = try fixture.status(of: .daemon)
            #expect(status.refusal?.reason == .settingsNotUnderstood)
            #expect(status.configurationFault == told.subject)
            // Enrolment, too: the lists that would exclude the account are not known.
            #expect(reason(try fixture.enrol(.daemon, as: "two")) == .settingsNotUnderstood)
            // What needs no touch goes on.
            #expect(try fixture.ask(.readers).done != nil)
            #expect(
                try fixture.ask(.passwordAccepted(account: Person.daemon.account, service: "su"))
                    == .done(DoneAnswer()))
            try fixture.restart { try DaemonFixture.write("", to: fixture.configuration) }
            #expect(try fixture.touch(.login(.daemon), with: ["one"]).assertion != nil)
        }

        @Test("and others before them: those stay in force, over any number of starts")
        func lastGood() throws {
            let fixture = try DaemonFixture(configuration: "[login]\naccounts = !bin\n")
            try fixture.enrol(.daemon, as: "one")
            #expect(reason(try fixture.ask(.login(.bin))) == .notServed)
            for _ in 0..<2 {
                try fixture.restart {
                    try DaemonFixture.write(
                        Self.mistake + "accounts = bin\n", to: fixture.configuration)
                }
                #expect(reason(try fixture.ask(.login(.bin))) == .notServed)
                #expect(try fixture.touch(.login(.daemon), with: ["one"]).assertion != nil)
                let status = try fixture.status(of: .daemon)
                #expect(status.refusal == nil && status.configurationFault != nil)
            }
        }

        @Test("a list that was shortened is not remembered longer than it was in force")
        func forgotten() throws {
            let fixture = try DaemonFixture(configuration: "[login]\naccounts = !daemon\n")
            let copy = fixture.state + "/private/settings"
            #expect(String(decoding: try Layout.read(copy), as: UTF8.self).contains("!daemon"))
            try fixture.restart { try DaemonFixture.write("", to: fixture.configuration) }
            #expect(!String(decoding: try Layout.read(copy), as: UTF8.self).contains("!daemon"))
            try fixture.restart {
                #expect(unsafe unlink(fixture.configuration + ".d/00-tests.conf") == 0)
            }
            #expect(unsafe access(copy, F_OK) != 0, "files that set nothing leave nothing")
            try fixture.restart {
                try DaemonFixture.write(Self.mistake, to: fixture.configuration)
            }
            #expect(
                try fixture.status(of: .daemon).refusal?.reason == .settingsNotUnderstood,
                "the defaults are nobody's settings")
        }

        /// What happens to the copy.
        enum Harm: CaseIterable {
            case missing, empty, altered, otherVersion, unknownKey, readable, owned, linked,
                directory
        }

        @Test("a copy that is not exactly what was stored is not used", arguments: Harm.allCases)
        func harmed(_ harm: Harm) throws {
            let fixture = try DaemonFixture(configuration: "[login]\naccounts = !bin\n")
            let copy = fixture.state + "/private/settings"
            try fixture.restart {
                try DaemonFixture.write(Self.mistake, to: fixture.configuration)
                let text = String(decoding: try Layout.read(copy), as: UTF8.self)
                switch harm {
                case .missing: #expect(unsafe unlink(copy) == 0)
                case .empty: try DaemonFixture.write("", to: copy, mode: 0o600)
                case .altered:
                    try DaemonFixture.write(
                        text.replacing("!bin", with: "!bim"), to: copy, mode: 0o600)
                case .otherVersion:
                    try DaemonFixture.write(
                        text.replacing("settings: 1", with: "settings: 2"), to: copy, mode: 0o600)
                case .unknownKey:
                    try DaemonFixture.write(text + "later = 1\n", to: copy, mode: 0o600)
                case .readable: #expect(unsafe chmod(copy, 0o644) == 0)
                case .owned: #expect(unsafe chown(copy, Person.daemon.uid, 0) == 0)
                case .linked: #expect(unsafe link(copy, copy + "-2") == 0)
                case .directory:
                    #expect(unsafe unlink(copy) == 0)
                    #expect(unsafe mkdir(copy, 0o700) == 0)
                }
            }
            #expect(reason(try fixture.ask(.login(.daemon))) == .settingsNotUnderstood)
            // The next settings that are understood take its place.
            guard harm != .directory else { return }
            try fixture.restart {
                try DaemonFixture.write("[login]\naccounts = !bin\n", to: fixture.configuration)
            }
            #expect(reason(try fixture.ask(.login(.bin))) == .notServed)
            try fixture.restart {
                try DaemonFixture.write(Self.mistake, to: fixture.configuration)
            }
            #expect(reason(try fixture.ask(.login(.bin))) == .notServed)
        }

        @Test("a drop-in counts whatever its name is, unless that is an editor's hidden file")
        func names() throws {
            let fixture = try DaemonFixture()
            let directory = fixture.configuration + ".d"
            try fixture.restart {
                try DaemonFixture.write("x", to: directory + "/.#list.conf")
                try DaemonFixture.write(
                    "[login]\naccounts = !daemon\n", to: directory + "/my list.conf")
            }
            let status = try fixture.status(of: .daemon)
            #expect(status.keptOut != nil && status.configurationFault == nil)
        }

        /// Faults of files that are not about their text.
        enum Fault: CaseIterable {
            case owner, writable, symlink, dangling, dropInIsDirectory, dropInsAreFile
            case tooLong, notUTF8, dropInMistake
        }

        @Test("a file that cannot be read or trusted is not understood", arguments: Fault.allCases)
        func unreadable(_ fault: Fault) throws {
            let fixture = try DaemonFixture()
            let file = fixture.configuration
            try fixture.restart {
                #expect(unsafe unlink(fixture.state + "/private/settings") == 0)
                switch fault {
                case .owner: #expect(unsafe chown(file, Person.daemon.uid, 0) == 0)
                case .writable: #expect(unsafe chmod(file, 0o666) == 0)
                case .symlink:
                    #expect(unsafe rename(file, file + ".real") == 0)
                    #expect(unsafe symlink(file + ".real", file) == 0)
                case .dangling:
                    #expect(unsafe unlink(file) == 0)
                    #expect(unsafe symlink("/nowhere", file) == 0)
                case .dropInIsDirectory: #expect(unsafe mkdir(file + ".d/x.conf", 0o755) == 0)
                case .dropInsAreFile:
                    #expect(unsafe rename(file + ".d", file + ".gone") == 0)
                    try DaemonFixture.write("", to: file + ".d")
                case .tooLong:
                    try DaemonFixture.write(String(repeating: "#\n", count: 40_000), to: file)
                case .notUTF8:
                    try DaemonFixture.write(Array("# caf".utf8) + [0xE9, 10], to: file)
                case .dropInMistake: try DaemonFixture.write("x", to: file + ".d/99.conf")
                }
            }
            let status = try fixture.status(of: .daemon)
            #expect(status.refusal?.reason == .settingsNotUnderstood)
            #expect(status.configurationFault != nil)
        }
    }
}
