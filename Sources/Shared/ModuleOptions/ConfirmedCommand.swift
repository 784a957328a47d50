// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// The command that a call of sudo, su or doas runs, as the user reads it before a touch.
///
/// The text has the command first, then in brackets the options and assignments in front of it, and
/// what the environment adds: the shell or editor that runs, and variables that change what is run.
/// The command line is parsed exactly as the program itself does. If the result is ambiguous, or
/// cannot be shown whole, there is no purpose, so that users never authorise a command that they do
/// not see.
package struct ConfirmedCommand: Equatable, Sendable {
    /// The command that the touch authorises; nil if it cannot be told, or not be shown whole.
    package let purpose: [UInt8]?
    /// Whether there is no purpose only because it is too long.
    package let isTooLong: Bool
    /// Whether sudo was told `-n`, `-A` or `-S`; then nothing else may prompt on the terminal.
    package let asksElsewhere: Bool

    /// Parses the command line of a program.
    package init(
        _ call: ProgramCall, of program: ConfirmingProgram, in place: CallSurroundings
    ) {
        var reader = OptionReader(call.words, program: program)
        let isRead = reader.read()
        asksElsewhere = reader.asksElsewhere
        guard call.isWhole, isRead, !call.words.isEmpty, let run = Run(of: reader, in: place) else {
            purpose = nil
            isTooLong = !call.isWhole
            return
        }
        var front = [reader.edits ? StaticString("sudoedit").bytes : program.name.bytes]
        for mode in reader.modes { front.append([UInt8(ascii: "-")] + mode) }
        purpose = ProgramCall.purpose(front + run.command, aside: reader.aside, notes: run.notes)
        isTooLong = purpose == nil
    }
}

/// What a call runs, with what the directory and the environment add to the command line.
private struct Run {
    /// The command with its arguments; a program's or an edited file's path is absolute.
    private(set) var command: [[UInt8]]
    /// The shell that runs, and the variables that matter, as the brackets show them.
    private(set) var notes: [[UInt8]] = []
    private let place: CallSurroundings

    /// Returns nil if it cannot be told what runs.
    init?(of reader: OptionReader, in place: CallSurroundings) {
        command = reader.command
        self.place = place
        let isFound =
            switch reader.program {
            case .sudo: sudo(reader)
            case .su: su(reader)
            case .doas: doas(reader)
            }
        guard isFound, note(listed: reader.keptVariables) else { return nil }
    }

    /// sudo 1.9: parse_args.c, sudoers.c, editor.c. Without a shell it looks a command's name up in
    /// its own path.
    private mutating func sudo(_ reader: OptionReader) -> Bool {
        // All of the environment is too much to be shown.
        guard !reader.keepsEnvironment else { return false }
        if reader.edits { return sudoedit(reader) }
        let isLogin = reader.has(mode: "i")
        // With `shell_noargs`, sudo alone runs a shell as well.
        let runsShell = isLogin || reader.has(mode: "s") || command.isEmpty && reader.modes.isEmpty
        guard runsShell else {
            return !reader.modes.isEmpty || locate(0, isMoved: reader.changesDirectory)
        }
        // The shell expands what the caller's environment may still say.
        for word in command where word.contains(UInt8(ascii: "$")) { return false }
        guard locate(0, isMoved: isLogin || reader.changesDirectory) else { return false }
        guard isLogin else {
            guard let shell = callersShell(), let path = located(shell, reader) else {
                return false
            }
            return note(shell: path)
        }
        guard !reader.has(mode: "s") else { return false }
        let account = reader.user ?? StaticString("root").bytes
        // An account by its number, or a group alone: sudo has more to look up than can be seen.
        guard !account.isEmpty, account.first != UInt8(ascii: "#"),
            reader.user != nil || !reader.namesGroup,
            let shell = place.loginShell(of: .named(account))
        else { return false }
        return note(shell: shell)
    }

    private mutating func sudoedit(_ reader: OptionReader) -> Bool {
        for index in command.indices {
            guard let path = place.path(command[index]),
                path == command[index] || !reader.changesDirectory
            else { return false }
            command[index] = path
        }
        return note(listed: StaticString("SUDO_EDITOR VISUAL EDITOR").bytes.parts(between: 0x20))
    }

    /// su of util-linux: su-common.c. It runs the shell as given, without a search.
    private mutating func su(_ reader: OptionReader) -> Bool {
        let isLogin = !reader.modes.isEmpty
        let keeps = reader.keepsEnvironment && !isLogin
        if !isLogin {
            guard let deciding = place.deciding() else { return false }
            note(variables: deciding)
        }
        guard !reader.hasShellCommand || reader.shell != nil || keeps else { return true }
        var given = reader.shell
        if given == nil, keeps {
            guard let own = place.variable(StaticString("SHELL").bytes) else { return false }
            given = own
        }
        guard let shell = given ?? place.loginShell(of: .target), let path = place.path(shell),
            path == shell || !isLogin
        else { return false }
        return note(shell: path)
    }

    /// OpenDoas: doas.c. It searches the caller's PATH, unless a rule names the command.
    private mutating func doas(_ reader: OptionReader) -> Bool {
        guard let deciding = place.deciding() else { return false }
        note(variables: deciding)
        guard reader.has(mode: "s") else {
            guard let word = command.first else { return true }
            guard let path = searched(word) else { return false }
            command[0] = path
            return true
        }
        guard let shell = callersShell(), let path = searched(shell) else { return false }
        return note(shell: path)
    }

