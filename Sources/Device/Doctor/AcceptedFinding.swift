// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol

/// An entry of `doctor.accept`: a finding that the administrator has decided to live with.
///
/// It is written `CODE SUBJECT: REASON`. Code and subject are those that `signet doctor` shows, and
/// both must be the same: a finding that has come to concern another service is another finding.
struct AcceptedFinding: Equatable {
    let code: String
    /// The services, path or account; empty for a finding about none.
    let subject: String
    /// Why it is accepted; never empty.
    let reason: String

    /// Parses one entry; nil if it has no code or no reason.
    init?(_ text: Substring) {
        guard let colon = text.firstRange(of: ": ") else { return nil }
        let name = text[..<colon.lowerBound].split(separator: " ", maxSplits: 1)
        let reason = text[colon.upperBound...].drop { $0 == " " }
        guard let code = name.first, !reason.isEmpty else { return nil }
        self.code = String(code)
        subject = name.dropFirst().first.map { String($0.drop { $0 == " " }) } ?? ""
        self.reason = String(reason)
    }

    /// Whether this entry is about a finding.
    func concerns(_ finding: Finding) -> Bool {
        code == finding.code && subject.bytes == finding.subject
    }

    /// Parses the value of the setting: the entries, and those that are malformed.
    static func entries(in value: String) -> (good: [AcceptedFinding], malformed: [String]) {
        guard value != "none" else { return ([], []) }
        var found: (good: [AcceptedFinding], malformed: [String]) = ([], [])
        for part in value.split(separator: ";") {
            let text = part.drop { $0 == " " || $0 == "\t" }
            let end = text.lastIndex { $0 != " " && $0 != "\t" }
            guard let end else { continue }
            if let entry = AcceptedFinding(text[...end]) {
                found.good.append(entry)
            } else {
                found.malformed.append(String(text[...end]))
            }
        }
        return found
    }
}
