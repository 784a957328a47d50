// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
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
    /// The terminal on which the touch is asked for, where the answer is given; nil for the
    /// application's conversation function.
    let screen: ControllingTerminal?

    /// Finds the login's terminal.
    ///
    /// - Throws: `.declined` if no touch may be asked for: in the background under
    ///   `background=refuse`, when sudo was told not to prompt, or when `prompt=together` finds no
    ///   terminal for a password; `.unavailable` if the user cannot be shown the request.
    init(
        of login: Login, application: Application, options: ModuleOptions
    ) throws(LoginFailure) {
        guard !login.asksElsewhere else {
            throw .declined("sudo was told not to ask on the terminal")
        }
        let mayType = options.prompt == .auto || options.prompt == .together
        let found = ControllingTerminal.open(named: login.terminal, toRead: mayType)
        let background = options.background(for: login.service)
        let own = found ?? ControllingTerminal.own()
        if let own, !own.isForeground {
            // Its standard streams may be files; the controlling terminal still tells.
            presence = .background
        } else {
            presence = found == nil ? .noTerminal : .foreground
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
        // A locker may run in a terminal and show its messages in a window.
        let isTextual = application.isTextual
        screen = presence == .background ? nil : isRead && found != nil || isTextual ? own : nil
        guard options.prompt == .off || screen != nil || PromptContext.shows(application, isTextual)
        else {
            throw .unavailable(
                "the user cannot be shown what a touch is asked for", shown: Prompt.unseen)
        }
    }

    /// Whether the application's conversation function reaches the user, as far as can be told.
    private static func shows(_ application: Application, _ isTextual: Bool) -> Bool {
        guard application.mayShow else { return false }
        // sudo writes to the terminal of which it is in the background.
        return !isTextual || isatty(STDOUT_FILENO) == 1
    }

    /// Whether the process went to the background after the touch was asked for.
    var wasLeft: Bool { attended.map { !$0.isForeground } ?? false }

    /// Whether a suspended login may continue.
    var isForeground: Bool { terminal?.isForeground ?? false }
}
