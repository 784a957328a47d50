// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// What a completion offers in place of an option's value or of an operand.
enum Offer: Hashable {
    case words([String])
    /// The strings of a member in what a command of the program lists with `--json`.
    case listed(member: String, command: String, ofAccount: Bool)
    case accounts
    case files
    case directories
    /// The words that may follow the operands so far in a command's name.
    case commands

    /// Nil where nothing can be offered.
    init?(_ value: ValueSyntax, in program: ProgramSyntax) {
        switch value.kind {
        case .choice(let words), .suggestion(let words): self = .words(words)
        case .account: self = .accounts
        case .file, .absoluteFile: self = .files
        case .directory: self = .directories
        case .command: self = .commands
        case .listed(let member, let name):
            let lister = program.commands.first { $0.name == name || name.hasPrefix("\($0.name) ") }
            let options = lister?.options.map(\.name) ?? []
            self = .listed(
                member: member, command: name, ofAccount: options.contains("account"))
        case .text, .words, .number, .url: return nil
        }
    }
}

/// What the completions of all shells are written from.
///
/// The words before the cursor give four things: the command, the option that selects a form, the
/// word that selects one, and how many operands stand behind it.
struct CompletionModel {
    /// A word with what it is for.
    struct Item {
        let word: String
        let summary: String
    }

    /// An operand's place: command, option that selects the form, word that selects it, and how many
    /// operands precede it; nil for any number.
    struct Place: Hashable {
        let command: String
        let selector: String
        let word: String
        let index: Int?

        /// As the scripts write it; an asterisk stands for any number.
        var key: String { "\(command)|\(selector)|\(word)|\(index.map(String.init) ?? "*")" }
    }

    let program: ProgramSyntax

    /// The program's name as a part of the names of functions.
    var function: String { program.name.replacing("-", with: "_") }

    /// All beginnings of commands' names, the empty one first, each with what may follow.
    var beginnings: [(name: String, next: [Item])] {
        var names = [""]
        for command in program.commands {
            for count in 1...max(1, command.words.count) where !command.words.isEmpty {
                let name = command.words.prefix(count).joined(separator: " ")
                if !names.contains(name) { names.append(name) }
            }
        }
        return names.map { ($0, next(after: $0)) }
    }

    private func next(after name: String) -> [Item] {
        let words = name.split(separator: " ").map(String.init)
        var items: [Item] = []
        for command in program.commands(below: words) {
            let word = command.words[words.count]
            guard !items.contains(where: { $0.word == word }) else { continue }
            let path = words + [word]
            let group = program.groups.first { $0.name == path.joined(separator: " ") }
            let summary = program.command(path)?.summary ?? group?.summary
            items.append(Item(word: word, summary: summary?.english ?? ""))
        }
        return items
    }

    /// The options that may stand behind the beginning of a name.
    func options(at name: String) -> [OptionSyntax] {
        let words = name.split(separator: " ").map(String.init)
        if let command = program.command(words) { return program.options(of: command) }
        return program.groupOptions(at: words) + (words.isEmpty ? [.version] : []) + [.help]
    }

    /// The options that take a value, as typed.
    var valueOptions: [String] {
        var all: [String] = []
        for (name, _) in beginnings {
            for option in options(at: name) where option.value != nil {
                all += option.spellings.filter { !all.contains($0) }
            }
        }
        return all
    }

    /// What each option with a value offers; the commands are nil where it is the same for all.
    var values: [(option: OptionSyntax, commands: [String]?, offer: Offer?)] {
        var found: [String: [(offer: Offer?, option: OptionSyntax, commands: [String])]] = [:]
        var order: [String] = []
        for (name, _) in beginnings {
            for option in options(at: name) {
                guard let value = option.value else { continue }
                let offer = Offer(value, in: program)
                if !order.contains(option.name) { order.append(option.name) }
                var all = found[option.name] ?? []
                if let index = all.firstIndex(where: { $0.offer == offer }) {
                    all[index].commands.append(name)
                } else {
                    all.append((offer, option, [name]))
                }
                found[option.name] = all
            }
        }
        return order.flatMap { name in
            let all = found[name] ?? []
            return all.map { ($0.option, all.count == 1 ? nil : $0.commands, $0.offer) }
        }
    }

    /// The options that select a form, as `command:--option`.
    var selectors: [String] {
        program.commands.flatMap { command in
            command.forms.compactMap(\.selector).map { "\(command.name):\($0.long)" }
        }
    }

    /// The words that select a form, as `command:word`.
    var words: [String] {
        program.commands.flatMap { command in
            command.forms.compactMap(\.word).map { "\(command.name):\($0)" }
        }
    }

    /// What is offered for each operand, in the order of the commands.
    var operands: [(place: Place, offers: [Offer])] {
        var found: [Place: [Offer]] = [:]
        var order: [Place] = []
        func add(_ offer: Offer, at place: Place) {
            if found[place] == nil { order.append(place) }
            found[place, default: []].append(offer)
        }
        for command in program.commands {
            let words = command.forms.compactMap(\.word)
            if !words.isEmpty {
                add(
                    .words(words),
                    at: Place(command: command.name, selector: "", word: "", index: 0))
            }
            for form in command.forms {
                var index = 0
                for operand in form.operands {
                    let isEndless = operand.maximum == .max
                    let last = isEndless ? index : index + operand.maximum - 1
                    for position in index...max(index, last) {
                        guard let offer = Offer(operand.value, in: program) else { continue }
                        add(
                            offer,
                            at: Place(
                                command: command.name, selector: form.selector?.long ?? "",
                                word: form.word ?? "", index: isEndless ? nil : position))
                    }
                    index = last + 1
                }
            }
        }
        return order.map { ($0, found[$0] ?? []) }
    }

    /// Whether completions ask the program for what it lists.
    var asksProgram: Bool {
        let offers = values.compactMap(\.offer) + operands.flatMap(\.offers)
        return offers.contains { if case .listed = $0 { true } else { false } }
    }
}

extension Text {
    /// The text in English.
    var english: String { String(decoding: bytes, as: UTF8.self) }
}

extension String {
    /// The string as one word of a POSIX shell.
    var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-_./".utf8.contains(byte)
                }
            }
        return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }
}

/// Lines of words that fit into 100 columns: the first with this in front, the others indented.
func wrapped(_ words: [String], after head: String, indent: String, end: String) -> String {
    var lines = [head]
    for word in words {
        let isFirst = lines[lines.count - 1] == head && lines.count == 1
        let separator =
            isFirst && !head.hasSuffix(" ") || lines[lines.count - 1] == indent ? "" : " "
        let gap = isFirst && head.hasSuffix(" ") ? "" : separator
        if lines[lines.count - 1].count + gap.count + word.count > 98 {
            lines.append(indent + word)
        } else {
            lines[lines.count - 1] += gap + word
        }
    }
    return lines.joined(separator: "\n") + end
}
