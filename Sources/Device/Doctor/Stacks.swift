// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginProtocol
import Posix

extension Machine {
    private static let stackDirectories = ["/usr/lib/pam.d", StackFiles.directory]

    /// All configured stacks. Those in /etc take precedence over the distribution's own.
    func stackFiles() -> StackFiles {
        var files: [String: Bytes] = [:]
        var elsewhere: [String: String] = [:]
        for directory in Machine.stackDirectories {
            for name in names(directory) where !name.hasPrefix(".") {
                let cap = StackFile.maximumLength
                guard let text = read("\(directory)/\(name)", cap: cap) else { continue }
                files[name] = text
                elsewhere[name] = directory == StackFiles.directory ? nil : directory
            }
        }
        return StackFiles(files, elsewhere: elsewhere)
    }

    /// Problems with the stacks, with the files they are in, and with the modules they refer to.
    func stackFindings(_ version: Bytes, _ configuration: Configuration?) -> [Finding] {
        let files = stackFiles()
        let examination = StackExamination(files, configuration)
        var findings = examination.findings() + examination.passwordStackFindings()
        let paths = examination.modulePaths
        for line in examination.misspeltLines where isModuleMissing(line.path) {
            findings.append(
                .moduleMisspelt(
                    services: StackExamination.list(line.services), path: line.path.bytes,
                    place: line.place.bytes))
        }
        if examination.using.isEmpty { findings.append(.moduleUnused) }
        findings += directoryFindings(examination) + profileFindings(examination)
        findings += serverFileFindings(examination)
        for name in examination.usedFiles.union(["signet"]).sorted() {
            findings += check(files.path(of: name), .publicFile, following: name != "signet")
        }
        findings += checkParents(of: "/etc/pam.d/signet")
        for (path, services) in paths {
            findings += moduleFindings(
                modulePath(path), services: StackExamination.list(services), version: version)
        }
        return findings
    }

    private func moduleFindings(
        _ path: String, services: Bytes, version: Bytes
    ) -> [Finding] {
        guard let look = look(path, following: true) else {
            return [.moduleMissing(services: services, path: path.bytes)]
        }
        var findings = FileRule.publicFile.findings(look, at: path)
        // The rule for a public file applies, except that a module may have several links.
        findings.removeAll { $0.code == .fileLinked }
        findings += checkParents(of: path)
        let mark = read(path, cap: ModuleMark.longestModule).flatMap(ModuleMark.version)
        if mark != version {
            findings.append(
                .versionModule(mark ?? "unknown".bytes, expected: version, path: path.bytes))
        }
        return findings
    }

    /// The directory where libpam looks for modules.
    ///
    /// It is the one that contains pam_signet, or else pam_unix. This architecture's directory
    /// comes before those of others.
    func moduleDirectory() -> String {
        let libraries = ["/usr/lib", "/lib"].flatMap { base in
            names(base).filter { $0.contains("-linux-") }.map { "\(base)/\($0)/security" }
        }
        let all = libraries + ["/usr/lib64/security", "/lib64/security", "/usr/lib/security"]
        let ordered = all.filter(Machine.isNative) + all.filter { !Machine.isNative($0) }
        for module in ["pam_signet.so", "pam_unix.so"] {
            let place = ordered.first { look("\($0)/\(module)", following: true) != nil }
            if let place { return place }
        }
        return "/usr/lib/security"
    }

    /// Whether a directory's name does not indicate another architecture.
    private static func isNative(_ directory: String) -> Bool {
        #if arch(x86_64)
        let machine = "x86_64"
        #elseif arch(arm64)
        let machine = "aarch64"
        #else
        let machine = ""
        #endif
        return !directory.contains("-linux-") || directory.contains("/\(machine)-linux-")
    }
}

/// The version mark in the module's file, which can be read without loading the module.
enum ModuleMark {
    /// The longest file that is searched, in bytes.
    static let longestModule = 1 << 20
    private static let longestVersion = 32
    private static let mark = "signet-module ".bytes

    /// The version in a file's contents; nil if there is none, or the file is not an ELF file.
    static func version(in contents: Bytes) -> Bytes? {
        guard contents.starts(with: [0x7f] + "ELF".bytes) else { return nil }
        var index = 0
        while let start = contents[index...].firstIndex(of: mark[0]) {
            let text = contents[start...]
            if text.starts(with: mark) {
                let version = text.dropFirst(mark.count).prefix(longestVersion)
                    .prefix(while: isOfVersion)
                if !version.isEmpty { return Bytes(version) }
            }
            index = start + 1
        }
        return nil
    }

    private static func isOfVersion(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "+"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
