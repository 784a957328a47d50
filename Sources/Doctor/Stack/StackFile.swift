// SPDX-License-Identifier: Apache-2.0
/// The four kinds of stacks that a service has.
enum StackType: String, CaseIterable {
    case auth = "auth"
    case account = "account"
    case password = "password"
    case session = "session"
}

/// One line of a file in /etc/pam.d, its continuations included.
struct StackLine: Equatable {
    /// What the line asks for.
    enum Content: Equatable {
        /// A module: its path as written, and its options.
        case module(Control, path: String, options: [String])
        /// All lines of the type in another file, or with `@include`, of every type.
        case include(String)
        /// The same, but what it decides ends there.
        case substack(String)
        /// libpam cannot read it, and lets nothing pass where it stands.
        case broken
    }

    /// The number of its first line, from 1.
    let number: Int
    /// nil for `@include`.
    let type: StackType?
    /// `-` in front of the type: a module that is missing is not logged.
    let isSilent: Bool
    let content: Content
}

/// A file in /etc/pam.d; pam.d(5), libpam's `pam_handlers.c` and `pam_misc.c`.
struct StackFile: Equatable {
    private(set) var lines: [StackLine] = []
    /// The line that is longer than libpam takes: then it takes nothing of the file.
    private(set) var overlong: Int?

    /// The longest file that is looked at.
    static let maximumLength = 262_144
    /// The longest line, its continuations included.
    static let longestLine = 8_191

    /// Reads all of it. Whatever the bytes are, it ends.
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
            if let line = StackFile.line(first, joined) { lines.append(line) }
            joined = ""
        }
    }

    private static func line(_ number: Int, _ text: String) -> StackLine? {
        var words = Words(text)
        guard var word = words.next() else { return nil }
        let isSilent = word.hasPrefix("-")
        if isSilent { word.removeFirst() }
        if word.lowercased() == "@include" {
            let content = words.next().map { StackLine.Content.include($0) } ?? .broken
            return StackLine(number: number, type: nil, isSilent: isSilent, content: content)
        }
        // Of a type that libpam does not know it makes the most sensitive one.
        let type = StackType(rawValue: word.lowercased())
        return StackLine(
            number: number, type: type ?? .auth, isSilent: isSilent,
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

/// The words of a line: between blanks, or between brackets; libpam's `_pam_StrTok`.
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
