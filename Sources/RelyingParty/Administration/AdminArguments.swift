// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import ServerAPI
import SignedFormats

/// The operands and options of a command, which have been checked against its declaration.
struct AdminArguments: Sendable {
    let parsed: Arguments

    /// The operand at an index; empty if an optional one is absent.
    subscript(place: Int) -> String {
        parsed.operands.indices.contains(place) ? parsed.operands[place] : ""
    }

    /// The value of an option; nil if it is absent.
    func text(_ option: OptionSyntax) -> String? { parsed.value(option) }

    /// The value of an option that takes a number; nil if it is absent.
    func count(_ option: OptionSyntax) -> Int64? { parsed.number(option) }

    /// Whether an option has the value `yes`; nil if it is absent.
    func choice(_ option: OptionSyntax, yes: String) -> Bool? {
        parsed.value(option).map { $0 == yes }
    }

    /// The command's own options as typed, for the audit trail.
    var changes: String {
        parsed.command.allOptions.compactMap { option in
            text(option).map { "\(option.long) \($0)" }
        }.sorted().joined(separator: " ")
    }

    /// The value of `--limit`: the maximum number of rows in a list.
    var limit: Int64 { count(.limit) ?? 1_000 }

    /// An operand that must be a valid name; throws `.usage` otherwise.
    func name(_ place: Int) throws(AdminFault) -> Name {
        guard let name = Name(self[place]) else {
            throw .usage("a name must have 1 to 128 bytes and no control characters")
        }
        return name
    }

    /// An operand that names something for other programs, which may put the name into a URL, a path
    /// or a list; throws `.usage` unless it reads alike everywhere.
    func label(_ place: Int) throws(AdminFault) -> Name {
        let text = self[place]
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, text.utf8.count <= 64, text.first?.isPunctuation == false,
            let name = Name(text)
        else {
            throw .usage(
                """
                '\(text)' is not a name: choose 1 to 64 letters and digits of ASCII and ._-, \
                beginning with a letter or digit
                """)
        }
        return name
    }

    /// An operand that must be an id of 32 hexadecimal digits; throws `.usage` otherwise.
    func id<ID: BodyID>(_ place: Int) throws(AdminFault) -> ID {
        guard let id = ID(text: self[place]) else {
            throw .usage("'\(self[place])' is not an id: an id has 32 hexadecimal digits")
        }
        return id
    }

    /// The comma-separated words of an option; nil if it is absent.
    ///
    /// - Throws: `.usage` unless the words are printable ASCII without spaces, each given once, and
    ///   the value has at most 1,024 bytes.
    func words(_ option: OptionSyntax) throws(AdminFault) -> [String]? {
        guard let text = text(option) else { return nil }
        let words = text.split(separator: ",").map(String.init)
        guard text.utf8.count <= 1_024, Set(words).count == words.count,
            words.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } })
        else {
            throw .usage("\(option.long) takes ASCII words separated by commas, each only once")
        }
        return words
    }

    /// The time of an option, in seconds since 1970; nil if the option is absent.
    ///
    /// It is given in UTC as `2026-11-20T17:24:00Z` or `2026-11-20`, or before `now` as `30min`,
    /// `12h` or `7d`.
    func moment(_ option: OptionSyntax, before now: Int64) throws(AdminFault) -> Int64? {
        try moment(option) { now - $0 }
    }

    /// The time of an option, given in UTC, or as a time after `now`; nil if the option is absent.
    func moment(_ option: OptionSyntax, after now: Int64) throws(AdminFault) -> Int64? {
        try moment(option) { now + $0 }
    }

    private func moment(
        _ option: OptionSyntax, from distance: (Int64) -> Int64
    ) throws(AdminFault) -> Int64? {
        guard let text = text(option) else { return nil }
        for form in [text, "\(text)T00:00:00Z"] {
            if let instant = Instant(text: [UInt8](form.utf8)) { return Int64(instant.seconds) }
        }
        let units: KeyValuePairs<String, Int64> = ["min": 60, "h": 3_600, "d": 86_400]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            if let count = Int64(text.dropLast(unit.count)), (1...100_000).contains(count) {
                return distance(count * seconds)
            }
        }
        throw .usage(
            "\(option.long) takes a date such as 2026-11-20, a time in UTC, or an age: 30min, 12h, 7d"
        )
    }
}
