// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import ModuleOptions
import SignedFormats

/// Where a login is asked for: at a terminal or not, and whether a password may be typed there.
///
/// It decides, by the options `prompt=` and `background=`, whether a touch may be asked for at all.
/// A process in the background must not take a touch that was meant for another program.
struct PromptContext {
    /// The terminal on which a password may be typed instead of a touch; nil if there is none.
    let terminal: ControllingTerminal?
    /// The process's position relative to its terminal, which the daemon is told.
    let presence: TerminalPosition
    /// Whether a touch is asked for only if a password can be typed as well; `prompt=together`.
    let wantsLine: Bool
    /// The terminal in whose foreground the process must still be when the touch comes; nil if it
    /// need not.
    private let attended: ControllingTerminal?
    /// The position that the prompt must warn of; nil if there is nothing to warn of.
    let warning: TerminalPosition?

    /// Finds the login's terminal.
    ///
    /// - Throws: `.declined` if no touch may be asked for: in the background under
    ///   `background=refuse`, when sudo was told not to prompt, or when `prompt=together` finds no
    ///   terminal for a password.
    init(
        of login: Login, application: Application, options: ModuleOptions
    ) throws(LoginFailure) {
        guard !login.asksElsewhere else {
            throw .declined("sudo was told not to ask on the terminal")
        }
        let mayType = options.prompt == .auto || options.prompt == .together
        let found = ControllingTerminal.open(named: login.terminal, toRead: mayType)
        let background = options.background(for: login.service)
        if let found {
            presence = found.isForeground ? .foreground : .background
        } else {
            // Its standard streams may be files; the controlling terminal still tells.
            presence = ControllingTerminal.holdsBack ? .background : .noTerminal
        }
        // Without a terminal the daemon decides, because it can tell whether the session is at a
        // seat.
        guard presence != .background || background != .refuse else {
            throw .declined("the process is in the background")
        }
        let isRead = application.isSudo || isatty(STDIN_FILENO) == 1
        terminal = mayType && isRead && presence == .foreground ? found : nil
        wantsLine = options.prompt == .together
        attended = presence == .foreground && background == .refuse ? found : nil
        warning = background == .warn && presence != .foreground ? presence : nil
        guard terminal != nil || !wantsLine else {
            throw .declined("a password cannot be typed here during the touch")
        }
    }

    /// Whether the process went to the background after the touch was asked for.
    var wasLeft: Bool { attended.map { !$0.isForeground } ?? false }

    /// Whether a suspended login may continue.
    var isForeground: Bool { terminal?.isForeground ?? false }
}

extension ProgramCall {
    /// This process's command line; its middle is omitted if it is longer than what `purpose`
    /// needs.
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

    /// Opens this process's command line, in which each argument ends with NUL.
    static func openOfThisProcess() -> ModuleDescriptor? {
        ModuleDescriptor(
            adopting: StaticString("/proc/self/cmdline").bytes.withCString { path in
                unsafe open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
            })
    }
}

extension Verifier {
    /// Returns the SHA-256 of this process's complete command line; nil if it cannot be read.
    func digestOfCommandLine() -> Bytes? {
        guard let file = ProgramCall.openOfThisProcess() else { return nil }
        var part = file.beginning(cap: ProgramCall.longestBeginning)
        guard !part.isEmpty else { return nil }
        return digest {
            defer { part = part.isEmpty ? [] : file.beginning(cap: ProgramCall.longestBeginning) }
            return part
        }
    }
}
