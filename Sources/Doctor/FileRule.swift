// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Posix

/// How a file of Signet's has to be.
struct FileRule {
    let kind: FileLook.Kind
    /// The mode that it is made with.
    let mode: UInt32

    static let publicDirectory = FileRule(kind: .directory, mode: 0o755)
    static let privateDirectory = FileRule(kind: .directory, mode: 0o700)
    static let publicFile = FileRule(kind: .file, mode: 0o644)
    static let privateFile = FileRule(kind: .file, mode: 0o600)
    static let socket = FileRule(kind: .socket, mode: 0o666)

    /// What speaks against a file that is there.
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
    /// What speaks against a file, and nothing where there is none.
    func check(_ path: String, _ rule: FileRule, following: Bool = false) -> [Finding] {
        look(path, following: following).map { rule.findings($0, at: path) } ?? []
    }

    /// What speaks against the directories above a path: each has to be root's, and nobody else's
    /// to write to.
    func checkParents(of path: String) -> [Finding] {
        var findings: [Finding] = []
        var place = ""
        for part in path.split(separator: "/").dropLast() {
            place += "/" + part
            // Where a link leads is looked at by the path behind it.
            guard let look = look(place), look.kind == .directory else { continue }
            findings += FileRule.publicDirectory.findings(look, at: place).filter {
                $0.code == .fileOwner || $0.code == .fileWritable
            }
        }
        return findings
    }
}
