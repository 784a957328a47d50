// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// Changed fingers, and too many that did not match.
    static let changeScenes = [
        DemoScene(
            title: "A fingerprint is removed without Signet's knowledge",
            about: "An intruder with access to the disk removes a template. The key was sealed to "
                + "exactly alice's two fingers: it can no longer be opened, and she sees why.",
            play: change),
        DemoScene(
            title: "alice finds the cause and turns fingerprint login on again",
            about: "The status names the finger. No key is created while it is damaged. She "
                + "deletes it; then, with the password, a new key is sealed to the remaining finger.",
            play: enable),
        DemoScene(
            title: "The template and the list of fingers are restored",
            about: "Adding a finger is a change, too: an old one cannot be restored unnoticed.",
            play: restore),
        DemoScene(
            title: "Too many fingers that do not match",
            about: "Every fifth failure locks the fingers for 30 seconds, even the right ones. "
                + "The password always works.",
            play: lockout),
        DemoScene(
            title: "alice lifts the lockout",
            about: "She proves her identity with the password, and need not wait.",
            play: unlock),
        DemoScene(
            title: "The successor of a deleted account is asked for the password",
            about: "bob has left, and somebody new got his name and his number. The fingers that "
                + "bob enrolled open nothing for either of them.",
            play: successor),
    ]

    /// Where alice's templates are.
    static let templates = "/var/lib/signet/private/accounts/\(HostFixture.alice.uid)/prints"
    /// What she learns of one that is not there, or not as it was.
    private static let damaged = "a stored fingerprint was damaged or altered"
    /// Where the name of the first is noted.
    static let firstTemplate = "/run/first-template"

    private static func change(_ set: DemoSet) throws {
        set.screen.act("an intruder removes one of alice's two templates from the disk")
        try set.shell(
            """
            mkdir -m 700 /run/taken && cd \(templates) && cp -a . /run/taken/prints \
            && cp -a ../account /run/taken/ && rm "$(ls | grep -vxFf \(firstTemplate))"
            """)
        let terminal = try set.alice("sudo", "whoami")
        let reason = try set.see("Run 'signet status' to see which", on: terminal)
        try set.check(
            "alice sees the reason", reason.contains(damaged), came: reason)
        try set.see(sudoPrompt, on: terminal)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check("no finger was requested", terminal) { !$0.contains("touch the reader") }
    }

    private static func enable(_ set: DemoSet) throws {
        let status = try set.alice("signet", "status")
        try set.see("fingerprint login does not work for alice now", on: status)
        let ending = try status.expectEnd(within: patience)
        try set.check(
            "the exit status is 1, for scripts, and the output names the reason",
            ending == .exited(1) && status.transcript.contains(damaged),
            came: "\(ending)\n\(status.transcript)")
        try set.check(
            "it names the finger and the next command to run",
            status.transcript.contains("left-index is damaged")
                && status.transcript.contains("next, run: signet enroll left-index"),
            came: status.transcript)
        let refused = try set.alice("signet", "enable")
        try set.see("so no key can be created", on: refused)
        let deleting = try set.alice("signet", "delete", "left-index")
        try set.see("Password of alice: ", on: deleting)
        try set.typePassword(deleting)
        try set.see("left-index of alice was deleted", on: deleting)
        try set.end(deleting, "the damaged finger is deleted")
        try set.turnOn()
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
    }

    private static func restore(_ set: DemoSet) throws {
        set.screen.act("the intruder restores the removed template and the list")
        try set.shell("cd \(templates)/.. && cp -a /run/taken/* . && rm -r /run/taken")
        let terminal = try set.alice("sudo", "whoami")
        let reason = try set.see("Run 'signet enable' to turn it on again", on: terminal)
        try set.check(
            "alice sees the reason", reason.contains("a finger was added"), came: reason)
        try set.see(sudoPrompt, on: terminal)
        try set.giveUp(terminal)
        try set.turnOn()
    }

    /// alice turns fingerprint login on, for the fingers as they are.
    func turnOn() throws {
        let terminal = try alice("signet", "enable")
        try see("Password of alice: ", on: terminal)
        try typePassword(terminal)
        try see("fingerprint login is on for alice", on: terminal)
        try end(terminal, "fingerprint login is on again")
    }

    private static func lockout(_ set: DemoSet) throws {
        let first = try set.alice("sudo", "whoami")
        for _ in 0..<3 {
            try set.seeInvitation(first)
            try set.touch(.stranger)
            try set.see("the finger did not match", on: first)
        }
        try set.see(sudoPrompt, on: first)
        try set.giveUp(first, who: "the stranger")

        let second = try set.alice("sudo", "whoami")
        try set.seeInvitation(second)
        try set.touch(.stranger)
        try set.see("the finger did not match", on: second)
        try set.seeInvitation(second)
        try set.touch(.stranger)
        try set.seeSeconds(second)
        try set.see(sudoPrompt, on: second)
        try set.giveUp(second, who: "the stranger")

        let third = try set.alice("sudo", "whoami")
        try set.seeSeconds(third)
        try set.see(sudoPrompt, on: third)
        try set.check("no finger is requested now", third) { !$0.contains("touch the reader") }
        try set.giveUp(third)
    }

    /// Waits until the lockout is told, with the seconds that it still lasts.
    private func seeSeconds(_ terminal: Terminal) throws {
        try see("too many failed scans: wait ", on: terminal)
        let number = try see(" s, or use the password", on: terminal)
        let seconds = Int(number) ?? 0
        try check(
            "the finger is locked for \(number) s", (1...30).contains(seconds), came: number)
    }

    private static func unlock(_ set: DemoSet) throws {
        let status = try set.alice("signet", "status")
        try set.see(" s: too many failed scans", on: status)
        let ending = try status.expectEnd(within: patience)
        try set.check("the status reports the lockout", ending == .exited(1), came: "\(ending)")
        let unlock = try set.alice("signet", "unlock")
        try set.see("Password of alice: ", on: unlock)
        try set.typePassword(unlock)
        try set.end(unlock, "the password lifted the lockout")
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
    }

    private static func successor(_ set: DemoSet) throws {
        let successor = Account(
            name: HostFixture.bob.name, uid: HostFixture.bob.uid, password: "the successor's own")
        set.screen.act("root deletes bob's account, and makes a new one with its name and number")
        try set.shell(
            """
            userdel -r bob && useradd -m -s /bin/bash -u \(successor.uid) bob \
            && echo "bob:\(successor.password)" | chpasswd -c SHA512 -s 1000
            """)
        set.screen.act("the new bob is at the machine")
        try set.host.show(.session(of: HostFixture.bob))
        let su = try set.bob("su", "bob", "-c", "whoami")
        try set.see("the account was renamed or replaced", on: su)
        try set.see("Password: ", on: su)
        try set.check("no finger was requested", su) { !$0.contains("touch the reader") }
        set.screen.act("bob types his password")
        try su.sendLine(successor.password)
        try set.see("bob\r\n", on: su)
        try set.end(su, "the password works")
        let deletion = try set.bob("signet", "delete", "--all")
        try set.see("Password of bob: ", on: deletion)
        set.screen.act("bob types his password")
        try deletion.sendLine(successor.password)
        try set.end(deletion, "what the former bob has left is gone")
        try set.host.show(.session(of: HostFixture.alice))
    }
}
