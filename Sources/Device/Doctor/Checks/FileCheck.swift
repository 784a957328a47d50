// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Domain
import LoginMessages
import LoginProtocol
import Posix

/// Checks whether Signet's files, and those that it depends on, have the right kind and mode, and
/// belong to root.
struct FileCheck {
    let files: MachineFiles

    /// Findings on a file's deviations from a rule; none if the file does not exist.
    ///
    /// - Parameter account: The account whose public key the file is; nil for any other file.
    func findings(
        at path: String, rule: FileRule, keyOf account: AccountName? = nil, following: Bool = false
    ) -> [Finding] {
        guard let look = files.look(path, following: following) else { return [] }
        return rule.findings(look, at: path, keyOf: account)
    }

    /// Findings on the directories above a path, which only root may own and write to.
    func parents(of path: String) -> [Finding] {
        var findings: [Finding] = []
        var place = ""
        for part in path.split(separator: "/").dropLast() {
            place += "/" + part
            // The target of a link is checked through its own path.
            guard let look = files.look(place), look.kind == .directory else { continue }
            findings += FileRule.settingDirectory.findings(look, at: place)
        }
        return findings
    }
}

/// The kind and mode that a file must have; its owner must be root.
struct FileRule {
    let kind: FileLook.Kind
    /// The mode with which the file is created.
    let mode: UInt32
    /// The permissions that users other than root must have.
    let needed: UInt32
    var mayHaveLinks = false

    static let publicDirectory = FileRule(kind: .directory, mode: 0o755, needed: 0o055)
    static let privateDirectory = FileRule(kind: .directory, mode: 0o700, needed: 0)
    static let publicFile = FileRule(kind: .file, mode: 0o644, needed: 0o044)
    static let privateFile = FileRule(kind: .file, mode: 0o600, needed: 0)
    static let socket = FileRule(kind: .socket, mode: 0o666, needed: 0o066)
    /// The rule for the module, which may have several links.
    static let module = FileRule(kind: .file, mode: 0o644, needed: 0o044, mayHaveLinks: true)
    /// The rule for settings; it does no harm if only root can read them.
    static let settingFile = FileRule(kind: .file, mode: 0o644, needed: 0)
    static let settingDirectory = FileRule(kind: .directory, mode: 0o755, needed: 0)

    /// Findings on a file's deviations from the rule.
    ///
    /// Excess permissions are reported if they allow other users to write, or to read a private
    /// file; missing ones are reported if other users need them.
    func findings(_ look: FileLook, at path: String, keyOf account: AccountName? = nil) -> [Finding]
    {
        guard look.kind == kind else { return [FileRule.wrongKind(path)] }
        var findings: [Finding] = []
        if look.owner != 0 {
            findings.append(FileRule.owner(path, uid: look.owner, keyOf: account))
        }
        let found = FileRule.octal(look.permissions)
        let wanted = FileRule.octal(mode)
        let excess = look.permissions & ~mode
        if excess & 0o022 != 0 {
            findings.append(FileRule.writable(path, mode: found, wanted: wanted, keyOf: account))
        } else if excess & 0o077 != 0, mode & 0o077 == 0 {
            findings.append(FileRule.exposed(path, mode: found, wanted: wanted))
        } else if look.permissions & needed != needed {
            findings.append(FileRule.unreadable(path, mode: found, wanted: wanted))
        }
        if kind == .file, look.links > 1, !mayHaveLinks {
            findings.append(FileRule.linked(path))
        }
        return findings
    }

    private static func octal(_ mode: UInt32) -> String { "0\(String(mode, radix: 8))" }
}

extension FileRule {
    /// The file does not belong to root.
    static func owner(_ path: String, uid: UInt32, keyOf account: AccountName?) -> Finding {
        Finding(
            "file-owner", level: .danger, area: .files, subject: path.bytes,
            what: "\(path) is owned by uid \(number: uid), not by root",
            why: """
                the owner can replace what logins depend on. Signet refuses files that are not \
                owned by root
                """,
            mend: account.map { issueAgain(path, account: $0) } ?? "chown root:root \(word(path))")
    }

    /// Other users may write to it.
    private static func writable(
        _ path: String, mode: String, wanted: String, keyOf account: AccountName?
    ) -> Finding {
        Finding(
            "file-writable", level: .danger, area: .files, subject: path.bytes,
            what: "\(path) has mode \(mode): users other than root can write to it",
            why: """
                users who can write there decide who can log in. Signet refuses files that other \
                users can write to
                """,
            mend: account.map { issueAgain(path, account: $0) } ?? "chmod \(wanted) \(word(path))")
    }

    /// A key that another user may have written must not become trusted: it is deleted.
    private static func issueAgain(_ path: String, account: AccountName) -> Text {
        // Untranslated: a command
        "rm -f \(word(path)); \(Remedy.lookThenEnable(account))"
    }

    /// Other users may read it.
    private static func exposed(_ path: String, mode: String, wanted: String) -> Finding {
        Finding(
            "file-exposed", level: .danger, area: .files, subject: path.bytes,
            what: "\(path) has mode \(mode): users other than root can access it",
            why: """
                it is, or contains, sealed data or counters of accounts, and the daemon refuses it \
                with this mode
                """,
            mend: "chmod \(wanted) \(word(path))")
    }

    /// Other users cannot read it.
    private static func unreadable(_ path: String, mode: String, wanted: String) -> Finding {
        Finding(
            "file-unreadable", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) has mode \(mode): users other than root cannot use it",
            why: "a screen locker runs as the user, and then finds no key, socket or stack",
            mend: "chmod \(wanted) \(word(path))")
    }

    /// It does not have the right kind.
    static func wrongKind(_ path: String) -> Finding {
        Finding(
            "file-kind", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) is a symbolic link, or not the kind of file that it should be",
            why: "Signet refuses it. Find out what created it, and move it away",
            mend: "mv -n \(word(path)) /root/")
    }

    /// It has several hard links.
    private static func linked(_ path: String) -> Finding {
        let copy = word(path + "~")
        return Finding(
            "file-linked", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) has more than one hard link",
            why: "it can be read or changed under another name, so Signet refuses it",
            mend: "cp -p \(word(path)) \(copy) && mv \(copy) \(word(path))")
    }

    private static func word(_ path: String) -> Bytes { Shell.word(path.bytes) }
}
