// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// Why a request gets no touch: it is not certain that the user is at the machine.
extension Detail {
    /// Another session is active at this seat, or this one is about to end.
    package static let sessionNotInFront: Text = "this session is not the active one"
    /// A serial console, a container, a remote desktop.
    package static let sessionWithoutSeat: Text = "this session is not at a seat"
    /// A greeter's session, a lock screen's, or a background session.
    package static let sessionOfAnotherKind: Text = "this is not a user's session"
    /// cron, at, and system services.
    package static let outsideSessions: Text = "the program runs outside a login session"
    /// A program of a user's service manager; the user is not logged in, or not at a seat.
    package static let noActiveSession: Text = "the program's user has no active session at a seat"
    /// A login at a console that the screen does not show.
    package static let consoleNotShown: Text = "this console is not the active one"
    /// A display manager, while the seat shows something else.
    package static let noLoginScreen: Text = "no seat shows a login screen"
    /// A display manager, while several seats show login screens: the right one is unknown.
    package static let severalLoginScreens: Text = "several seats show a login screen"
    /// Neither the number of polkit's agent is known, nor is it the helper's parent.
    package static let agentNotKnown: Text = "polkit's agent is not known"
    /// The requesting process, or polkit's agent, has ended.
    package static let programEnded: Text = "the program that asks has ended"
    /// It was in another session, or under another service, when it connected.
    package static let programMoved: Text = "the program that asks has left its session"
    /// logind's record is missing, or the process's control group cannot be read.
    package static let sessionNotKnown: Text = "the session of the program is not known"
    /// The program is not on the active console, without logind.
    package static let notOnConsole: Text = "the program is not on the active virtual console"
    /// The program is not on a terminal, without logind and with a setting that allows terminals.
    package static let notOnTerminal: Text = "the program is not on a terminal"

    /// All of them.
    package static let presence: [Text] = [
        sessionNotInFront, sessionWithoutSeat, sessionOfAnotherKind, outsideSessions,
        noActiveSession, consoleNotShown, noLoginScreen, severalLoginScreens, agentNotKnown,
        programEnded, programMoved, sessionNotKnown, notOnConsole, notOnTerminal,
    ]
}
