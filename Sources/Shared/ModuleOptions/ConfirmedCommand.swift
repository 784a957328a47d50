// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// The command that a call of sudo, su or doas runs, as the user reads it before a touch.
///
/// The text has the command first, then in brackets the options and assignments in front of it. The
/// command line is parsed exactly as the program itself does. If the result is ambiguous there is
/// no purpose, so that users never authorise a command that they do not see.
package struct ConfirmedCommand: Equatable, Sendable {
    /// The command that the touch authorises; nil if the command line does not determine it.
    package let purpose: [UInt8]?
    /// Whether sudo was told `-n`, `-A` or `-S`; then nothing else may prompt on the terminal.
    package let asksElsewhere: Bool

    /// Parses the command line of a program.
    package init(_ call: ProgramCall, of program: ConfirmingProgram) {
        var reader = OptionReader(call.words, program: program)
        let isClear = reader.read() && (call.isWhole || !reader.command.isEmpty)
        asksElsewhere = reader.asksElsewhere
        guard isClear, !call.words.isEmpty else {
            purpose = nil
            return
        }
        var front = [reader.edits ? StaticString("sudoedit").bytes : program.name.bytes]
        for mode in reader.modes { front.append([UInt8(ascii: "-")] + mode) }
        purpose = call.purpose(front + reader.command, aside: reader.aside)
    }
}

/// The programs whose command line says what a touch authorises.
package enum ConfirmingProgram: Sendable {
    /// sudo 1.9 and older; options as in parse_args.c, program names as in progname.c.
    case sudo
    /// su of util-linux and of shadow.
    case su
    /// OpenDoas.
    case doas

    /// The name that is shown, whatever argv[0] is.
    var name: StaticString {
        switch self {
        case .sudo: "sudo"
        case .su: "su"
        case .doas: "doas"
        }
    }

    /// The short options that have a value, in the same word or the next.
    var withValue: StaticString {
        switch self {
        case .sudo: "aCcDgpRrTtUu"
        case .su: "cCgGsuw"
        case .doas: "aCu"
        }
    }

    /// The short options without a value.
    var withoutValue: StaticString {
        switch self {
        case .sudo: "ABbEeHiKklNnPSsVv"
        case .su: "flmpPT"
        case .doas: "Lns"
        }
    }

    /// The options without a value that determine what is done; they are shown in front of the
    /// command.
    var modes: StaticString {
        switch self {
        case .sudo: "eilsKVv"
        case .su: "l"
        case .doas: "s"
        }
    }

    /// The long options, each after the letter of its short form; `?` for one that ends the
    /// program.
    var names: StaticString {
        switch self {
        case .sudo:
            """
            Aaskpass aauth-type bbackground Bbell Cclose-from clogin-class Dchdir Epreserve-env \
            eedit ggroup Hset-home ?help hhost ilogin Kremove-timestamp kreset-timestamp llist \
            Nno-update nnon-interactive Ppreserve-groups pprompt Rchroot rrole Sstdin sshell \
            ttype Tcommand-timeout Uother-user uuser Vversion vvalidate
            """
        case .su:
            """
            ccommand Csession-command ffast llogin ppreserve-environment Ppty Tno-pty sshell \
            ggroup Gsupp-group uuser wwhitelist-environment ?help ?version
            """
        case .doas: ""
        }
    }
}

extension StaticString {
    /// Whether it contains a byte.
    fileprivate func has(_ byte: UInt8) -> Bool {
        for index in 0..<utf8CodeUnitCount where unsafe utf8Start[index] == byte { return true }
        return false
    }
}

/// Parses a command line up to the command, like getopt_long(3) and the program itself.
private struct OptionReader {
    /// Options that determine what is done, without hyphen and without duplicates.
    private(set) var modes: [[UInt8]] = []
    /// The other options, and the assignments, as given.
    private(set) var aside: [[UInt8]] = []
    /// The command with its arguments; for su the account, `-c` with its command, and the
    /// arguments.
    private(set) var command: [[UInt8]] = []
    /// Whether sudo was told to prompt elsewhere or not at all: `-n`, `-A` or `-S`.
    private(set) var asksElsewhere = false
    /// Whether sudo edits files instead of running a command.
    private(set) var edits = false
    /// Whether the program's name leaves open which of the two sudo does.
    private let isAmbiguous: Bool
    private let words: [[UInt8]]
    private let program: ConfirmingProgram
    private var index = 1
    /// `-c` and the command of su.
    private var shellCommand: [[UInt8]] = []

    private static let hyphen = UInt8(ascii: "-")

    init(_ words: [[UInt8]], program: ConfirmingProgram) {
        self.words = words
        self.program = program
        // sudo behaves according to the name by which it was called. If the name merely ends in
        // "edit", older versions edit the file and newer versions run it.
        let name = words.first?.parts(between: UInt8(ascii: "/")).last ?? []
        let end = StaticString("edit").bytes
        let isEditor = name == StaticString("sudoedit").bytes
        isAmbiguous =
            program == .sudo && !isEditor && name.count > end.count
            && [UInt8](name.suffix(end.count)) == end
        edits = program == .sudo && isEditor
    }

