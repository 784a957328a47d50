// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// A touch at the login opens GNOME Keyring.
    static let keyringScenes = [
        DemoScene(
            title: "The keyring opens by touch",
            about: "With alice's consent the login password is sealed to her fingers. A touch at "
                + "login releases it, after the proof, to the modules that open keyrings: real login, "
                + "pam_gnome_keyring and gnome-keyring-daemon.",
            play: open),
        DemoScene(
            title: "The login password changes without Signet's knowledge",
            about: "Signet finds that the stored one is outdated and deletes it unused: the touch "
                + "still counts, alice sees what to do, and no wrong password is counted.",
            play: stale),
    ]

    private static func open(_ set: DemoSet) throws {
        try set.signet.installKeyring()
        set.screen.act("alice logs in with the password, creates a keyring and stores an item")
        let first = try set.login()
        try set.see(orPassword, on: first)
        try set.typePassword(first)
        try set.desktop(first, "keyring keep owl && keyring state", shows: "the keyring is open")
        let terminal = try set.alice("signet", "enable", "--keyring")
        try set.see("Password of alice: ", on: terminal)
        try set.typePassword(terminal)
        try set.see("a touch at login opens the keyring of alice", on: terminal)
        try set.end(terminal, "the password is sealed to alice's fingers")
        let touched = try set.login()
        try set.see(orPassword, on: touched)
        try set.touch(.aliceRight)
        try set.desktop(touched, "keyring state && keyring show", shows: "item: owl")
        try set.check("the keyring is open, and returns the item", touched) {
            $0.contains("the keyring is open") && !$0.contains(HostFixture.alice.password)
        }
    }

    private static func stale(_ set: DemoSet) throws {
        set.screen.act("root sets another one with chpasswd")
        try set.shell("echo 'alice:another password' | chpasswd -c SHA512")
        let first = try set.login()
        try set.see("the password was set without the old one", on: first)
        try set.see("Password: ", on: first)
        set.screen.act("alice types the new password, once")
        try first.sendLine("another password")
        try set.desktop(first, "keyring state", shows: "the keyring is locked")
        let terminal = try set.login()
        try set.see("the login password has changed: run 'signet enable --keyring'", on: terminal)
        try set.see(orPassword, on: terminal)
        try set.touch(.aliceRight)
        try set.desktop(terminal, "keyring state", shows: "the keyring is locked")
        let failures = try set.signet.failedPasswords()
        try set.check("no wrong password was counted", failures == 0, came: "\(failures)")
        set.screen.act("root changes it back")
        try set.shell("echo \"alice:\(HostFixture.alice.password)\" | chpasswd -c SHA512")
        try set.shell("signet enable --account alice >/dev/null")
    }

    /// alice sits down at a terminal that asks her to log in.
    private func login() throws -> Terminal {
        screen.command("login alice", prompt: "linux# ")
        return try host.terminal(
            ["login", "alice"], as: HostFixture.root, copyingTo: screen.terminals)
    }

    /// Opens a desktop's session, runs a line in it, looks for a text, and logs out.
    private func desktop(_ terminal: Terminal, _ line: String, shows text: String) throws {
        try see("alice@linux$ ", on: terminal)
        try terminal.sendLine("exec desktop")
        try see("alice@linux$ ", on: terminal)
        try terminal.sendLine(line)
        try see(text, on: terminal)
        try see("alice@linux$ ", on: terminal)
        try terminal.sendLine("exit")
        try end(terminal, "alice was logged in")
        signet.endKeyrings()
    }
}
