// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol
import Posix

/// Checks whether the journal of the last week contains alerts or warnings about Signet.
struct JournalCheck {
    let machine: Machine

    private static let options = [
        "-q", "--no-pager", "-o", "export", "--output-fields=PRIORITY,MESSAGE", "-S", "-7d",
        "-n", "50",
    ]

    func findings() -> [Finding] {
        // The module's alerts are logged under the name of the program that loaded it.
        let answers = [["-p", "alert", "-g", "signet"], ["-t", "signetd", "-p", "warning"]]
            .map { machine.journal(Self.options + $0) }
        let alerts = answers[0].entries
        let warnings = answers[1].entries.filter { !alerts.contains($0) }
        return (answers.contains(.unfinished) ? [Self.unread] : [])
            + [Self.alerts(alerts), Self.warnings(warnings)].compactMap(\.self)
    }

    /// The journal has alerts.
    private static func alerts(_ entries: [JournalNote]) -> Finding? {
        guard let newest = entries.newest else { return nil }
        return Finding(
            "journal-alert", level: .warning, area: .journal, subject: "signetd".bytes,
            what: """
                alerts in the journal in the last week: \(number: UInt64(entries.count)), the \
                latest on \(Text.date(newest.seconds)): \(newest.message)
                """,
            why: """
                an alert means, for example, that a proof did not verify, or that another user \
                wrote a file
                """,
            mend: "journalctl -p alert -S -7d -g signet")
    }

    /// The journal has warnings.
    private static func warnings(_ entries: [JournalNote]) -> Finding? {
        guard let newest = entries.newest else { return nil }
        return Finding(
            "journal-failures", level: .note, area: .journal, subject: "signetd".bytes,
            what: """
                warnings in the journal in the last week: \(number: UInt64(entries.count)), the \
                latest on \(Text.date(newest.seconds)): \(newest.message)
                """,
            why: "they show why logins were refused",
            mend: "journalctl -t signetd -p warning -S -7d")
    }

    /// The journal could not be read in time.
    private static let unread = Finding(
        "journal-unread", level: .note, area: .journal,
        what: "the journal could not be read in time",
        why: "it may contain alerts from the last week",
        mend: "journalctl -p alert -S -7d -g signet")
}

extension [JournalNote] {
    fileprivate var newest: JournalNote? { self.max { $0.seconds < $1.seconds } }
}

extension ChildAnswer {
    fileprivate var entries: [JournalNote] {
        switch self {
        case .said(let text): JournalExport.entries(text)
        case .failed, .unfinished: []
        }
    }
}