    /// Parses the whole line; returns false if it does not determine what runs.
    mutating func read() -> Bool {
        guard !isAmbiguous else { return false }
        while index < words.count {
            let word = words[index]
            if isEnd(word) {
                index += 1
                break
            }
            if word.first == OptionReader.hyphen, word.count > 1 {
                index += 1
                let isKnown = word[1] == OptionReader.hyphen ? long(word) : short(word)
                guard isKnown else { return false }
            } else if !takes(word) {
                break
            }
        }
        if index < words.count { command += words[index...] }
        // Some versions of sudo take such a word for an assignment.
        if program == .sudo, command.first?.first == UInt8(ascii: "=") { return false }
        command.insert(contentsOf: shellCommand, at: min(1, command.count))
        return true
    }

    private func isEnd(_ word: [UInt8]) -> Bool {
        word.count == 2 && word[0] == OptionReader.hyphen && word[1] == OptionReader.hyphen
    }

    /// Consumes a word that is not an option, if options may follow it; returns false at the
    /// command.
    private mutating func takes(_ word: [UInt8]) -> Bool {
        switch program {
        case .sudo:
            // sudo does this too: also if `--` is the value of an option.
            guard isAssignment(word), index < 2 || !isEnd(words[index - 1]) else { return false }
            aside.append(word)
        case .su:
            if word.count == 1, command.isEmpty, word[0] == OptionReader.hyphen {
                note(mode: [])
            } else {
                command.append(word)
            }
        case .doas: return false
        }
        index += 1
        return true
    }

    private func isAssignment(_ word: [UInt8]) -> Bool {
        word.first != UInt8(ascii: "/") && word.first != UInt8(ascii: "=")
            && word.contains(UInt8(ascii: "="))
    }

    /// Parses a word of short options; one with a value takes the rest of the word.
    private mutating func short(_ word: [UInt8]) -> Bool {
        var isAside = false
        var value: [UInt8]?
        for place in 1..<word.count {
            let letter = word[place]
            let rest = [UInt8](word[(place + 1)...])
            if program.withoutValue.has(letter) {
                if !note(letter) { isAside = true }
            } else if letter == UInt8(ascii: "h"), program == .sudo {
                // `-h HOST` and `-hHOST` name a host; any other `-h` asks for help.
                guard rest.isEmpty else { return addAside([word]) }
                guard word.count == 2, index < words.count, !words[index].isEmpty,
                    words[index].first != OptionReader.hyphen, !isAssignment(words[index])
                else { return false }
                return addAside([word, next()])
            } else if program.withValue.has(letter) {
                if rest.isEmpty, index == words.count { return false }
                value = rest.isEmpty ? next() : rest
                if isShellCommand(letter) { return take(shellCommand: value ?? []) }
                return addAside(rest.isEmpty ? [word, value ?? []] : [word])
            } else {
                return false
            }
        }
        return isAside ? addAside([word]) : true
    }

    /// Parses a long option, which may be abbreviated if that is unambiguous.
    private mutating func long(_ word: [UInt8]) -> Bool {
        let equals = word.firstIndex(of: UInt8(ascii: "="))
        let written = [UInt8](word[2..<(equals ?? word.count)])
        guard !written.isEmpty, let letter = letter(of: written) else { return false }
        let value = equals.map { [UInt8](word[($0 + 1)...]) }
        // --preserve-env=LIST
        if value != nil, program == .sudo, letter == UInt8(ascii: "E") { return addAside([word]) }
        if program.withoutValue.has(letter) {
            guard value == nil else { return false }
            return note(letter) || addAside([word])
        }
        guard program.withValue.has(letter) || letter == UInt8(ascii: "h") else { return false }
        if value == nil, index == words.count { return false }
        let given = value ?? next()
        if isShellCommand(letter) { return take(shellCommand: given) }
        return addAside(value == nil ? [word, given] : [word])
    }

    private func letter(of written: [UInt8]) -> UInt8? {
        var found: UInt8?
        for entry in program.names.bytes.parts(between: UInt8(ascii: " ")) {
            guard let letter = entry.first, entry.dropFirst().starts(with: written) else {
                continue
            }
            if entry.count == written.count + 1 { return letter }
            // The abbreviation is ambiguous.
            guard found == nil else { return nil }
            found = letter
        }
        return found
    }

    /// Consumes the next word as a value.
    private mutating func next() -> [UInt8] {
        defer { index += 1 }
        return index < words.count ? words[index] : []
    }

    /// Records an option without a value; returns false if it belongs in brackets.
    private mutating func note(_ letter: UInt8) -> Bool {
        if program == .sudo {
            if letter == UInt8(ascii: "e") { edits = true }
            if StaticString("nAS").has(letter) { asksElsewhere = true }
        }
        guard program.modes.has(letter) else { return false }
        if letter != UInt8(ascii: "e") { note(mode: [letter]) }
        return true
    }

    private mutating func note(mode: [UInt8]) {
        if !modes.contains(mode) { modes.append(mode) }
    }

    private mutating func addAside(_ words: [[UInt8]]) -> Bool {
        aside += words
        return true
    }

    private func isShellCommand(_ letter: UInt8) -> Bool {
        program == .su && (letter == UInt8(ascii: "c") || letter == UInt8(ascii: "C"))
    }

    /// Records the command of `su -c`; a second one makes the line ambiguous.
    private mutating func take(shellCommand: [UInt8]) -> Bool {
        guard self.shellCommand.isEmpty else { return false }
        self.shellCommand = [StaticString("-c").bytes, shellCommand]
        return true
    }
}
