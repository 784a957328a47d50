// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// A touch is for who is in front of the machine, for what that person asks, and for now.
    static let presenceScenes = [
        DemoScene(
            title: "bob requests alice's finger",
            about: "bob runs 'su alice' and waits for her to touch the reader for a command of "
                + "her own. He gets only a password prompt; her touch serves her own command.",
            play: others),
        DemoScene(
            title: "A viewer of alice's screen is asked for the password",
            about: "A VNC server in alice's session asks PAM about a viewer on another machine, "
                + "with her name, while she runs a command. Her touch is for her command only.",
            play: viewer),
        DemoScene(
            title: "A web terminal gets no touch",
            about: "alice has opened a shell in her browser, with ttyd. The reader is not used for "
                + "a terminal that may be shown on another machine.",
            play: webTerminal),
        DemoScene(
            title: "A stopped sudo is too late",
            about: "It is stopped with SIGSTOP while alice touches the reader. The proof is valid "
                + "for one second; the next touch counts only for the next request.",
            play: late),
    ]

    private static func others(_ set: DemoSet) throws {
        set.screen.act("bob is at the machine, and alice is logged in in the background")
        try set.host.show(.session(of: HostFixture.bob))
        let su = try set.bob("su", "alice")
        try set.see("Password: ", on: su)
        set.screen.act("alice comes back to her session")
        try set.host.show(.session(of: HostFixture.alice))
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
        try set.check("bob was asked for a password, not for a finger", su) {
            !$0.contains("the reader") && !$0.contains("alice@linux$")
        }
        su.hangUp()
    }

    private static func viewer(_ set: DemoSet) throws {
        try set.host.writeService(
            "tigervnc",
            """
            auth [success=done conv_err=die default=ignore] pam_signet.so
            auth required pam_unix.so nodelay try_first_pass
            account required pam_unix.so

            """)
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        // As such a server does: without root's rights, in her session.
        set.screen.act("somebody elsewhere opens a VNC viewer and gives alice's name")
        set.screen.command("vncviewer linux", prompt: "elsewhere:~$ ")
        let viewer = try set.host.terminal(
            ["pamtester", "tigervnc", "alice", "authenticate"], as: HostFixture.alice,
            copyingTo: set.screen.terminals)
        try set.see("Password: ", on: viewer)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
        set.screen.act("the viewer's user types a wrong password")
        try viewer.sendLine("a guess")
        try set.see("Authentication failure", on: viewer)
        try set.check("the viewer was asked for the password, and did not get in", viewer) {
            !$0.contains("touch the reader") && !$0.contains("successfully")
        }
    }

    private static func webTerminal(_ set: DemoSet) throws {
        set.screen.command("sudo whoami", prompt: "alice@linux:~ (ttyd)$ ")
        let terminal = try set.host.terminal(
            ["sudo", "whoami"], as: HostFixture.alice, heldBy: "ttyd",
            copyingTo: set.screen.terminals)
        try set.see("the program behind this terminal is not a known terminal", on: terminal)
        try set.see(sudoPrompt, on: terminal)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
    }

    private static func late(_ set: DemoSet) throws {
        let stopped = try set.alice("sudo", "id", "-un")
        try set.see("touch the reader to confirm: sudo id -un (alice, ", on: stopped)
        try set.see(orPassword, on: stopped)
        set.screen.act("sudo is stopped (SIGSTOP)")
        stopped.suspend()
        try set.touch(.aliceRight)
        try set.host.journal.expect("a proof") {
            $0["SIGNET_PURPOSE"] == "sudo id -un" && $0["SIGNET_DECISION"] == "allow"
        }
        let next = try set.alice("sudo", "whoami")
        try set.seeInvitation(next)
        try set.touch(.aliceRight)
        try set.seeRoot(next)
        set.screen.act("the first sudo continues (SIGCONT)")
        stopped.resume()
        try set.see("the touch was not confirmed in time and does not count", on: stopped)
        try set.see(sudoPrompt, on: stopped)
        try set.check("it did not run the command", stopped) { !$0.contains("root\r\n") }
        try set.giveUp(stopped)
        let log = try set.alice("signet", "log")
        try set.see("\"sudo id -un\" fingerprint, not granted", on: log)
        try set.end(log, "its receipt says that it was not granted")
    }
}
