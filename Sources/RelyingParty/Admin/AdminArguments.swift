// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// A parsed command line of `signet-server admin`.
struct AdminCommandLine: Sendable {
    var configuration = ServerCommand.installed
    var isJSON = false
    let verb: AdminVerb
    let arguments: AdminArguments

    /// Parses the arguments after `admin`; nil if help was requested.
    ///
    /// - Throws: `.usage`, with the usage of the command if it is known.
    init?(_ words: [String]) throws(AdminFault) {
        var plain: [String] = []
        var options: [(name: String, value: String)] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" { return nil }
            if word == "--json" {
                isJSON = true
            } else if word.hasPrefix("--") {
                guard let value = rest.popFirst() else {
                    throw .usage("\(word) wants a value")
                }
                options.append((word, value))
            } else {
                plain.append(word)
            }
        }
        if let place = options.lastIndex(where: { $0.name == "--config" }) {
            configuration = options.remove(at: place).value
            guard configuration.hasPrefix("/") else {
                throw .usage("--config wants an absolute path")
            }
        }
        (verb, arguments) = try Self.find(plain, options)
    }

    private static func find(
        _ plain: [String], _ options: [(name: String, value: String)]
    ) throws(AdminFault) -> (AdminVerb, AdminArguments) {
        let found = AdminVerbs.all.first { verb in
            plain.starts(with: verb.name.split(separator: " ").map(String.init))
        }
        guard let verb = found else {
            let said = plain.isEmpty ? "no command" : "no command '\(plain.joined(separator: " "))'"
            throw .usage("\(said): 'signet-server admin --help' shows all")
        }
        let operands = Array(plain.dropFirst(verb.name.split(separator: " ").count))
        guard operands.count == verb.operands.count else {
            throw .usage("usage: signet-server admin \(verb.usage)")
        }
        var values: [String: String] = [:]
        for option in options {
            guard verb.options.contains(where: { $0.name == option.name }) else {
                throw .usage(
                    "\(verb.name) has no \(option.name): usage: signet-server admin \(verb.usage)")
            }
            guard values.updateValue(option.value, forKey: option.name) == nil else {
                throw .usage("\(option.name) stands twice")
            }
        }
        return (verb, AdminArguments(operands: operands, options: values))
    }
}

/// The operands and options of a command, checked against its row in the table.
struct AdminArguments: Sendable {
    let operands: [String]
    let options: [String: String]

    /// The operand at an index; the number of operands has been checked.
    subscript(place: Int) -> String { operands.indices.contains(place) ? operands[place] : "" }

    /// An operand that must be a valid name.
    func name(_ place: Int) throws(AdminFault) -> Name {
        guard let name = Name(self[place]) else {
            throw .usage("a name has 1 to 128 bytes and no control characters")
        }
        return name
    }

    /// An operand that must be an id.
    func id(_ place: Int) throws(AdminFault) -> [UInt8] {
        guard let id = ID(text: self[place]) else {
            throw .usage("'\(self[place])' is no id: an id has 32 hexadecimal digits")
        }
        return id.bytes
    }

    /// The value of an integer option within bounds; nil if the option is absent.
    func count(
        _ option: String, _ bounds: ClosedRange<Int64>
    ) throws(AdminFault) -> Int64? {
        guard let text = options[option] else { return nil }
        guard let number = Int64(text), bounds.contains(number) else {
            throw .usage(
                "\(option) takes a number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// The value of `--limit`: the maximum number of rows in a list.
    func limit() throws(AdminFault) -> Int64 { try count("--limit", 1...100_000) ?? 1_000 }

    /// Whether an option has the word `yes` and not `no`; nil if the option is absent.
    func choice(_ option: String, _ no: String, _ yes: String) throws(AdminFault) -> Bool? {
        guard let word = options[option] else { return nil }
        guard word == no || word == yes else {
            throw .usage("\(option) takes \(no) or \(yes)")
        }
        return word == yes
    }

    /// The words of an option, separated by commas; nil if the option is absent.
    func words(_ option: String) throws(AdminFault) -> [String]? {
        guard let text = options[option] else { return nil }
        let words = text.split(separator: ",").map(String.init)
        guard text.utf8.count <= 1_024, Set(words).count == words.count,
            words.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } })
        else {
            throw .usage("\(option) takes words of ASCII with commas between, each once")
        }
        return words
    }

    /// The time of an option in seconds since 1970, given as `2026-11-20T17:24:00Z`, `2026-11-20`,
    /// or relative to now as `30min`, `12h` or `7d`; nil if the option is absent.
    func moment(_ option: String, before now: Int64) throws(AdminFault) -> Int64? {
        guard let text = options[option] else { return nil }
        for form in [text, "\(text)T00:00:00Z"] {
            if let instant = Instant(text: [UInt8](form.utf8)) { return Int64(instant.seconds) }
        }
        let units: KeyValuePairs<String, Int64> = ["min": 60, "h": 3_600, "d": 86_400]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            if let count = Int64(text.dropLast(unit.count)), (1...100_000).contains(count) {
                return now - count * seconds
            }
        }
        throw .usage("\(option) takes a date as 2026-11-20, a time in UTC, 30min, 12h, or 7d")
    }
}
