// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginProtocol
import Posix

// The order of the doctor's checks. Nothing here changes the machine; whatever the daemon has to be
// asked comes last.
extension Machine {
    /// Examines the whole machine, and changes nothing.
    ///
    /// - Parameters:
    ///   - version: The version of the program that examines.
    ///   - ask: Asks the daemon. It is called after all files have been examined, because the
    ///     daemon repairs damage that it finds.
    /// - Returns: The findings without duplicates, by area, and within an area the most severe
    ///   first.
    package func examine(
        version: Bytes = Version.text.bytes, asking ask: () -> DaemonView
    ) -> [Finding] {
        let stacks = stacks()
        let settings = ConfigurationCheck(files)
        var findings = stackFindings(
            stacks, configuration: settings.configuration, version: version)
        findings += settings.lineFindings()
        if let configuration = settings.configuration {
            let names = UnknownNames(files: files, nameService: nameService, stacks: stacks)
            findings += names.all(configuration).map(NameCheck.finding)
            findings += AllowanceCheck(
                files: files, nameService: nameService, configuration: configuration
            ).findings()
            findings += NetworkStackCheck.findings(on: configuration)
        }
        let state = StateFileCheck(files: files, nameService: nameService, isRoot: isRoot)
        findings += state.findings()
        findings += KeyCheck(files: files, nameService: nameService).findings()
        findings += settings.fileFindings()
        findings += ServiceChecks(files: files).socketFindings()

        let view = ask()
        findings += ServiceChecks(files: files).daemonFindings(view, version: version) {
            unitState("signetd.service") == .said(Array("activating\n".utf8))
        }
        findings += settings.daemonFindings(view)
        findings += AccountCheck(view: view).findings()
        findings += ReaderCheck(files: files).daemonFindings(view)
        findings += VaultCheck(files: files).daemonFindings(view)
        let demands = ServerDemands(self, stacks: stacks)
        findings += RegistrationCheck(machine: self, demands: demands, view: view).findings()
        findings += ReaderCheck(files: files).fprintdFindings()
        findings += VaultCheck(files: files).deviceFindings()
        findings += MachineChecks(machine: self).findings()
        findings += JournalCheck(machine: self).findings()
        guard let configuration = settings.configuration else { return Machine.sorted(findings) }
        let acceptance = AcceptanceCheck(
            configuration: configuration, isComplete: isRoot && view.reach == .answers)
        return Machine.sorted(acceptance.applied(to: findings))
    }

    /// Problems with the stacks, with the files that they consist of, and with the files that they
    /// refer to.
    private func stackFindings(
        _ stacks: ServiceStacks, configuration: Configuration?, version: Bytes
    ) -> [Finding] {
        let module = ModuleCheck(files: files, stacks: stacks)
        var findings = StackCheck(stacks, configuration: configuration, files: files).findings()
        findings += PasswordStackCheck(files: stacks.files).findings()
        findings += module.stackFindings()
        findings += DirectoryCheck(machine: self, stacks: stacks).findings()
        if !stacks.using.isEmpty { findings += ReaderCheck(files: files).profileFindings() }
        findings += ServerFileCheck(machine: self, stacks: stacks).findings()
        let check = FileCheck(files: files)
        for name in stacks.usedFiles.union(["signet"]).sorted() {
            let path = stacks.files.place(of: name).path
            findings += check.findings(at: path, rule: .publicFile, following: name != "signet")
        }
        findings += check.parents(of: "/etc/pam.d/signet")
        return findings + module.fileFindings(version: version)
    }

    /// Sorts findings by area and severity, and removes duplicates.
    private static func sorted(_ findings: [Finding]) -> [Finding] {
        var unique: [Finding] = []
        for finding in findings where !unique.contains(finding) { unique.append(finding) }
        return FindingArea.allCases.flatMap { area in
            FindingLevel.allCases.reversed().flatMap { level in
                unique.filter { $0.area == area && $0.level == level }
            }
        }
    }
}
