// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// How bad a finding of `signet doctor` is, from harmless to bad.
package enum FindingLevel: String, CaseIterable, Sendable {
    /// Good to know; nothing has to be done.
    case note = "note"
    /// Works, but not as it should, or only for a limited time.
    case warning = "warning"
    /// A part of Signet does not work.
    case fault = "fault"
    /// The wrong person may be able to log in, or the right one may be locked out.
    case danger = "danger"

    /// The exit status if this is the worst finding.
    package var exitCode: ExitCode {
        switch self {
        case .note: .done
        case .warning: .denied
        case .fault: .faultFound
        case .danger: .dangerFound
        }
    }

    /// The word before a finding.
    package var text: Text {
        switch self {
        case .note: "note"
        case .warning: "warning"
        case .fault: "fault"
        case .danger: "danger"
        }
    }
}

/// What a finding is about; findings are shown in this order.
package enum FindingArea: String, CaseIterable, Sendable {
    case stacks = "stacks"
    case files = "files"
    case service = "service"
    case accounts = "accounts"
    case reader = "reader"
    case vault = "vault"
    case machine = "machine"
    case journal = "journal"

    /// The heading above its findings.
    package var text: Text {
        switch self {
        case .stacks: "PAM stacks"
        case .files: "files"
        case .service: "service"
        case .accounts: "accounts"
        case .reader: "reader"
        case .vault: "vault"
        case .machine: "machine"
        case .journal: "journal"
        }
    }
}

/// One thing that `signet doctor` found. The check that finds it declares it, in the target Doctor.
package struct Finding: Equatable, Sendable {
    /// Which of all findings it is. A code keeps its name and its meaning for ever;
    /// docs/admin/DOCTOR.md describes each.
    package let code: String
    /// How bad it is.
    package let level: FindingLevel
    /// The part of the machine that it concerns.
    package let area: FindingArea
    /// The services, path or account that it concerns; from outside.
    package let subject: Bytes
    /// What was found.
    package let what: Text
    /// Why it matters, and what to change.
    package let why: Text
    /// The command that repairs it, or the first of several.
    package let mend: Text
    /// Why the administrator has accepted it (`doctor.accept`); nil if it is not accepted.
    package var acceptance: Bytes?

    /// Describes a finding by its values.
    package init(
        _ code: String, level: FindingLevel, area: FindingArea, subject: Bytes = [], what: Text,
        why: Text, mend: Text
    ) {
        self.code = code
        self.level = level
        self.area = area
        self.subject = subject
        self.what = what
        self.why = why
        self.mend = mend
    }
}

/// How many findings there are of each level.
package struct FindingCounts: Equatable, Sendable {
    /// Of the level danger.
    package let dangers: UInt64
    /// Of the level fault.
    package let faults: UInt64
    /// Of the level warning.
    package let warnings: UInt64
    /// Of the level note.
    package let notes: UInt64
    /// Those that the administrator has accepted; they are counted at no level.
    package let accepted: UInt64
    /// The worst level there is; nil where nothing was found that is not accepted.
    package let worst: FindingLevel?

    /// Counts them.
    package init(_ findings: [Finding]) {
        func count(_ level: FindingLevel) -> UInt64 {
            UInt64(findings.count { $0.level == level && $0.acceptance == nil })
        }
        dangers = count(.danger)
        faults = count(.fault)
        warnings = count(.warning)
        notes = count(.note)
        accepted = UInt64(findings.count { $0.acceptance != nil })
        worst = FindingLevel.allCases.last { count($0) > 0 }
    }
}
