// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Domain
import LoginMessages
import LoginProtocol
import Posix

/// Checks whether the files below /var/lib/signet are complete, belong to root, have the right
/// modes, and are all Signet's.
///
/// Private files are examined only if the caller is root.
struct StateFileCheck {
    let files: MachineFiles
    let nameService: NameService
    let isRoot: Bool

    private var check: FileCheck { FileCheck(files: files) }

    func findings() -> [Finding] { stateFindings() + (isRoot ? [] : [Self.needsRoot]) }

    private func stateFindings() -> [Finding] {
        let state = MachineFiles.state
        guard let look = files.look(state), !(look.kind == .directory && isUnused) else {
            return [Self.none]
        }
        var findings = check.findings(at: state, rule: .publicDirectory)
        guard look.kind == .directory else { return findings }
        findings += check.parents(of: state) + fileSystemFindings()
        for name in files.names(state) {
            let path = "\(state)/\(name)"
            switch name {
            case "keys":
                findings += check.findings(at: path, rule: .publicDirectory) + keyFiles(path)
            case "private":
                findings += check.findings(at: path, rule: .privateDirectory)
                if isRoot { findings += privateFiles(path) }
            case "device-id", "version": findings += check.findings(at: path, rule: .publicFile)
            default: findings += foreign(name, path: path)
            }
        }
        return findings
    }

    /// Whether the daemon has not stored anything yet.
    private var isUnused: Bool { files.names(MachineFiles.state).allSatisfy(Self.isLeftover) }

    private func keyFiles(_ directory: String) -> [Finding] {
        files.names(directory).flatMap { name in
            let path = "\(directory)/\(name)"
            guard let file = PublicFile(name) else { return foreign(name, path: path) }
            // A mark denies login, but a key allows it, so a key that another user could write is
            // serious.
            let account = file.kind == .pub ? nameService.name(of: file.uid) : nil
            return check.findings(
                at: path, rule: .publicFile, keyOf: account.map { AccountName($0) })
        }
    }

    private func privateFiles(_ directory: String) -> [Finding] {
        files.names(directory).flatMap { name -> [Finding] in
            let path = "\(directory)/\(name)"
            switch name {
            case "host-secret", "tpm-root", "reader-work", "offers", "settings":
                return check.findings(at: path, rule: .privateFile)
            case "template-keys", "stored", "comparisons": return privateDirectory(path)
            case "accounts":
                return check.findings(at: path, rule: .privateDirectory)
                    + files.names(path).flatMap { accountFiles($0, directory: "\(path)/\($0)") }
            default: return foreign(name, path: path)
            }
        }
    }

    private func accountFiles(_ name: String, directory: String) -> [Finding] {
        guard let uid = UInt32(name) else { return foreign(name, path: directory) }
        var findings = check.findings(at: directory, rule: .privateDirectory)
        let found = files.names(directory)
        for name in found {
            let path = "\(directory)/\(name)"
            switch name {
            case "account", "life", "credential", "keyring", "lockout", "lost-prints", "counter",
                "receipts", "refusals", "signers":
                findings += check.findings(at: path, rule: .privateFile)
            // Whatever is kept in several files has a directory of its own, whose name only its
            // feature knows.
            case _ where files.look(path)?.kind == .directory: findings += privateDirectory(path)
            default: findings += foreign(name, path: path)
            }
        }
        // Without this record the account was never completed, and is not in use.
        if found.contains("account") {
            let account = AccountName(nameService.name(of: uid) ?? name)
            if !found.contains("lockout") {
                findings.append(Self.lockoutMissing("\(directory)/lockout", account: account))
            }
            if !found.contains("counter") {
                findings.append(Self.counterMissing("\(directory)/counter", account: account))
            }
        }
        return findings
    }

    private func privateDirectory(_ path: String) -> [Finding] {
        check.findings(at: path, rule: .privateDirectory)
            + files.names(path).filter { !Self.isLeftover($0) }
            .flatMap { check.findings(at: "\(path)/\($0)", rule: .privateFile) }
    }

