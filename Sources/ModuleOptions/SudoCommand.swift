#if !hasFeature(Embedded)
import Statement
#endif

/// How sudo was called, as far as it matters here: what is confirmed, and who asks for passwords.
package struct SudoCommand: Equatable, Sendable {
    /// The command line, with `sudo` or `sudoedit` in front whatever the caller named it.
    package let purpose: [UInt8]
    /// Whether sudo was told `-n`, `-A` or `-S`: then nothing else may ask on the terminal.
    package let asksElsewhere: Bool

    /// From sudo's command line.
    package init(_ line: ProgramCall) {
        purpose = line.purpose(of: SudoCommand.edits(line.words.first) ? "sudoedit" : "sudo")
        asksElsewhere = SudoCommand.asksElsewhere(line.words.dropFirst())
    }

    /// Whether sudo edits: it goes by the end of the name that it was called by.
    private static func edits(_ word: [UInt8]?) -> Bool {
        guard let name = word?.parts(between: UInt8(ascii: "/")).last else { return false }
        let end = StaticString("edit").bytes
        return name.count > end.count && [UInt8](name.suffix(end.count)) == end
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
