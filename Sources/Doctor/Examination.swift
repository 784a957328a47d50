// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import ConfigurationFiles
import LoginProtocol
import Policy

extension Machine {
    /// All that is wrong with this machine: by area, in each the worst first.
    ///
    /// - Parameters:
    ///   - version: that of the program that looks.
    ///   - ask: what the daemon tells. It is asked when all files have been looked at: what it finds
    ///     damaged when it looks itself, it settles.
    package func examine(
        version: Bytes = Version.text.bytes, asking ask: () -> DaemonView
    ) -> [Finding] {
        let fault = configurationFault()
        let configuration = fault == nil ? configuration() : nil
        var findings = stackFindings(version, configuration)
        if let configuration {
            findings += configuration.obsoleteLines.map { .settingObsolete($0.text.bytes) }
            findings += nameFindings(configuration) + allowanceFindings(configuration)
        }
        findings += stateFindings() + keyFindings() + settingFileFindings()
        findings += socketFindings()
        let view = ask()
        findings += view.serviceFindings(
            version, files: fault, configuration: configuration)
        findings += view.standingFindings(hasTPM: hasTPM) + registrationFindings(view)
        findings += fprintdFindings() + tpmFindings() + machineFindings() + journalFindings()
        if !isRoot { findings.append(.needsRoot) }
        return Machine.sorted(findings)
    }

    private func configuration() -> Configuration? {
        try? ConfigurationFiles.load(root + "/etc/signet/signet.conf")
    }

    /// The configuration's owner and mode: what is wrong with them is why it is refused.
    private func settingFileFindings() -> [Finding] {
        let file = "/etc/signet/signet.conf"
        var findings = check(file, .publicFile) + check("/etc/signet", .publicDirectory)
        findings += check("\(file).d", .publicDirectory)
        for name in names("\(file).d") where name.hasSuffix(".conf") {
            findings += check("\(file).d/\(name)", .publicFile)
        }
        // A configuration that only root reads is nobody's loss.
        return findings.filter { $0.code != .fileUnreadable }
    }

    /// Each finding once.
    private static func sorted(_ findings: [Finding]) -> [Finding] {
        var unique: [Finding] = []
        for finding in findings where !unique.contains(finding) { unique.append(finding) }
        func rank(_ finding: Finding) -> (Int, Int) {
            let area = FindingArea.allCases.firstIndex(of: finding.code.area) ?? 0
            let level = FindingLevel.allCases.firstIndex(of: finding.level) ?? 0
            return (area, -level)
        }
        return unique.enumerated().sorted { one, other in
            (rank(one.element).0, rank(one.element).1, one.offset)
                < (rank(other.element).0, rank(other.element).1, other.offset)
        }.map(\.element)
    }
}