    /// SHELL, or else the caller's login shell; nil if it cannot be told.
    private func callersShell() -> [UInt8]? {
        guard let own = place.variable(StaticString("SHELL").bytes) else { return nil }
        if let own, !own.isEmpty { return own }
        return place.loginShell(of: .caller)
    }

    private func located(_ word: [UInt8], _ reader: OptionReader) -> [UInt8]? {
        guard word.contains(UInt8(ascii: "/")) else { return word }
        let path = place.path(word)
        return path == word || !reader.changesDirectory ? path : nil
    }

    private func searched(_ word: [UInt8]) -> [UInt8]? {
        word.contains(UInt8(ascii: "/")) ? place.path(word) : place.searched(word)
    }

    /// Makes the path of a command absolute; false if it cannot be told, as where it is run in
    /// another directory than the present one.
    private mutating func locate(_ index: Int, isMoved: Bool) -> Bool {
        guard index < command.count, command[index].contains(UInt8(ascii: "/")) else { return true }
        guard let path = place.path(command[index]), path == command[index] || !isMoved else {
            return false
        }
        command[index] = path
        return true
    }

    private mutating func note(shell: [UInt8]) -> Bool {
        notes.append(StaticString("shell ").bytes + ProgramCall.joined([shell]))
        return true
    }

    private mutating func note(variables: [[UInt8]]) {
        guard !variables.isEmpty else { return }
        notes.append(StaticString("with ").bytes + ProgramCall.joined(variables))
    }

    /// Notes those of the variables that are set; false if that cannot be told.
    private mutating func note(listed names: [[UInt8]]) -> Bool {
        var variables: [[UInt8]] = []
        for name in names {
            // The list of --preserve-env may have patterns.
            guard !name.contains(UInt8(ascii: "*")), let value = place.variable(name) else {
                return false
            }
            if let value { variables.append(name + [UInt8(ascii: "=")] + value) }
        }
        note(variables: variables)
        return true
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

    /// The services of programs whose conversation function is libpam's misc_conv(3) or one like it,
    /// which writes to standard output wherever that leads; besides sudo's.
    package static let textual: StaticString =
        "su su-l runuser runuser-l doas chsh chfn passwd newgrp sg login"

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
    /// The value of sudo's `-u`; the last one counts.
    private(set) var user: [UInt8]?
    /// Whether sudo was given a group with `-g`.
    private(set) var namesGroup = false
    /// Whether sudo was given another directory or root directory, `-D` or `-R`.
    private(set) var changesDirectory = false
    /// The value of su's `-s`; the last one counts.
    private(set) var shell: [UInt8]?
    /// Whether the caller's environment is passed on whole: `-E` of sudo, `-m` and `-p` of su.
    private(set) var keepsEnvironment = false
    /// The names of the variables that are passed on.
    private(set) var keptVariables: [[UInt8]] = []
    let program: ConfirmingProgram
    /// Whether the program's name leaves open which of the two sudo does.
    private let isAmbiguous: Bool
    private let words: [[UInt8]]
    private var index = 1
    /// `-c` and the command of su.
    private var shellCommand: [[UInt8]] = []

    /// Whether su was given a command with `-c`.
    var hasShellCommand: Bool { !shellCommand.isEmpty }

    /// Whether an option that determines what is done was given.
    func has(mode: StaticString) -> Bool { modes.contains(mode.bytes) }

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
                note(letter, value: value ?? [])
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
        if let value, program == .sudo, letter == UInt8(ascii: "E") {
            keptVariables += value.parts(between: UInt8(ascii: ","))
            return addAside([word])
        }
        if program.withoutValue.has(letter) {
            guard value == nil else { return false }
            return note(letter) || addAside([word])
        }
        guard program.withValue.has(letter) || letter == UInt8(ascii: "h") else { return false }
        if value == nil, index == words.count { return false }
        let given = value ?? next()
        if isShellCommand(letter) { return take(shellCommand: given) }
        note(letter, value: given)
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

    /// Records an option with a value that matters for what runs.
    private mutating func note(_ letter: UInt8, value: [UInt8]) {
        switch (program, letter) {
        case (.sudo, UInt8(ascii: "u")): user = value
        case (.sudo, UInt8(ascii: "g")): namesGroup = true
        case (.sudo, UInt8(ascii: "D")), (.sudo, UInt8(ascii: "R")): changesDirectory = true
        case (.su, UInt8(ascii: "s")): shell = value
        case (.su, UInt8(ascii: "w")): keptVariables += value.parts(between: UInt8(ascii: ","))
        default: return
        }
    }

    /// Records an option without a value; returns false if it belongs in brackets.
    private mutating func note(_ letter: UInt8) -> Bool {
        switch program {
        case .sudo:
            if letter == UInt8(ascii: "e") { edits = true }
            if letter == UInt8(ascii: "E") { keepsEnvironment = true }
            if StaticString("nAS").has(letter) { asksElsewhere = true }
        case .su: if StaticString("mp").has(letter) { keepsEnvironment = true }
        case .doas: break
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
