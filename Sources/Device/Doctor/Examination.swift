// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import ConfigurationFiles
import LoginProtocol

extension Machine {
    /// Examines the whole machine.
    ///
    /// - Parameters:
    ///   - version: The version of the program that examines.
    ///   - ask: Asks the daemon. It is called after all files have been examined, because the
    ///     daemon repairs the damage that it finds.
    /// - Returns: The findings without duplicates, by area, and within an area the most severe
    ///   first.
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

    /// Problems with owner and mode of the configuration files, which make the daemon reject them.
    private func settingFileFindings() -> [Finding] {
        let file = "/etc/signet/signet.conf"
        var findings = check(file, .publicFile) + check("/etc/signet", .publicDirectory)
        findings += check("\(file).d", .publicDirectory)
        for name in names("\(file).d") where name.hasSuffix(".conf") {
            findings += check("\(file).d/\(name)", .publicFile)
        }
        // It does no harm if only root can read the configuration.
        return findings.filter { $0.code != .fileUnreadable }
    }

    /// Sorts findings by area and severity, and removes duplicates.
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
