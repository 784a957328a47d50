// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// What is missing where a request gets no touch because nobody may be at the machine.
extension Detail {
    /// The session is behind another one at its seat, or about to end.
    package static let sessionNotInFront: Text = "this session is not the active one"
    /// A serial console, a container, a remote desktop.
    package static let sessionWithoutSeat: Text = "this session is not at a seat"
    /// A greeter's own, a lock screen's, or one of the background.
    package static let sessionOfAnotherKind: Text = "this is not a user's session"
    /// cron, at, and services of the system.
    package static let outsideSessions: Text = "the program runs outside a login session"
    /// A program of the user's service manager, whose user is not logged in, or not at a seat.
    package static let noActiveSession: Text = "the program's user has no active session at a seat"
    /// A login at a console that the screen does not show.
    package static let consoleNotShown: Text = "this console is not the active one"
    /// A display manager, while the seat shows something else.
    package static let noLoginScreen: Text = "no seat shows a login screen"
    /// A display manager, while several seats show login screens: which one it is for is not known.
    package static let severalLoginScreens: Text = "several seats show a login screen"
    /// Neither the number of polkit's agent is known, nor is it the helper's parent.
    package static let agentNotKnown: Text = "polkit's agent is not known"
    /// The process that asked, or polkit's agent, is gone.
    package static let programEnded: Text = "the program that asks has ended"
    /// It was in another session, or under another service, when it connected.
    package static let programMoved: Text = "the program that asks has left its session"
    /// logind's record is missing, or the process's control group cannot be read.
    package static let sessionNotKnown: Text = "the session of the program is not known"
    /// Where logind does not run.
    package static let notOnConsole: Text = "the program is not on the active virtual console"
    /// The same, where the setting allows terminals.
    package static let notOnTerminal: Text = "the program is not on a terminal"

    /// All of them.
    package static let presence: [Text] = [
        sessionNotInFront, sessionWithoutSeat, sessionOfAnotherKind, outsideSessions,
        noActiveSession, consoleNotShown, noLoginScreen, severalLoginScreens, agentNotKnown,
        programEnded, programMoved, sessionNotKnown, notOnConsole, notOnTerminal,
    ]
}
