// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A manual page of docs/man, as far as the tests read mdoc(7).
struct ManualPage {
    let name: String
    private let lines: [String]

    init(_ name: String) throws {
        self.name = name
        let text = String(decoding: try Layout.read(ManualPage.path(name)), as: UTF8.self)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// All pages.
    static let names = [
        "signet.1", "signetd.8", "signet-reader.8", "pam_signet.8", "signet.conf.5",
        "signet-relay.8", "libsk-signet.8", "signet-agent.1",
        "signet-server.8", "signet-server.conf.5",
    ]

    static func path(_ name: String) -> String { "\(Layout.package)/docs/man/\(name)" }

    /// The lines of a section, without its heading.
    func section(_ title: String) -> [String] {
        let start = lines.firstIndex(of: ".Sh \(title)").map { $0 + 1 } ?? lines.endIndex
        return Array(lines[start...].prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The items of a section: the words behind `.It`, and the lines up to the next one.
    func items(_ title: String) -> [(head: [String], body: [String])] {
        ManualPage.items(section(title))
    }

    /// The items among these lines.
    static func items(_ lines: [String]) -> [(head: [String], body: [String])] {
        var items: [(head: [String], body: [String])] = []
        for line in lines {
            if line.hasPrefix(".It ") {
                items.append((Array(words(line).dropFirst()), []))
            } else if !items.isEmpty {
                items[items.count - 1].body.append(line)
            }
        }
        return items
    }

    /// Whom the page refers to: `.Xr name section`.
    var references: [String] {
        lines.map(ManualPage.words).filter { $0.first == "Xr" && $0.count > 2 }
            .map { "\($0[1]).\($0[2])" }
    }

    /// The words of a macro's line, the macro's name first; words in quotes are one.
    static func words(_ line: String) -> [String] {
        guard line.hasPrefix(".") else { return [] }
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line.dropFirst() {
            switch character {
            case "\"" where isQuoted: isQuoted = false
            case "\"" where word == nil: (isQuoted, word) = (true, "")
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words.map { $0.replacing("\\&", with: "") }
    }

    /// Lines as they read: without macros, blanks as they fall.
    static func plain(_ lines: [String]) -> String {
        lines.map { line in
            guard line.hasPrefix(".") else { return line }
            return words(line).filter { !macros.contains($0) }.joined(separator: " ")
        }.joined(separator: " ").replacing(" .", with: ".").replacing(" ,", with: ",")
    }

    private static let macros: Set<String> = [
        "Ar", "Bd", "Bl", "Cm", "Dl", "Dq", "Dv", "Ed", "El", "Ev", "Fl", "Fn", "It", "Li", "Nm",
        "No", "Ns", "Op", "Pa", "Pp", "Ql", "Sx", "Sy", "Xr",
    ]
}
