// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport

extension DemoSet {
    /// Enrolment, and sudo with fingers and passwords.
    static let loginScenes = [
        DemoScene(
            title: "alice enrols a finger",
            about: "Adding a finger needs the password. It also turns fingerprint login on.",
            play: enrol),
        DemoScene(
            title: "alice uses sudo with a touch",
            about: "The prompt says what the touch confirms. The touch opens a sealed key, which "
                + "signs a challenge of the PAM module; the module checks the signature.",
            play: touch),
        DemoScene(
            title: "A scan that cannot be used",
            about: "The message says why. It is not a failure: the next touch counts.",
            play: badScan),
        DemoScene(
            title: "A stranger at alice's terminal",
            about: "The finger does not match, and there are only three tries. Guessing the "
                + "password does not help either.",
            play: stranger),
        DemoScene(
            title: "The password, typed at the touch prompt",
            about: "There is nothing to cancel and no need to wait: whichever comes first counts.",
            play: password),
        DemoScene(
            title: "bob, who may not use sudo, and alice, who may",
            about: "bob's touch proves that he is bob, which does not help him at sudo. At "
                + "alice's prompt, his finger is treated like a stranger's.",
            play: bob),
    ]

    private static func enrol(_ set: DemoSet) throws {
        let terminal = try set.alice("signet", "enroll", "right-index")
        try set.see("Password of alice: ", on: terminal)
        try set.typePassword(terminal)
        try set.see("touch the reader", on: terminal)
        set.screen.act("alice touches the reader with her right index finger, five times")
        for stage in 1...5 {
            try set.signet.touch(Finger.aliceRight.rawValue)
            guard stage < 5 else { break }
            try set.see("\(stage) of 5", on: terminal)
            set.screen.react()
        }
        try set.see("right-index is enrolled for alice", on: terminal)
        try set.see("fingerprint login is on for alice", on: terminal)
        try set.end(terminal, "the finger is enrolled, and fingerprint login is on")
        try set.shell("ls \(templates) >\(firstTemplate)")
        set.screen.act("enrolled in the same way: alice's left index finger, and a finger of bob's")
        try set.enrol(HostFixture.alice, .leftIndex, as: .aliceLeft)
        try set.enrol(HostFixture.bob, .rightIndex, as: .bob)
    }

    private func enrol(_ account: Account, _ finger: LoginProtocol.Finger, as id: Finger) throws {
        let answer = try signet.enroll(account, finger, as: id.rawValue)
        guard case .done(_) = answer else {
            throw DemoFault(expected: "a finger of \(account.name)'s", came: "\(answer)")
        }
    }

    private static func touch(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
        let record = try set.host.journal.expect("the decision", within: patience) {
            $0["SIGNET_VERB"] == "authenticate"
        }
        try set.check(
            "the journal has the decision and its purpose",
            record["SIGNET_DECISION"] == "allow" && record["SIGNET_PURPOSE"] == "sudo whoami",
            came: "\(record.fields)")
    }

    private static func badScan(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        set.screen.act("alice touches the reader with the edge of her finger")
        try set.signet.badScan(2)
        try set.see("the finger was off centre: try again", on: terminal)
        try set.seeInvitation(terminal)
        try set.touch(.aliceLeft)
        try set.seeRoot(terminal)
    }

    private static func stranger(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        for answer in [": 2 tries left", ": one try left", "\r\n"] {
            try set.seeInvitation(terminal)
            try set.touch(.stranger)
            try set.see("the finger did not match\(answer)", on: terminal)
        }
        try set.see(sudoPrompt, on: terminal)
        set.screen.act("the stranger guesses passwords")
        try terminal.sendLine("password")
        for guess in ["123456", "alice"] {
            try set.see("Sorry, try again.", on: terminal)
            try set.seeInvitation(terminal)
            set.screen.act("and guesses again")
            try terminal.sendLine(guess)
        }
        try set.see("3 incorrect password attempts", on: terminal)
        let ending = try terminal.expectEnd(within: patience)
        try set.check("sudo refuses", ending == .exited(1), came: "\(ending)")
        try set.check("nothing was run as root", terminal) { !$0.contains("root\r\n") }
    }

    private static func password(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.check("the password was requested once, and never shown", terminal) { shown in
            !shown.contains(sudoPrompt) && !shown.contains(HostFixture.alice.password)
        }
    }

    private static func bob(_ set: DemoSet) throws {
        set.screen.act("bob is at the machine")
        try set.host.show(.session(of: HostFixture.bob))
        let own = try set.bob("sudo", "whoami")
        try set.see("touch the reader to confirm: sudo whoami (bob, ", on: own)
        try set.see(orPassword, on: own)
        try set.touch(.bob)
        try set.see("bob is not in the sudoers file", on: own)
        let ending = try own.expectEnd(within: patience)
        try set.check("bob was recognised, and refused", ending == .exited(1), came: "\(ending)")
        set.screen.act("alice comes back to her session")
        try set.host.show(.session(of: HostFixture.alice))
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.bob)
        try set.see("the finger did not match: 2 tries left", on: terminal)
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
    }
}
