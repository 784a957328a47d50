// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Posix

/// The kind and mode that one of Signet's files must have. The owner must be root.
struct FileRule {
    let kind: FileLook.Kind
    /// The mode with which it is created.
    let mode: UInt32

    static let publicDirectory = FileRule(kind: .directory, mode: 0o755)
    static let privateDirectory = FileRule(kind: .directory, mode: 0o700)
    static let publicFile = FileRule(kind: .file, mode: 0o644)
    static let privateFile = FileRule(kind: .file, mode: 0o600)
    static let socket = FileRule(kind: .socket, mode: 0o666)

    /// How a file deviates from the rule.
    ///
    /// Extra permissions are reported where they allow others to write, or to read a private file;
    /// missing ones where a public file cannot be read.
    func findings(_ look: FileLook, at path: String) -> [Finding] {
        let bytes = path.bytes
        guard look.kind == kind else { return [.fileKind(bytes)] }
        var findings: [Finding] = []
        if look.owner != 0 { findings.append(.fileOwner(bytes, uid: look.owner)) }
        let found = FileRule.octal(look.permissions)
        let wanted = FileRule.octal(mode)
        let excess = look.permissions & ~mode
        if excess & 0o022 != 0 {
            findings.append(.fileWritable(bytes, mode: found, wanted: wanted))
        } else if excess & 0o077 != 0, mode & 0o077 == 0 {
            findings.append(.fileExposed(bytes, mode: found, wanted: wanted))
        } else if look.permissions & mode & 0o077 != mode & 0o077 {
            findings.append(.fileUnreadable(bytes, mode: found, wanted: wanted))
        }
        if kind == .file, look.links > 1 { findings.append(.fileLinked(bytes)) }
        return findings
    }

    private static func octal(_ mode: UInt32) -> [UInt8] { "0\(String(mode, radix: 8))".bytes }
}

extension Machine {
    /// How a file deviates from a rule; nothing if there is no file.
    func check(_ path: String, _ rule: FileRule, following: Bool = false) -> [Finding] {
        look(path, following: following).map { rule.findings($0, at: path) } ?? []
    }

    /// Problems with the directories above a path, which only root may own and write to.
    func checkParents(of path: String) -> [Finding] {
        var findings: [Finding] = []
        var place = ""
        for part in path.split(separator: "/").dropLast() {
            place += "/" + part
            // The target of a link is checked through its own path.
            guard let look = look(place), look.kind == .directory else { continue }
            findings += FileRule.publicDirectory.findings(look, at: place).filter {
                $0.code == .fileOwner || $0.code == .fileWritable
            }
        }
        return findings
    }
}
