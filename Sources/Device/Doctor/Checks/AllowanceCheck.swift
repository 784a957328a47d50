// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages

/// Checks whether settings allow a touch that the defaults would refuse.
struct AllowanceCheck {
    let files: MachineFiles
    let nameService: NameService
    let configuration: Configuration

    func findings() -> [Finding] {
        var findings: [Finding] = []
        if let text = nameService.admissionOfRoot(configuration) {
            findings.append(Self.rootAdmitted(text))
        }
        if !says(Settings.loginOthers, word: Settings.refuse) { findings.append(Self.others) }
        // Where logind runs, it decides who is present, and the setting has no effect.
        if !files.exists("/run/systemd/seats") {
            if says(Settings.loginWithoutLogind, word: "any") { findings.append(Self.anyone) }
            if says(Settings.loginWithoutLogind, word: "terminals") {
                findings.append(Self.terminals)
            }
        }
        if !says(Settings.loginWithoutSeat, word: Settings.refuse) {
            findings.append(Self.seatless)
        }
        if !says(Settings.sshGrants, word: Settings.refuse) { findings.append(Self.grants) }
        return findings
    }

    private func says(_ setting: Setting, word: String) -> Bool {
        configuration.word(setting) == word
    }
}

extension AllowanceCheck {
    /// `login.accounts` replaces the default, and does not exclude root any more.
    private static func rootAdmitted(_ text: Text) -> Finding {
        Finding(
            "root-admitted", level: .warning, area: .service,
            subject: Settings.loginAccounts.name.bytes,
            what: text,
            why: """
                a list of your own replaces the default, which excludes root: root could enrol a \
                finger and log in with it. Add !root to the list
                """,
            mend: Remedy.editSettings)
    }

    /// `login.others` is not `refuse`.
    private static let others = Finding(
        "others-allowed", level: .warning, area: .service, subject: Settings.loginOthers.name.bytes,
        what: """
            \(Settings.loginOthers.name): users may ask for the fingerprint of another account, as \
            su and doas do
            """,
        why: """
            a touch that is meant for something else can open your account to the user who asks. \
            The prompt names that user: read it before you touch. The default is 'refuse'
            """,
        mend: Remedy.editSettings)

    /// `login.without-logind` is `any`, and there is no logind.
    private static let anyone = Finding(
        "anyone-allowed", level: .danger, area: .service,
        subject: Settings.loginWithoutLogind.name.bytes,
        what: """
            \(Settings.loginWithoutLogind.name): without logind, every program may ask for a \
            touch, even for remote users
            """,
        why: """
            cron jobs, services and ssh sessions can use a touch of the user at the machine. Set \
            it to 'consoles', or run systemd-logind
            """,
        mend: Remedy.editSettings)

    /// `login.without-logind` is `terminals`, and there is no logind.
    private static let terminals = Finding(
        "terminals-allowed", level: .warning, area: .service,
        subject: Settings.loginWithoutLogind.name.bytes,
        what: """
            \(Settings.loginWithoutLogind.name): without logind, every program with a terminal may \
            ask for a touch
            """,
        why: """
            ssh sessions have terminals, and script(1) creates one for any program: a terminal \
            does not show that its user is at the machine. The default is 'consoles'
            """,
        mend: Remedy.editSettings)

    /// `login.without-seat` is `allow`.
    private static let seatless = Finding(
        "seatless-allowed", level: .warning, area: .service,
        subject: Settings.loginWithoutSeat.name.bytes,
        what: """
            \(Settings.loginWithoutSeat.name): sessions that are not at a seat may ask for a touch
            """,
        why: """
            serial consoles, containers and remote desktops that logind considers local can use a \
            touch of the user at the reader. The default is 'refuse'
            """,
        mend: Remedy.editSettings)

    /// `ssh.grants` is `allow`.
    private static let grants = Finding(
        "grants-allowed", level: .warning, area: .service, subject: Settings.sshGrants.name.bytes,
        what: """
            \(Settings.sshGrants.name): users may have one touch allow several ssh signatures
            """,
        why: """
            for up to 60 seconds, every program that 'signet ssh allow' has started gets them \
            without a touch of its own, for the one destination that was named. The default is \
            'refuse'
            """,
        mend: Remedy.editSettings)
}
