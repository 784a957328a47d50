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
        /// A line that libpam cannot parse and replaces with a failure, under its own control.
        case broken(Control)
        /// An include without the name of a file, which ends the program that loaded libpam.
        case nameless
    }

    /// The number of its first physical line, counted from 1.
    let number: Int
    /// The type; nil for `@include`, and for a line whose type libpam does not know.
    let type: StackType?
    let content: Content
    /// Whether libpam does not know the type, and takes the requested one, or else `auth`.
    var isOfUnknownType = false
    /// Whether a carriage return is part of its words.
    ///
    /// Files with the line ends of Windows have one at the end of each line.
    var hasReturn = false
}

/// A file in /etc/pam.d, parsed byte for byte as libpam does; pam.d(5), `pam_handlers.c` and
/// `pam_misc.c` of version 1.5.2.
///
/// Lines that libpam cannot parse are represented as it treats them, never dropped, so that a
/// mistake in a file becomes a finding. Later versions accept more: lines of any length. A file
/// that only they accept counts as broken.
struct StackFile: Equatable {
    private(set) var lines: [StackLine] = []
    /// The line at which libpam gives up; nil if it reads the whole file.
    ///
    /// It keeps the lines before it, but rejects the file: a backslash at its end, or a line and
    /// its continuations that exactly fill libpam's buffer.
    private(set) var cut: Int?

    /// The maximum size of a file that is read, in bytes.
    static let maximumLength = 262_144

    /// Parses a file; accepts and terminates for any bytes.
    init(_ contents: [UInt8]) {
        var source = LineSource(contents)
        while let line = source.next() {
            if let line = StackFile.line(line.number, text: line.text) { lines.append(line) }
        }
        cut = source.cut
    }

    private static func line(_ number: Int, text: [UInt8]) -> StackLine? {
        var words = Words(text)
        guard var word = words.next() else { return nil }
        let hasReturn = text.contains(UInt8(ascii: "\r"))
        // A hyphen before the type only means that libpam does not log a missing module.
        if word.first == UInt8(ascii: "-") { word.removeFirst() }
        let name = word.lowercasedText
        if name == "@include" {
            let content = words.next().map { StackLine.Content.include($0.text) } ?? .nameless
            return StackLine(number: number, type: nil, content: content, hasReturn: hasReturn)
        }
        let type = StackType(rawValue: name)
        var content = content(&words)
        if type == nil, case .module(let control, _, _) = content { content = .broken(control) }
        return StackLine(
            number: number, type: type, content: content, isOfUnknownType: type == nil,
            hasReturn: hasReturn)
    }

    private static func content(_ words: inout Words) -> StackLine.Content {
        guard let control = words.next() else { return .broken(.refused) }
        let path = words.next()
        switch control.lowercasedText {
        case "include": return path.map { .include($0.text) } ?? .nameless
        case "substack": return path.map { .substack($0.text) } ?? .nameless
        default:
            guard let path else { return .broken(Control(control)) }
            var options: [String] = []
            while let word = words.next() { options.append(word.text) }
            return .module(Control(control), path: path.text, options: options)
        }
    }
}

/// The lines of a file as libpam puts them together, with its buffer of 1,024 bytes;
/// `_pam_assemble_line`.
///
/// A longer physical line is read in parts, each of which is a line of its own: also the rest of a
/// long comment. Blank lines and comments between a line and its continuation are passed over.
private struct LineSource {
    private static let bufferLength = 1_024
    private let contents: [UInt8]
    private var position = 0
    private var number = 1
    /// The line at which libpam gives up.
    private(set) var cut: Int?

    init(_ contents: [UInt8]) { self.contents = contents }

    /// The next line, without its comment, and the number of its first physical line; nil at the
    /// end, or if libpam gives up.
    mutating func next() -> (number: Int, text: [UInt8])? {
        var joined: [UInt8] = []
        var first: Int?
        while true {
            let place = number
            // With room for a single byte, libpam 1.5.2 reads nothing for ever.
            guard joined.count < Self.bufferLength - 1,
                let chunk = chunk(atMost: Self.bufferLength - joined.count - 1)
            else {
                if let first { cut = first }
                return nil
            }
            // What follows a NUL is not seen.
            let seen = chunk.prefix { $0 != 0 }
            let text = seen.drop(while: \.isBlank)
            guard let start = text.first, start != UInt8(ascii: "#") else { continue }
            let line = first ?? place
            if let comment = text.firstIndex(of: UInt8(ascii: "#")) {
                return (line, joined + seen[..<comment])
            }
            let end = text.lastIndex { !$0.isBlank } ?? text.startIndex
            guard text[end] == UInt8(ascii: "\\") else { return (line, joined + seen) }
            joined += seen[..<end] + [UInt8(ascii: " ")]
            first = line
        }
    }

    /// What fgets(3) reads: up to a newline, and at most this many bytes; nil at the end.
    private mutating func chunk(atMost count: Int) -> ArraySlice<UInt8>? {
        guard position < contents.count else { return nil }
        let limit = min(position + count, contents.count)
        let newline = contents[position..<limit].firstIndex(of: 10)
        let end = newline.map { $0 + 1 } ?? limit
        defer {
            position = end
            if newline != nil { number += 1 }
        }
        return contents[position..<end]
    }
}

/// The words of a line, separated by blanks or enclosed in brackets; libpam's `_pam_StrTok`.
private struct Words {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    mutating func next() -> [UInt8]? {
        rest = rest.drop(while: \.isBlank)
        guard let first = rest.first else { return nil }
        guard first == UInt8(ascii: "[") else {
            let word = rest.prefix { !$0.isBlank }
            rest = rest.dropFirst(word.count)
            return Array(word)
        }
        rest.removeFirst()
        var word: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "]") {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "]") {
                word.append(UInt8(ascii: "]"))
                rest.removeFirst()
            } else {
                word.append(byte)
            }
        }
        return word
    }
}

extension UInt8 {
    /// Whether libpam separates words here: a carriage return or a form feed is part of a word.
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }

    /// The text with the capital letters of ASCII made small, as strcasecmp(3) compares.
    fileprivate var lowercasedText: String {
        map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }.text
    }
}
