// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The table *program × case* in docs/admin/PROGRAMS.md, and where tests note their results for it.
package enum Compatibility {
    /// A program that runs PAM, as Debian ships it: a column of the table.
    package enum Program: String, CaseIterable, Sendable {
        case sudo
        case sudoLogin = "sudo -i"
        case su
        case suLogin = "su -"
        case login
        case sshd
        case sudoOverSSH = "sudo over ssh"
        case passwd
        case cron
        case sudoInCron = "sudo in cron"
        case at
        case pkexec
        case i3lock
        case xsecurelock
        case lightdm
        case greeter = "lightdm-greeter"
        case autologin = "lightdm-autologin"
        case gdm = "gdm-fingerprint"
        case systemdUser = "systemd-user"
    }

    /// What a user does there, or what happens without one: a row of the table.
    package enum Case: String, CaseIterable, Sendable {
        case finger = "a touch grants access"
        case typed = "the password, typed at the touch prompt"
        case password = "the password, at the program's own prompt"
        case fingerThenPassword = "fingers that do not match, then the password"
        case wrongFinger = "another user's finger and an unknown one are refused"
        case wrongPassword = "a wrong password is refused"
        case cancelled = "^C, or the program's own way to cancel"
        case restored = "the terminal is restored"
        case stopped = "^Z and `fg`: the prompt returns"
        case background = "in the background: no touch is requested"
        case noReader = "no reader: the password, at once"
        case notEnrolled = "nothing enrolled: the password, at once"
        case lockedOut = "locked out: the password, at once"
        case daemonDown = "no daemon: the password, at once"
        case daemonSilent = "a hung daemon: the password, within the time limit"
        case remote = "remote login: no touch is requested"
        case unattended = "no user present: no wait for a touch"
        case together = "two requests at once: one after the other, and the second user is informed"
    }

    /// One field of the table.
    package struct Cell: Hashable, Sendable {
        package let program: Program
        package let `case`: Case

        package init(_ program: Program, _ case: Case) {
            self.program = program
            self.case = `case`
        }
    }

    /// Whether a case can come up in a program.
    package static func applies(_ cell: Cell) -> Bool {
        cases(of: cell.program).contains(cell.case)
    }

    private static func cases(of program: Program) -> Set<Case> {
        let finger: Set<Case> = [
            .finger, .password, .fingerThenPassword, .wrongFinger, .wrongPassword, .cancelled,
            .noReader, .notEnrolled, .lockedOut, .daemonDown, .daemonSilent,
        ]
        switch program {
        case .sudo: return Set(Case.allCases).subtracting([.remote])
        case .sudoLogin, .su, .suLogin:
            return Set(Case.allCases).subtracting([.remote, .unattended])
        case .login: return Set(Case.allCases).subtracting([.unattended])
        case .sshd: return [.password, .wrongPassword, .remote, .daemonDown, .daemonSilent]
        case .sudoOverSSH:
            return [.password, .wrongPassword, .remote, .restored, .daemonDown, .daemonSilent]
        case .passwd: return [.password, .wrongPassword, .daemonDown, .daemonSilent]
        case .cron, .at, .greeter, .autologin, .systemdUser:
            return [.unattended, .daemonDown, .daemonSilent]
        case .sudoInCron: return [.unattended]
        case .pkexec: return finger.union([.restored, .together])
        case .i3lock, .xsecurelock: return finger.subtracting([.cancelled])
        case .lightdm: return finger
        case .gdm:
            return [
                .finger, .wrongFinger, .noReader, .notEnrolled, .lockedOut, .daemonDown,
                .daemonSilent,
            ]
        }
    }

    // MARK: What tests have shown

    /// Notes what one run of a test showed: each of the cells, if it `passed`.
    package static func note(
        _ cells: [Cell], by test: String, passed: Bool
    ) throws(TestFault) {
        let word = passed ? "passed" : "failed"
        let lines = cells.map { "\(word)\t\($0.program.rawValue)\t\($0.case.rawValue)\t\(test)\n" }
        let opened = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        // One write, so that what tests note at the same time does not mix.
        try file.write(Array(lines.joined().utf8))
    }

    /// The table as in PROGRAMS.md, from the notes made since they were last removed.
    ///
    /// A cell counts as shown where a test noted it as passed and no test as failed.
    package static func table() throws(TestFault) -> String { table(of: try Layout.read(path)) }

    static func table(of notes: [UInt8]) -> String {
        var verdicts: [Cell: Bool] = [:]
        for line in String(decoding: notes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 4, let program = Program(rawValue: String(fields[1])),
                let `case` = Case(rawValue: String(fields[2]))
            else { continue }
            let cell = Cell(program, `case`)
            verdicts[cell] = (verdicts[cell] ?? true) && fields[0] == "passed"
        }
        let programs = Program.allCases
        let heads = programs.map { "`\($0.rawValue)`" }
        var rows = [["case"] + heads, ["---"] + programs.map { _ in ":-:" }]
        for `case` in Case.allCases {
            let marks = programs.map { program -> String in
                let cell = Cell(program, `case`)
                if verdicts[cell] == true { return "✓" }
                return applies(cell) ? "not tested" : "–"
            }
            rows.append([`case`.rawValue] + marks)
        }
        return rows.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    private static let path = "\(Layout.package)/.build/compatibility"
}
