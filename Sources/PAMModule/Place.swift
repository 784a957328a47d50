// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import ModuleOptions
import SignedFormats

/// Where a login is asked for: at a terminal or not, and whether a password may be typed there.
struct Place {
    /// Where a password may be typed instead of a touch: nil if nowhere.
    let terminal: Terminal?
    /// Where the request comes from.
    let presence: TerminalPosition
    /// Whether nothing is to be asked where no password can be typed.
    let wantsLine: Bool
    /// The terminal in whose foreground the process has to be still when the touch comes.
    private let attended: Terminal?
    /// Where a request comes from that the text is to warn of, nil where it need not.
    let warning: TerminalPosition?

    /// Looks for the terminal of a login; declines where no touch is to be asked for.
    ///
    /// A process in the background must not take a touch that was meant for another.
    init(
        of login: Login, _ application: Application, _ options: ModuleOptions
    ) throws(LoginFailure) {
        guard !login.asksElsewhere else {
            throw .declined("sudo is not to ask on the terminal")
        }
        let mayType = options.prompt == .auto || options.prompt == .together
        let found = Terminal.open(named: login.terminal, toRead: mayType)
        let background = options.background(for: login.service)
        if let found {
            presence = found.isForeground ? .foreground : .background
        } else {
            // Its streams may be files: what controls it tells all the same.
            presence = Terminal.holdsBack ? .background : .noTerminal
        }
        // Without a terminal it is for the daemon to say, who can tell whether there is a seat.
        guard presence != .background || background != .refuse else {
            throw .declined("the process is in the background")
        }
        let isRead = application.isSudo || isatty(STDIN_FILENO) == 1
        terminal = mayType && isRead && presence == .foreground ? found : nil
        wantsLine = options.prompt == .together
        attended = presence == .foreground && background == .refuse ? found : nil
        warning = background == .warn && presence != .foreground ? presence : nil
        guard terminal != nil || !wantsLine else {
            throw .declined("no password can be typed here beside the touch")
        }
    }

    /// Whether the process was sent to the background since it was asked.
    var wasLeft: Bool { attended.map { !$0.isForeground } ?? false }

    /// Whether a login that was suspended may go on.
    var isForeground: Bool { terminal?.isForeground ?? false }
}

extension ProgramCall {
    /// How this process was called.
    static var ofThisProcess: ProgramCall {
        guard let file = openOfThisProcess() else { return ProgramCall(beginning: []) }
        let beginning = file.beginning(cap: longestBeginning)
        guard beginning.count == longestBeginning else { return ProgramCall(beginning: beginning) }
        var end: Bytes = []
        while true {
            let next = file.beginning(cap: longestBeginning)
            guard !next.isEmpty else { break }
            end = Bytes((end + next).suffix(longestEnd))
        }
        return ProgramCall(beginning: beginning, end: end.isEmpty ? nil : end)
    }

    /// The whole command line, words that end with NUL, for reading.
    static func openOfThisProcess() -> Descriptor? {
        Descriptor(
            adopting: StaticString("/proc/self/cmdline").bytes.withCString { path in
                unsafe open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
            })
    }
}
