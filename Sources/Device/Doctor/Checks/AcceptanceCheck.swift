// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// Marks the findings that the administrator has accepted, and reports entries of `doctor.accept`
/// that accept nothing.
struct AcceptanceCheck {
    let configuration: Configuration
    /// Whether everything was examined, so that an entry without a finding has none.
    let isComplete: Bool

    /// Findings that cannot be accepted: anyone can log in, or no settings are in force.
    static let unacceptable: Set<String> = [
        "stack-open", "configuration-refused", "accept-unused", "accept-malformed",
    ]

    func applied(to findings: [Finding]) -> [Finding] {
        let entries = AcceptedFinding.entries(in: configuration.word(Settings.doctorAccept))
        var marked = findings
        for index in marked.indices where !Self.unacceptable.contains(marked[index].code) {
            let entry = entries.good.first { $0.concerns(marked[index]) }
            marked[index].acceptance = entry?.reason.bytes
        }
        marked += entries.malformed.map(Self.malformed)
        guard isComplete else { return marked }
        let unused = entries.good.filter { entry in
            !marked.contains { $0.acceptance != nil && entry.concerns($0) }
        }
        return marked + unused.map(Self.unused)
    }
}

extension AcceptanceCheck {
    /// An entry accepts no finding.
    private static func unused(_ entry: AcceptedFinding) -> Finding {
        let name = entry.subject.isEmpty ? entry.code : "\(entry.code) \(entry.subject)"
        return Finding(
            "accept-unused", level: .warning, area: .service, subject: name.bytes,
            what: "\(Settings.doctorAccept.name): nothing is accepted by '\(name)'",
            why: """
                there is no such finding, or it cannot be accepted. An entry that is left over would \
                hide the finding if it came back. Remove the entry, or correct its name: 'signet \
                doctor' shows it
                """,
            mend: Remedy.editSettings)
    }

    /// An entry cannot be understood.
    private static func malformed(_ entry: String) -> Finding {
        Finding(
            "accept-malformed", level: .warning, area: .service, subject: entry.bytes,
            what: "\(Settings.doctorAccept.name): '\(entry)' is not CODE SUBJECT: REASON",
            why: "the entry accepts nothing. Write the finding's name, a colon, and the reason",
            mend: Remedy.editSettings)
    }
}
