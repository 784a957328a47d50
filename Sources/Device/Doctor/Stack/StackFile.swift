// SPDX-License-Identifier: Apache-2.0
/// The four management groups of PAM; each service has one stack for each.
enum StackType: String, CaseIterable {
    case auth = "auth"
    case account = "account"
    case password = "password"
    case session = "session"
}

/// One line of a file in /etc/pam.d, including its continuation lines.
struct StackLine: Equatable {
    /// The thing that a line refers to.
    enum Content: Equatable {
        /// A module, by its path as written, and its options.
        case module(Control, path: String, options: [String])
        /// All lines of this type in another file; with `@include`, lines of every type.
        case include(String)
        /// Like `include`, but a decision there ends only the substack.
        case substack(String)
        /// A line that libpam cannot parse and replaces with a failure.
        case broken
    }

    /// The number of its first physical line, counted from 1.
    let number: Int
    /// The type; nil for `@include`.
    let type: StackType?
    let content: Content
}

/// A file in /etc/pam.d, parsed as libpam does; pam.d(5), `pam_handlers.c` and `pam_misc.c`.
///
/// Lines that libpam cannot parse are represented as it treats them, never dropped, so that a
/// mistake in a file becomes a finding.
struct StackFile: Equatable {
    private(set) var lines: [StackLine] = []
    /// The first line that is longer than libpam accepts, in which case libpam ignores the whole
    /// file.
    private(set) var overlong: Int?

    /// The maximum size of a file that is read, in bytes.
    static let maximumLength = 262_144
    /// The maximum length of a line in bytes that libpam accepts, including its continuation lines.
    static let longestLine = 8_191

    /// Parses a file; accepts and terminates for any bytes.
    init(_ contents: [UInt8]) {
        var joined = ""
        var first = 0
        let rows = contents.split(separator: 10, omittingEmptySubsequences: false)
        for (index, row) in rows.enumerated() {
            if joined.isEmpty { first = index + 1 }
            var text = Substring(String(decoding: row, as: UTF8.self))
            text = text.prefix { $0 != "#" }
            while let last = text.last, last.isSpace { text.removeLast() }
            let goesOn = text.last == "\\"
            if goesOn { text.removeLast() }
            joined += text
            if goesOn && index < rows.count - 1 {
                joined += " "
                continue
            }
            guard joined.utf8.count <= StackFile.longestLine else {
                overlong = first
                lines = []
                return
            }
            if let line = StackFile.line(first, text: joined) { lines.append(line) }
            joined = ""
        }
    }

    private static func line(_ number: Int, text: String) -> StackLine? {
        var words = Words(text)
        guard var word = words.next() else { return nil }
        // A hyphen before the type only means that libpam does not log a missing module.
        if word.hasPrefix("-") { word.removeFirst() }
        if word.lowercased() == "@include" {
            let content = words.next().map { StackLine.Content.include($0) } ?? .broken
            return StackLine(number: number, type: nil, content: content)
        }
        // libpam treats an unknown type as `auth`, the most sensitive one.
        let type = StackType(rawValue: word.lowercased())
        return StackLine(
            number: number, type: type ?? .auth,
            content: type == nil ? .broken : content(&words))
    }

    private static func content(_ words: inout Words) -> StackLine.Content {
        guard let control = words.next(), let path = words.next() else { return .broken }
        switch control.lowercased() {
        case "include": return .include(path)
        case "substack": return .substack(path)
        default:
            var options: [String] = []
            while let word = words.next() { options.append(word) }
            return .module(Control(control), path: path, options: options)
        }
    }
}

/// The words of a line, separated by spaces or enclosed in brackets; libpam's `_pam_StrTok`.
private struct Words {
    private var rest: Substring

    init(_ text: String) { rest = Substring(text) }

    mutating func next() -> String? {
        rest = rest.drop(while: \.isSpace)
        guard let first = rest.first else { return nil }
        guard first == "[" else {
            let word = rest.prefix { !$0.isSpace }
            rest = rest.dropFirst(word.count)
            return String(word)
        }
        rest.removeFirst()
        var word = ""
        while let character = rest.popFirst(), character != "]" {
            if character == "\\", rest.first == "]" {
                word.append("]")
                rest.removeFirst()
            } else {
                word.append(character)
            }
        }
        return word
    }
}

extension Character {
    fileprivate var isSpace: Bool { self == " " || self == "\t" || self == "\r" }
}
