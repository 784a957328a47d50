// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Configuration
import Foundation
import LoginMessages
import LoginProtocol
import ModuleOptions
import TestSupport
import Testing

@Suite("The manual pages")
struct ManualTests {
    @Test("of the command describe each command")
    func commands() throws {
        let described = try ManualPage("signet.1").items("COMMANDS")
            .map { $0.head.dropFirst().joined(separator: " ") }
        #expect(described.sorted() == (try KnownCommand.all()).map(\.name).sorted())
    }

    @Test("of the command have each option, with the value that it takes")
    func options() throws {
        var known: Set<String> = []
        for command in try KnownCommand.all() {
            // Below the heading: `  --account NAME  whose; …`
            let lines = try signet(["help"] + command.words).output.split(separator: "\n")
            // `--version` stands among the commands, and takes the place of one.
            for line in lines where line.hasPrefix("  --") && !line.hasPrefix("  --version") {
                known.insert(line.dropFirst(2).components(separatedBy: "  ")[0])
            }
        }
        let described = try ManualPage("signet.1").items("OPTIONS").map { item in
            item.head.filter { $0 != "Fl" && $0 != "Ar" }.joined(separator: " ")
        }
        #expect(Set(described.map { "-" + $0 }) == known)
        #expect(described == described.sorted())
    }

    @Test("of the command have each exit status and each finger")
    func statuses() throws {
        let page = try ManualPage("signet.1")
        #expect(
            page.items("EXIT STATUS").map { $0.head.joined() }
                == ExitCode.allCases.map { "\($0.rawValue)" })
        let fingers = page.section("COMMANDS").drop { $0 != ".Ss Fingers" }
            .map(ManualPage.words).filter { $0.first == "Li" }.map { $0[1] }
        #expect(fingers == Finger.allCases.map { "\($0.name)" })
    }

    @Test("of the command have each kind of document, and each reason of an error")
    func documents() throws {
        let section = try ManualPage("signet.1").section("JSON")
        let kinds = ManualPage.items(section).flatMap { $0.head }
            .filter { $0 != "Li" && $0 != "," }
        #expect(Set(kinds) == Set(try writtenKinds()))
        #expect(kinds.count == Set(kinds).count)
        let words = section.drop { $0 != "A reason is" }.flatMap(ManualPage.words)
        for reason in DenialReason.allCases {
            #expect(words.contains(reason.word))
        }
    }

    /// The kinds that the sources give to documents.
    private func writtenKinds() throws -> [String] {
        let pattern = #/(?:document\(|kind: |saySecret\(|sayChange\()\s*"([a-z-]+)"[,)\n]/#
        let directory = "\(Layout.package)/Sources/Device/Command"
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return try files.filter { $0.hasSuffix(".swift") }.flatMap { name in
            let source = String(decoding: try Layout.read("\(directory)/\(name)"), as: UTF8.self)
            return source.matches(of: pattern).map { String($0.1) }
        }
    }

    @Test("of the configuration have each setting, what it takes, and its default")
    func settings() throws {
        var described: [String] = []
        var section = ""
        var rest = ArraySlice(try ManualPage("signet.conf.5").section("SETTINGS"))
        while let line = rest.popFirst() {
            guard line.hasPrefix(".Ss ") else { continue }
            section = line.filter { $0.isLetter && $0.isLowercase }.dropFirst().description
            let lines = rest.prefix { !$0.hasPrefix(".Ss ") }
            for item in ManualPage.items(Array(lines)) {
                let name = "\(section).\(item.head[1])"
                described.append(name)
                let setting = try #require(Settings.all.first { $0.name == name }, "\(name)")
                let text = ManualPage.plain(item.body)
                #expect(text.contains("Takes \(setting.accepts.expectation)."), "\(name)")
                let standard = setting.standard.text
                #expect(
                    text.contains("The default is \(standard.isEmpty ? "empty" : standard)."),
                    "\(name): \(text)")
            }
        }
        #expect(Set(described) == Set(Settings.all.map(\.name)))
        #expect(described.count == Settings.all.count)
    }

    @Test("of the module have each option, and the bounds that hold")
    func moduleOptions() throws {
        let page = try ManualPage("pam_signet.8")
        // Not the values that one may have.
        let items = page.items("OPTIONS").filter { $0.head.first == "Cm" }
        #expect(items.map { $0.head[1] } == ModuleOptions.names)
        let synopsis = page.section("SYNOPSIS").map(ManualPage.words)
            .filter { $0.starts(with: ["Op", "Cm"]) }.map { $0[2] }
        #expect(synopsis == ModuleOptions.names)
        for item in items {
            let text = ManualPage.plain(item.body)
            guard let bounds = text.firstMatch(of: #/from (\d+) to (\d+)/#),
                let low = Int(bounds.1), let high = Int(bounds.2)
            else { continue }
            for (value, isGood) in [
                (low, true), (high, true), (low - 1, false), (high + 1, false),
            ] {
                let word = Array("\(item.head[1])=\(value)".utf8)
                #expect(((try? ModuleOptions(parsing: [word])) != nil) == isGood, "\(word)")
            }
        }
        let standard = ModuleOptions()
        let text = ManualPage.plain(page.section("OPTIONS"))
        #expect(text.contains("The default is \(standard.timeoutSeconds)."))
        #expect(text.contains("The default is \(standard.maximumTries)."))
        #expect(text.contains(String(decoding: standard.socket, as: UTF8.self)))
    }

    @Test("of the module have exactly the codes that it returns")
    func returnCodes() throws {
        var returned: Set<String> = []
        for file in ["Entry", "LoginFailure", "SetCredentials", "PasswordChange"] {
            let path = "\(Layout.package)/Sources/Module/\(file).swift"
            let source = String(decoding: try Layout.read(path), as: UTF8.self)
            for line in source.split(separator: "\n") {
                guard let codes = line.firstRange(of: #/return |: PAM_|code == /#) else { continue }
                let matches = line[codes.lowerBound...].matches(of: #/PAM_[A-Z_]+/#)
                returned.formUnion(matches.map { String($0.output) })
            }
        }
        let section = try ManualPage("pam_signet.8").section("RETURN CODES")
        let named = section.map(ManualPage.words).compactMap { words in
            words.firstIndex(of: "Dv").map { words[$0 + 1] }
        }
        #expect(Set(named).subtracting(["PAM_AUTHTOK"]) == returned)
    }

    @Test("refer only to those of Signet's pages that there are")
    func references() throws {
        for name in ManualPage.names {
            let page = try ManualPage(name)
            let own = page.references.filter { $0.contains("signet") }
            #expect(Set(own).isSubset(of: ManualPage.names), "\(name)")
            #expect(!own.isEmpty, "\(name)")
        }
    }
}
