// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// A daemon that stands still.
    static let wedgeScenes = [
        DemoScene(
            title: "The daemon hangs while a touch is awaited",
            about: "It is stopped with SIGSTOP during a login: the password, typed at the same "
                + "prompt, still works.",
            play: during),
        DemoScene(
            title: "The daemon hangs from the start",
            about:
                "It accepts the connection and does not answer, as one that a busy machine "
                + "still starts. After 2 seconds the password can be typed.",
            play: before),
    ]

    private static func during(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        set.screen.act("the daemon is stopped (SIGSTOP)")
        set.signet.suspend()
        defer { set.signet.resume() }
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
    }

    private static func before(_ set: DemoSet) throws {
        set.screen.act("the daemon is stopped (SIGSTOP)")
        set.signet.suspend()
        defer { set.signet.resume() }
        let start = ContinuousClock.now
        let terminal = try set.alice("sudo", "whoami")
        try set.see("or type the password: ", on: terminal)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check(
            "the password could be typed after 2 s", seconds < 2 + slack,
            came: "it could after \(seconds) s")
        set.screen.act("the daemon continues (SIGCONT)")
        set.signet.resume()
        let again = try set.alice("sudo", "whoami")
        try set.seeInvitation(again)
        try set.touch(.aliceRight)
        try set.seeRoot(again)
    }

    /// What a loaded machine may take to start sudo, in seconds.
    private static let slack = 5.0
}
