// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

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
    /// The leader of the terminal's session is not known, or its parent has ended.
    package static let terminalNotKnown: Text = "the program behind this terminal is not known"
    /// The program behind the terminal belongs to another session or user.
    package static let terminalElsewhere: Text =
        "the program behind this terminal is not in the active session"
    /// A multiplexer has a client on another machine, or one whose terminal is not known.
    package static let terminalShared: Text =
        "this terminal may also be shown in a session that is not at this machine"
    /// A multiplexer has no client.
    package static let terminalNotShown: Text = "no session shows this terminal"

    /// The program behind the terminal is not in `login.terminals`; `program` is its name.
    package static func terminalOf(_ program: Bytes) -> Text {
        "the program behind this terminal is not a known terminal emulator: \(program)"
    }
    /// A service, or a program, that speaks for users of other machines.
    package static func serviceOfNetwork(_ name: Bytes) -> Text {
        "it was requested by a service for users of other machines: \(name)"
    }
    /// A program without root's rights whose service is not in `login.lockers`.
    package static func serviceNotLocker(_ service: Bytes) -> Text {
        "it was requested by a program that is not root's, and no known screen locker: \(service)"
    }
    /// A program without a terminal whose service is not in `login.lockers`.
    package static func serviceWithoutTerminal(_ service: Bytes) -> Text {
        "it was requested by a program without a terminal that is no known screen locker: \(service)"
    }

    /// All of them.
    package static let presence: [Text] = [
        sessionNotInFront, sessionWithoutSeat, sessionOfAnotherKind, outsideSessions,
        noActiveSession, consoleNotShown, noLoginScreen, severalLoginScreens, agentNotKnown,
        programEnded, programMoved, sessionNotKnown, notOnConsole, notOnTerminal,
        terminalNotKnown, terminalElsewhere, terminalShared, terminalNotShown,
    ]
}
