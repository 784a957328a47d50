// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The server's manual pages")
struct ServerManualTests {
    private func lines(_ page: String) throws -> [String] {
        let path = "\(Layout.package)/docs/man/\(page)"
        return String(decoding: try Layout.read(path), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines between a section's heading and the next.
    private func section(_ title: String, of page: String) throws -> ArraySlice<String> {
        let lines = try lines(page)
        let start = lines.firstIndex(of: ".Sh \(title)").map { $0 + 1 } ?? lines.endIndex
        return lines[start...].prefix { !$0.hasPrefix(".Sh ") }
    }

    /// Lines as they read.
    private func plain(_ lines: some Sequence<String>) -> String {
        lines.map { line in
            guard line.hasPrefix(".") else { return line }
            return line.split(separator: " ").dropFirst().joined(separator: " ")
        }.joined(separator: " ").replacing(" .", with: ".").replacing(" ,", with: ",")
    }

    @Test("have each setting, what it takes, and its default, and no other")
    func settings() throws {
        var told: [String] = []
        var heading = ""
        var rest = try section("SETTINGS", of: "signet-server.conf.5")
        while let line = rest.popFirst() {
            if line.hasPrefix(".Ss [") { heading = String(line.dropFirst(5).prefix { $0 != "]" }) }
            guard line.hasPrefix(".It Cm ") else { continue }
            let name = "\(heading).\(line.dropFirst(7))"
            told.append(name)
            let setting = try #require(
                ServerSettings.all.first { $0.name == name }, "\(name)")
            let text = plain(rest.prefix { !$0.hasPrefix(".It") && !$0.hasPrefix(".El") })
            #expect(text.contains("Takes \(setting.accepts.expectation)."), "\(name): \(text)")
            #expect(text.contains("The default is \(setting.standard.text)."), "\(name): \(text)")
        }
        #expect(told == ServerSettings.all.map(\.name))
    }

    @Test("have each command of administration with exactly its operands and options")
    func commands() throws {
        var told: [String] = []
        var rest = try section("ADMINISTRATION", of: "signet-server.8")
        while let line = rest.popFirst() {
            guard line.hasPrefix(".It Cm ") else { continue }
            let words = line.dropFirst(7).split(separator: " ")
            let name = words.prefix { $0 != "Ar" }.joined(separator: " ")
            told.append(name)
            let verb = try #require(AdminVerbs.all.first { $0.name == name }, "\(name)")
            let operands = words.drop { $0 != "Ar" }.dropFirst().map(String.init)
            #expect(operands == verb.syntax.forms[0].operands.map(\.value.name), "\(name)")
            let body = rest.prefix { !$0.hasPrefix(".It") && !$0.hasPrefix(".El") }
            let options = body.filter { $0.hasPrefix(".Fl -") }.map { line in
                "-" + line.dropFirst(4).prefix { $0 != " " }
            }
            // Those of a policy are told once.
            let isTold = name == "application set"
            #expect(Set(options) == (isTold ? [] : Set(verb.syntax.options.map(\.long))), "\(name)")
        }
        #expect(told == AdminVerbs.all.map(\.name))
    }

    @Test("have each exit status")
    func statuses() throws {
        let faults: [AdminFault] = [.unusable(""), .usage(""), .missing(""), .refused("")]
        let told = try section("EXIT STATUS", of: "signet-server.8")
            .filter { $0.hasPrefix(".It Li ") }.map { $0.dropFirst(7) }
        #expect(told == ["0"] + faults.map { "\($0.status)" })
    }

    @Test("and the sample of settings have the defaults that there are")
    func sample() throws {
        let path = "\(Layout.package)/packaging/server/server.conf"
        let text = String(decoding: try Layout.read(path), as: UTF8.self)
        var section = ""
        var samples = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") { section = String(line.dropFirst().dropLast()) }
            guard let said = line.wholeMatch(of: #/#([a-z]+) = (.*)/#) else {
                #expect(line.hasPrefix("[") || line.hasPrefix("# "), "\(line)")
                continue
            }
            samples += 1
            let name = "\(section).\(said.output.1)"
            let setting = try #require(
                ServerSettings.all.first { $0.name == name }, "\(name)")
            let isExample = ["::", "/etc/signet/tls/chain.pem", "/etc/signet/tls/key.pem"]
                .contains(said.output.2)
            #expect(isExample || setting.standard.text == said.output.2, "\(name)")
        }
        #expect(samples > 10)
    }
}
