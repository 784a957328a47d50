import TestSupport
import Wire

extension DemoSet {
    /// Enrolment, and sudo with fingers and passwords.
    static let loginScenes = [
        DemoScene(
            title: "alice enrols a finger",
            about: "Fingers are added with the password only. It also turns fingerprint login on.",
            play: enrol),
        DemoScene(
            title: "A touch lets alice use sudo",
            about: "The prompt says what the touch confirms. The touch opens a sealed key, which "
                + "signs a challenge of the PAM module; the module checks the signature.",
            play: touch),
        DemoScene(
            title: "A scan that cannot be used",
            about: "It is said why, and it is no failure: the next touch counts.",
            play: badScan),
        DemoScene(
            title: "A stranger at alice's terminal",
            about: "The finger does not match, and three tries are all there are. Guessing the "
                + "password does not help either.",
            play: stranger),
        DemoScene(
            title: "The password, typed where the touch is awaited",
            about: "There is nothing to cancel and nothing to wait for: whatever comes first.",
            play: password),
        DemoScene(
            title: "A touch for somebody else's command",
            about: "A touch proves who bob is, not that he may use sudo. And bob's finger is not "
                + "alice's.",
            play: bob),
    ]

    private static func enrol(_ set: DemoSet) throws {
        try set.enrol("right-index", as: .aliceRight)
        try set.enrol("left-index", as: .aliceLeft)
    }

    private func enrol(_ name: String, as finger: Finger) throws {
        let terminal = try alice("signet", "enroll", name)
        try see("Password of alice: ", on: terminal)
        try typePassword(terminal)
        try see("touch the reader", on: terminal)
        screen.act("\(finger.text), five times")
        for stage in 1...5 {
            try signet.touch(finger.rawValue)
            if stage < 5 { try see("\(stage) of 5", on: terminal) }
        }
        try see("is enrolled for alice", on: terminal)
        try see("fingerprint login is on for alice", on: terminal)
        try end(terminal, "the \(name) finger is enrolled, and fingerprint login is on")
    }

    private static func touch(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
        let record = try set.stage.journal.expect("the decision", within: patience) {
            $0["SIGNET_VERB"] == "authenticate"
        }
        try set.check(
            "the journal has the decision, and what it was for",
            record["SIGNET_DECISION"] == "allow" && record["SIGNET_PURPOSE"] == "sudo whoami",
            came: "\(record.fields)")
    }

    private static func badScan(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        set.screen.act("alice touches the reader with the edge of her finger")
        try set.signet.badScan(2)
        try set.see("the finger was off centre: try again", on: terminal)
        try set.see(orPassword, on: terminal)
        try set.touch(.aliceLeft)
        try set.seeRoot(terminal)
    }

    private static func stranger(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        for answer in [": 2 more tries", ": one more try", "\r\n"] {
            try set.seeInvitation(terminal)
            try set.touch(.stranger)
            try set.see("the finger did not match\(answer)", on: terminal)
        }
        try set.see(sudoPrompt, on: terminal)
        set.screen.act("the stranger guesses a password")
        try terminal.sendLine("password1")
        try set.see("Sorry, try again.", on: terminal)
        try set.see(orPassword, on: terminal)
        try set.giveUp(terminal, who: "the stranger")
        try set.check("nothing was run as root", terminal) { !$0.contains("root\r\n") }
    }

    private static func password(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check("the password was asked for once, and never shown", terminal) { shown in
            !shown.contains(sudoPrompt) && !shown.contains(Stage.alice.password)
        }
    }

    private static func bob(_ set: DemoSet) throws {
        try set.enrolBob()
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.bob)
        try set.see("the finger did not match: 2 more tries", on: terminal)
        try set.seeInvitation(terminal)
        set.screen.act("alice touches the reader herself")
        try set.signet.touch(Finger.aliceRight.rawValue)
        try set.seeRoot(terminal)
    }

    private func enrolBob() throws {
        screen.act("bob has enrolled a finger, too")
        let answer = try signet.enroll(Stage.bob, as: Finger.bob.rawValue)
        guard case .done(_) = answer else {
            throw DemoFault(expected: "bob's finger to be enrolled", came: "\(answer)")
        }
        let own = try bobSudo()
        try see("touch the reader to confirm: sudo whoami (bob, ", on: own)
        try see(Self.orPassword, on: own)
        try touch(.bob)
        try see("bob is not in the sudoers file", on: own)
        let ending = try own.expectEnd(within: Self.patience)
        try check("bob was recognised, and may still not", ending == .exited(1), came: "\(ending)")
    }

    private func bobSudo() throws -> Terminal {
        screen.command("sudo whoami", prompt: "bob@stage:~$ ")
        return try stage.terminal(
            ["sudo", "whoami"], as: Stage.bob, copyingTo: screen.terminals)
    }
}
