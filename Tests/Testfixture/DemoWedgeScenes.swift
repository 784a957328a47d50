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
            about: "It accepts the connection and never answers. sudo waits for at most 5 seconds, "
                + "and then continues with the password.",
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
        try set.seeWithClock("the fingerprint service does not answer", on: terminal)
        try set.see(sudoPrompt, on: terminal)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check(
            "sudo waited for no more than 5 s", seconds < 5 + slack,
            came: "it waited for \(seconds) s")
        set.screen.act("the daemon continues (SIGCONT)")
        set.signet.resume()
        let again = try set.alice("sudo", "whoami")
        try set.seeInvitation(again)
        try set.touch(.aliceRight)
        try set.seeRoot(again)
    }

    /// What a loaded machine may take to start sudo, in seconds.
    private static let slack = 5.0

    /// Waits until a text appears, and says each second that it is being waited for.
    private func seeWithClock(_ text: String, on terminal: Terminal) throws {
        for second in 1...30 {
            do {
                try terminal.expect(text, within: .seconds(1))
                return
            } catch .deadline { screen.say("     … \(second) s") }
        }
        try see(text, on: terminal)
    }
}
