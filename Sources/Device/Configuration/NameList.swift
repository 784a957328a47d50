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
        allowed = Set(words.filter { !$0.hasPrefix("!") })
        denied = Set(words.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
    }

    /// Whether the list allows a thing that has these names, such as an account with its groups.
    ///
    /// None of the names may be denied, and at least one must be allowed unless all are.
    package func admits(_ names: Set<String>) -> Bool {
        denied.isDisjoint(with: names) && (allowed.isEmpty || !allowed.isDisjoint(with: names))
    }

    /// Whether a word is a valid entry: a name of 1 to 256 bytes, with or without `!` in front.
    ///
    /// A name contains no space, control character, `!`, `:` or `/`.
    static func isEntry(_ word: String) -> Bool {
        let name = word.utf8.first == UInt8(ascii: "!") ? word.utf8.dropFirst() : word.utf8[...]
        guard (1...256).contains(name.count) else { return false }
        return !name.contains { $0 <= 0x20 || $0 == 0x7F || "!:/".utf8.contains($0) }
    }
}