    private func foreign(_ name: String, path: String) -> [Finding] {
        Self.isLeftover(name) ? [] : [Self.foreign(path)]
    }

    /// Whether a name is that of a temporary file, which the daemon removes.
    private static func isLeftover(_ name: String) -> Bool { name.hasPrefix(".new-") }

    private func fileSystemFindings() -> [Finding] {
        guard let type = files.fileSystem(MachineFiles.state) else { return [] }
        if type == 0x0102_1994 || type == 0x8584_58f6 { return [Self.volatile] }
        return Self.foreignFileSystems[type].map { [Self.onFileSystem($0)] } ?? []
    }

    /// File systems without owners, or whose owners another machine determines, by their number in
    /// statfs(2).
    static let foreignFileSystems: [UInt64: String] = [
        0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb", 0x517b: "smb", 0x6573_5546: "fuse",
        0x0102_1997: "9p", 0x00c3_6400: "ceph", 0x5346_414f: "afs", 0x4d44: "vfat",
        0x2011_bab0: "exfat", 0x5346_544e: "ntfs", 0x7366_746e: "ntfs", 0x786f_4256: "vboxsf",
        0xbacb_acbc: "vmhgfs", 0x4244: "hfs",
    ]
}

extension StateFileCheck {
    /// The record of failed matches is missing.
    private static func lockoutMissing(_ path: String, account: AccountName) -> Finding {
        Finding(
            "file-missing", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) is missing",
            why: "fingerprint login for \(account) is locked until the record is created again",
            mend: "signet unlock --account \(Shell.word(account))")
    }

    /// The counter of receipts is missing.
    private static func counterMissing(_ path: String, account: AccountName) -> Finding {
        Finding(
            "counter-missing", level: .warning, area: .files, subject: path.bytes,
            what: "\(path) is missing",
            why: """
                if it was removed on purpose, receipts may have been removed too. The next touch \
                continues with a number far above that of the last receipt of \(account)
                """,
            mend: "signet log --verify --account \(Shell.word(account))")
    }

    /// The file does not belong to Signet.
    static func foreign(_ path: String) -> Finding {
        Finding(
            "file-foreign", level: .warning, area: .files, subject: path.bytes,
            what: "\(path) was not created by Signet",
            why: "another program or user put it there. Find out what it is, and move it away",
            mend: "mv -n \(Shell.word(path.bytes)) /root/")
    }

    /// The state is on a file system without owners, or on another machine.
    private static func onFileSystem(_ type: String) -> Finding {
        Finding(
            "state-file-system", level: .danger, area: .files, subject: MachineFiles.state.bytes,
            what: "\(MachineFiles.state) is on a file system of type \(type)",
            why: """
                parties other than this machine's root may be able to change its contents. Keep \
                keys and counters on a disk of this machine
                """,
            mend: "findmnt --target /var/lib/signet")
    }

    /// The state is in memory.
    private static let volatile = Finding(
        "state-volatile", level: .note, area: .files, subject: MachineFiles.state.bytes,
        what: "\(MachineFiles.state) is on a file system in memory",
        why: "fingers, keys and receipts are lost at the next reboot",
        mend: "findmnt --target /var/lib/signet")

    /// There is no state yet.
    private static let none = Finding(
        "state-none", level: .note, area: .files, subject: MachineFiles.state.bytes,
        what: "/var/lib/signet is empty or does not exist",
        why: """
            the daemon creates it at the first request; until then, no account has an enrolled \
            finger
            """,
        mend: "signet enroll")

    /// The caller may not see everything.
    private static let needsRoot = Finding(
        "needs-root", level: .note, area: .files,
        what: """
            not examined: the contents of /var/lib/signet/private, other accounts, and files that \
            only root can read
            """,
        why: "you are not root",
        mend: "sudo signet doctor")
}
