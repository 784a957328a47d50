// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix

/// `signet doctor`: examines this machine and prints findings, each with its remedy.
struct DoctorCommand: Command {
    static let helpPosition = 130
    static let syntax = CommandSyntax(
        "doctor",
        summary:
            "report what is wrong with this machine's stacks, files and service, and how to fix it",
        options: [.json])

    let run: Invocation

    /// Examines the machine and prints the findings; the exit code depends on the worst of them.
    func perform() throws(CommandFault) {
        let machine = run.environment.machine
        var seen = DaemonView(.absent)
        // One that hangs is a finding, and need not be waited for as if something depended on it. One
        // that waits for readers or a TPM has answered by then, for better or worse.
        var environment = run.environment
        environment.answerLimit = min(environment.answerLimit, .seconds(60))
        let hasty = DoctorCommand(
            run: Invocation(environment: environment, arguments: run.arguments))
        let findings = machine.examine {
            seen = hasty.view(of: machine)
            return seen
        }
        let counts = FindingCounts(findings)
        let checkup = Checkup(findings: findings, counts: counts, fingers: seen.fingerCounts)
        run.say(checkup.document, checkup.lines)
        guard let worst = counts.worst, worst.exitCode != .done else { return }
        throw .said(worst.exitCode)
    }

    /// Collects what the daemon reports; the machine is examined even if it does not answer.
    private func view(of machine: Machine) -> DaemonView {
        let (names, areAll) = machine.accounts()
        var view = DaemonView(.answers)
        view.isCut = !areAll
        do throws(CommandFault) {
            view.readers = try listed { () throws(CommandFault) in
                try ReadersCommand(run: run).readerAnswers()
            }
            view.vaults = try run.collect(.vault) { $0.own() }
            view.settings = try ConfigCommand(run: run).settings()
            for name in names.map({ AccountName($0) }) { try ask(about: name, view: &view) }
            // Any status contains the version; if no account has one, root's own is requested.
            if view.version == nil { view.version = try statusAnswer(ofSelf: machine)?.program }
        } catch { view.reach = reach(error, socket: run.environment.socketPath) }
        return view
    }

    private func ask(about name: AccountName, view: inout DaemonView) throws(CommandFault) {
        do throws(CommandFault) {
            let known = try StatusCommand(run: run).status(of: name)
            let status = known.answer
            view.version = status.program
            view.configurationFault = status.configurationFault
            view.permitsNoTouch = status.refusal?.reason == .settingsNotUnderstood
            let secrets = try listed { () throws(CommandFault) in
                try run.collect(.secretList(account: name)) { answer -> SecretAnswer? in
                    if case .secret(let secret) = answer { return secret }
                    return nil
                }
            }
            view.accounts.append(
                AccountView(
                    name: name, status: status, prints: known.prints, secrets: secrets,
                    servers: known.servers))
        } catch .denied(let denial, let account) {
            view.denied.append((name, denial.text(account: account)))
        }
    }

    private func statusAnswer(ofSelf machine: Machine) throws(CommandFault) -> StatusAnswer? {
        guard let own = machine.name(of: machine.uid) else { return nil }
        do throws(CommandFault) {
            return try StatusCommand(run: run).status(of: AccountName(own)).answer
        } catch .denied { return nil }
    }

    /// Returns what a request lists; nothing if it is denied, because the status then says why.
    private func listed<Item>(
        _ ask: () throws(CommandFault) -> [Item]
    ) throws(CommandFault) -> [Item] {
        do throws(CommandFault) {
            return try ask()
        } catch .denied { return [] }
    }

    private func reach(_ fault: CommandFault, socket: String) -> DaemonView.Reach {
        switch fault {
        case .noService(let text):
            guard FileLook(socket) != nil else { return .absent }
            if let uid = DaemonConnection.owner(of: socket), uid != run.environment.daemonUID {
                return .foreign(uid: uid)
            }
            return .silent(text)
        case .fault(let text), .usage(let text), .password(let text), .refused(let text),
            .interruptedAsking(let text):
            return .silent(text)
        case .denied(let denial, let account): return .silent(denial.text(account: account))
        case .interrupted, .said: return .silent(CommonMessages.interrupted)
        }
    }
}

/// All findings, for printing.
private struct Checkup {
    let findings: [Finding]
    let counts: FindingCounts
    let fingers: [FingerCount]

