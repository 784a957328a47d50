#if !hasFeature(Embedded)
import Statement
#endif

/// How sudo was called, as far as it matters here: what is confirmed, and who asks for passwords.
package struct SudoCommand: Equatable, Sendable {
    /// The longest purpose in bytes.
    package static let longestPurpose = 1_024

    /// The command line with spaces between its words, cut to 1,024 bytes with `…`.
    package let purpose: [UInt8]
    /// Whether sudo was told `-n`, `-A` or `-S`: then nothing else may ask on the terminal.
    package let asksElsewhere: Bool

    /// From the contents of /proc/PID/cmdline: words, each ended by NUL.
    ///
    /// The first word is the caller's to choose, so `sudo` or `sudoedit` stands in its place.
    package init(parsing text: [UInt8]) {
        var words = text.parts(between: 0)
        if text.last == 0 { words.removeLast() }
        let edits = words.first?.ends(with: StaticString("sudoedit").bytes) ?? false
        var line = edits ? StaticString("sudoedit").bytes : StaticString("sudo").bytes
        for word in words.dropFirst() {
            line.append(UInt8(ascii: " "))
            line += word
            if line.count > SudoCommand.longestPurpose { break }
        }
        purpose = SudoCommand.cut(line)
        asksElsewhere = SudoCommand.asksElsewhere(words.dropFirst())
    }

    private static func cut(_ line: [UInt8]) -> [UInt8] {
        guard line.count > longestPurpose else { return line }
        let ellipsis = StaticString("…").bytes
        var kept = line.prefix(longestPurpose - ellipsis.count)
        // Not in the middle of a character.
        if line[kept.endIndex] & 0xC0 == 0x80 {
            while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
            kept = kept.dropLast()
        }
        return [UInt8](kept) + ellipsis
    }

    /// Reads sudo's own options, which end at the first word that is neither an option nor
    /// `NAME=value`.
    private static func asksElsewhere(_ words: ArraySlice<[UInt8]>) -> Bool {
        var isValue = false
        for word in words {
            if isValue {
                isValue = false
                continue
            }
            guard word.first == UInt8(ascii: "-"), word.count > 1 else {
                guard let equals = word.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
                    return false
                }
                continue
            }
            if word[1] == UInt8(ascii: "-") {
                if word.count == 2 { return false }
                if isAny(of: quietNames, word) { return true }
                isValue = isAny(of: valueNames, word)
                continue
            }
            switch cluster(word) {
            case .asksElsewhere: return true
            case .wantsValue: isValue = true
            case .plain: break
            }
        }
        return false
    }

    private enum Cluster {
        case asksElsewhere
        case wantsValue
        case plain
    }

    /// A word of short options: one that takes a value swallows the rest of the word.
    private static func cluster(_ word: [UInt8]) -> Cluster {
        for (index, letter) in word.enumerated().dropFirst() {
            if StaticString("nAS").bytes.contains(letter) { return .asksElsewhere }
            if StaticString("aCcDghpRrTtUu").bytes.contains(letter) {
                return index + 1 == word.count ? .wantsValue : .plain
            }
        }
        return .plain
    }

    private static var quietNames: [StaticString] {
        ["--non-interactive", "--askpass", "--stdin"]
    }

    private static var valueNames: [StaticString] {
        [
            "--auth-type", "--close-from", "--login-class", "--chdir", "--group", "--host",
            "--prompt", "--chroot", "--role", "--type", "--command-timeout", "--other-user",
            "--user",
        ]
    }

    /// Whether a word is one of the names, or short for it as getopt_long(3) allows.
    private static func isAny(of names: [StaticString], _ word: [UInt8]) -> Bool {
        for name in names where word.count > 2 && name.bytes.starts(with: word) { return true }
        return false
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool {
        count >= end.count && [UInt8](suffix(end.count)) == end
    }
}
