// SPDX-License-Identifier: Apache-2.0

/// A list of names to allow (`name`) and deny (`!name`).
///
/// A denied name overrides allowed ones. If the list contains no allowed name, every name that is
/// not denied is allowed; an empty list therefore allows everything.
package struct NameList: Equatable, Sendable {
    /// The allowed names; empty for all.
    package let allowed: Set<String>
    /// The denied names.
    package let denied: Set<String>

    /// Creates a list from the words of a setting.
    package init(_ words: [String]) {
        allowed = Set(words.filter { !$0.hasPrefix("!") }.map { Self.name($0[...]) })
        denied = Set(words.filter { $0.hasPrefix("!") }.map { Self.name($0.dropFirst()) })
    }

    /// The name in a word, without the quotes around it.
    private static func name(_ word: Substring) -> String {
        isQuoted(word.utf8) ? String(word.dropFirst().dropLast()) : String(word)
    }

    private static func isQuoted(_ word: Substring.UTF8View) -> Bool {
        let quote = UInt8(ascii: "\"")
        return word.count > 2 && word.first == quote && word.last == quote
    }

    /// Whether the list allows a thing that has these names, such as an account with its groups.
    ///
    /// None of the names may be denied, and at least one must be allowed unless all are.
    package func admits(_ names: Set<String>) -> Bool {
        denied.isDisjoint(with: names) && (allowed.isEmpty || !allowed.isDisjoint(with: names))
    }

    /// Whether a word is a valid entry: a name of 1 to 256 bytes, with or without `!` in front.
    ///
    /// A name neither begins nor ends with a space, and contains no control character, `!`, `:`, `/` or `"`. One with a space must be in double
    /// quotes: without them, a comma is more likely to be missing.
    static func isEntry(_ word: String) -> Bool {
        var name = word.utf8.first == UInt8(ascii: "!") ? word.utf8.dropFirst() : word.utf8[...]
        let mayHaveSpaces = isQuoted(name)
        if mayHaveSpaces { name = name.dropFirst().dropLast() }
        guard (1...256).contains(name.count), name.first != 0x20, name.last != 0x20 else {
            return false
        }
        return !name.contains {
            $0 < 0x20 || $0 == 0x20 && !mayHaveSpaces || $0 == 0x7F || "!:/\"".utf8.contains($0)
        }
    }
}
