// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// Changed fingers, and too many that did not match.
    static let changeScenes = [
        DemoScene(
            title: "A fingerprint disappears behind the daemon's back",
            about: "Somebody with access to the disk removes a template. The key was sealed to "
                + "exactly alice's two fingers: it opens for nobody any more, and she is told why.",
            play: change),
        DemoScene(
            title: "alice looks into it, and turns fingerprint login on again",
            about: "The status names the finger, and no key is made for what is left unsaid. She "
                + "does without it; then, with the password, a new key is sealed to what there is.",
            play: enable),
        DemoScene(
            title: "The template is put back, and the list that it was in",
            about: "Adding one is a change like any other: an old finger cannot be slipped in.",
            play: restore),
        DemoScene(
            title: "Too many fingers that do not match",
            about: "Every fifth one locks the finger for 30 seconds, also for those who would "
                + "match. The password works all the time.",
            play: lockout),
        DemoScene(
            title: "alice lifts the lockout",
            about: "She proves with the password that it is her, and need not wait.",
            play: unlock),
    ]

    /// Where alice's templates are.
    static let templates = "/var/lib/signet/private/accounts/\(Stage.alice.uid)/prints"
    /// What she is told of one that is not there, or not as it was.
    private static let damaged = "a stored fingerprint was damaged or altered"
    /// Where the name of the first is noted.
    static let firstTemplate = "/run/first-template"

    private static func change(_ set: DemoSet) throws {
        set.screen.act("somebody removes one of alice's two templates from the disk")
        try set.shell(
            """
            mkdir -m 700 /run/taken && cd \(templates) && cp -a . /run/taken/prints \
            && cp -a ../account /run/taken/ && rm "$(ls | grep -vxFf \(firstTemplate))"
            """)
        let terminal = try set.alice("sudo", "whoami")
        let reason = try set.see("Run 'signet status' to see which", on: terminal)
        try set.check(
            "alice is told the reason", reason.contains(damaged), came: reason)
        try set.see(sudoPrompt, on: terminal)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check("no finger was asked for", terminal) { !$0.contains("touch the reader") }
    }

    private static func enable(_ set: DemoSet) throws {
        let status = try set.alice("signet", "status")
        try set.see("fingerprint login does not work for alice now", on: status)
        let ending = try status.expectEnd(within: patience)
        try set.check(
            "the status is 1 for scripts, and names the reason",
            ending == .exited(1) && status.transcript.contains(damaged),
            came: "\(ending)\n\(status.transcript)")
        try set.check(
            "and it names the finger, and the one command that is left to run",
            status.transcript.contains("left-index is damaged")
                && status.transcript.contains("next, run: signet enroll left-index"),
            came: status.transcript)
        let refused = try set.alice("signet", "enable")
        try set.see("so no key can be created", on: refused)
        let deleting = try set.alice("signet", "delete", "left-index")
        try set.see("Password of alice: ", on: deleting)
        try set.typePassword(deleting)
        try set.see("left-index of alice was deleted", on: deleting)
        try set.end(deleting, "the damaged finger is done without")
        try set.turnOn()
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
    }

    private static func restore(_ set: DemoSet) throws {
        set.screen.act("somebody puts the removed template back, and the list with it")
        try set.shell("cd \(templates)/.. && cp -a /run/taken/* . && rm -r /run/taken")
        let terminal = try set.alice("sudo", "whoami")
        let reason = try set.see("Run 'signet enable' to turn it on again", on: terminal)
        try set.check(
            "alice is told the reason", reason.contains("a finger was added"), came: reason)
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
        try set.check("no finger is asked for now", third) { !$0.contains("touch the reader") }
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
        try set.check("the status tells of the lockout", ending == .exited(1), came: "\(ending)")
        let unlock = try set.alice("signet", "unlock")
        try set.see("Password of alice: ", on: unlock)
        try set.typePassword(unlock)
        try set.end(unlock, "the password lifted the lockout")
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
    }
}
