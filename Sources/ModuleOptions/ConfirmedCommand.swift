// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What a call of sudo, su or doas runs, in the form in which a person confirms it: the command first,
/// then what stood in front of it (options and assignments) in brackets.
///
/// The line is read as the program itself reads it. Where that is not sure there is no purpose, and
/// nobody is asked to confirm something that they do not see.
package struct ConfirmedCommand: Equatable, Sendable {
    /// What is confirmed; nil where the command line does not tell it for sure.
    package let purpose: [UInt8]?
    /// Whether sudo was told `-n`, `-A` or `-S`: then nothing else may ask on the terminal.
    package let asksElsewhere: Bool

    /// From the command line of a program.
    package init(_ call: ProgramCall, of program: ConfirmingProgram) {
        var reader = OptionReader(call.words, program)
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

/// The programs whose command line says what a touch confirms.
package enum ConfirmingProgram: Sendable {
    /// sudo 1.9 and older, parse_args.c; which names it knows itself by, progname.c.
    case sudo
    /// util-linux's and shadow's su.
    case su
    /// OpenDoas.
    case doas

    /// The name that is shown, whatever the caller named the program.
    var name: StaticString {
        switch self {
        case .sudo: "sudo"
        case .su: "su"
        case .doas: "doas"
        }
    }

    /// The options that have a value, in the same word or the next.
    var withValue: StaticString {
        switch self {
        case .sudo: "aCcDgpRrTtUu"
        case .su: "cCgGsuw"
        case .doas: "aCu"
        }
    }

    /// The options that have none.
    var withoutValue: StaticString {
        switch self {
        case .sudo: "ABbEeHiKklNnPSsVv"
        case .su: "flmpPT"
        case .doas: "Lns"
        }
    }

    /// Those of them that say what is done, and stand in front of the command.
    var modes: StaticString {
        switch self {
        case .sudo: "eilsKVv"
        case .su: "l"
        case .doas: "s"
        }
    }

    /// The long names, each behind its letter; `?` for what ends the program.
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
    /// Whether a byte is one of its own.
    fileprivate func has(_ byte: UInt8) -> Bool {
        for index in 0..<utf8CodeUnitCount where unsafe utf8Start[index] == byte { return true }
        return false
    }
}

/// Reads a command line up to the command, as getopt_long(3) and the program do.
private struct OptionReader {
    /// Options that say what is done, without their hyphen, each once.
    private(set) var modes: [[UInt8]] = []
    /// The other options, and assignments, as they were given.
    private(set) var aside: [[UInt8]] = []
    /// What runs, with its arguments; of su the account, `-c` and its command, and the arguments.
    private(set) var command: [[UInt8]] = []
    /// Whether sudo was told `-n`, `-A` or `-S`.
    private(set) var asksElsewhere = false
    /// Whether sudo edits files.
    private(set) var edits = false
    /// Whether it is not sure which of the two it does.
    private let isAmbiguous: Bool
    private let words: [[UInt8]]
    private let program: ConfirmingProgram
    private var index = 1
    /// What `su -c` runs.
    private var shellCommand: [[UInt8]] = []

    private static let hyphen = UInt8(ascii: "-")

    init(_ words: [[UInt8]], _ program: ConfirmingProgram) {
        self.words = words
        self.program = program
        // sudo goes by the name that it was called by. By one that only ends in "edit", older versions
        // edit the file, and newer ones run it.
        let name = words.first?.parts(between: UInt8(ascii: "/")).last ?? []
        let end = StaticString("edit").bytes
        let isEditor = name == StaticString("sudoedit").bytes
        isAmbiguous =
            program == .sudo && !isEditor && name.count > end.count
            && [UInt8](name.suffix(end.count)) == end
        edits = program == .sudo && isEditor
    }

    /// Reads all of it; false where it is not sure what runs.
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
        // Some versions of sudo take it for an assignment.
        if program == .sudo, command.first?.first == UInt8(ascii: "=") { return false }
        command.insert(contentsOf: shellCommand, at: min(1, command.count))
        return true
    }

    private func isEnd(_ word: [UInt8]) -> Bool {
        word.count == 2 && word[0] == OptionReader.hyphen && word[1] == OptionReader.hyphen
    }

    /// Takes a word that is no option, if options may follow it.
    private mutating func takes(_ word: [UInt8]) -> Bool {
        switch program {
        case .sudo:
            // As sudo has it: also where `--` is the value of an option.
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

    /// A word of short options: one that has a value swallows the rest of the word.
    private mutating func short(_ word: [UInt8]) -> Bool {
        var isAside = false
        var value: [UInt8]?
        for place in 1..<word.count {
            let letter = word[place]
            let rest = [UInt8](word[(place + 1)...])
            if program.withoutValue.has(letter) {
                if !note(letter) { isAside = true }
            } else if letter == UInt8(ascii: "h"), program == .sudo {
                // `-h HOST`, `-hHOST`; else it asks for help.
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

    /// A long option, or what is short for exactly one.
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
            // Short for more than one.
            guard found == nil else { return nil }
            found = letter
        }
        return found
    }

    /// The next word, as a value.
    private mutating func next() -> [UInt8] {
        defer { index += 1 }
        return index < words.count ? words[index] : []
    }

    /// Notes an option without a value; false where it stands aside.
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

    /// The command of `su -c`; a second one leaves open which of them runs.
    private mutating func take(shellCommand: [UInt8]) -> Bool {
        guard self.shellCommand.isEmpty else { return false }
        self.shellCommand = [StaticString("-c").bytes, shellCommand]
        return true
    }
}