    /// The findings by area, then the enrolled fingers, then a summary in one line.
    var lines: [Text] {
        var lines: [Text] = []
        for area in FindingArea.allCases {
            let inArea = findings.filter { $0.area == area }
            guard !inArea.isEmpty else { continue }
            lines.append(area.text)
            var rows: [[Text]] = []
            for finding in inArea {
                rows.append([
                    finding.acceptance == nil ? finding.level.text : DoctorMessages.accepted,
                    finding.what,
                ])
                let told: [(Text, Text)] =
                    finding.acceptance.map { [(DoctorMessages.reason, "\($0)" as Text)] }
                    ?? [(DoctorMessages.why, finding.why), (DoctorMessages.mend, finding.mend)]
                let parts = told + [(DoctorMessages.name, finding.name)]
                rows += parts.map { ["", row($0.0, text: $0.1, among: parts.map(\.0))] }
            }
            lines += Table.lines(rows).map { "  \($0)" } + [""]
        }
        if !fingers.isEmpty {
            lines.append(DoctorMessages.enrolled)
            lines += fingers.map { "  \($0.text)" } + [""]
        }
        return lines + [DoctorMessages.summary(counts)]
    }

    private func row(_ label: Text, text: Text, among labels: [Text]) -> Text {
        "\(cell: label, column: labels)\(text)"
    }

    var document: JSON {
        .document(
            "doctor",
            members: [
                ("worst", .optional(counts.worst) { .string($0.rawValue) }),
                ("sound", .bool((counts.worst ?? .note) == .note)),
                (
                    "counts",
                    .object([
                        ("danger", .number(counts.dangers)), ("fault", .number(counts.faults)),
                        ("warning", .number(counts.warnings)), ("note", .number(counts.notes)),
                        ("accepted", .number(counts.accepted)),
                    ])
                ),
                ("findings", .array(findings.map(\.document))),
                ("fingers", .array(fingers.map(\.document))),
            ])
    }
}

extension FingerCount {
    fileprivate var text: Text {
        DoctorMessages.fingers(account, count: fingers, on: reader, isThere: isThere)
    }

    fileprivate var document: JSON {
        .object([
            ("account", .bytes(account.bytes)), ("reader", .bytes(reader)),
            ("fingers", .number(UInt64(fingers))), ("present", .optional(isThere, JSON.bool)),
        ])
    }
}

extension Finding {
    /// How `doctor.accept` names it.
    fileprivate var name: Text { subject.isEmpty ? code.text : "\(code.bytes) \(subject)" }

    fileprivate var document: JSON {
        .object([
            ("code", .string(code)), ("level", .string(level.rawValue)),
            ("area", .string(area.rawValue)), ("subject", .bytes(subject)),
            ("what", .bytes(what.bytes)), ("why", .bytes(why.bytes)), ("mend", .bytes(mend.bytes)),
            ("accepted", .optional(acceptance, JSON.bytes)),
        ])
    }
}

/// Messages of `signet doctor`, apart from its findings.
enum DoctorMessages {
    /// The word before the explanation of why a finding matters.
    static let why: Text = "why"
    /// The word before the command that repairs a finding.
    static let mend: Text = "fix"
    /// The word before the finding's name, by which it can be accepted.
    static let name: Text = "name"
    /// The word before the reason for which a finding was accepted.
    static let reason: Text = "reason"
    /// The word before a finding that was accepted, in place of its level.
    static let accepted: Text = "accepted"
    /// The heading above the enrolled fingers.
    static let enrolled: Text = "enrolled fingers"
    /// How many fingers an account has on a reader; nil if its presence is unknown.
    static func fingers(
        _ account: AccountName, count: UInt8, on reader: Bytes, isThere: Bool?
    ) -> Text {
        let fingers = FingerMessages.fingers(count)
        return switch isThere {
        case nil: "\(account): \(fingers), enrolled on \(reader)"
        case true?: "\(account): \(fingers), enrolled on \(reader) (present)"
        case false?: "\(account): \(fingers), enrolled on \(reader) (missing)"
        }
    }

    /// The last line: the number of findings.
    static func summary(_ counts: FindingCounts) -> Text {
        switch counts.worst {
        case nil: "no problems found"
        case .note: "nothing to fix (notes: \(number: counts.notes))"
        case .warning:
            """
            working, with warnings (warnings: \(number: counts.warnings), notes: \
            \(number: counts.notes))
            """
        case .fault:
            """
            something does not work: fix the faults (faults: \(number: counts.faults), warnings: \
            \(number: counts.warnings), notes: \(number: counts.notes))
            """
        case .danger:
            """
            the wrong person may get in, or a user may be locked out: fix the dangers first \
            (dangers: \(number: counts.dangers), faults: \(number: counts.faults), warnings: \
            \(number: counts.warnings), notes: \(number: counts.notes))
            """
        }
    }
}
