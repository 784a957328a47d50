// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Posix

extension Machine {
    /// Problems with the files below /var/lib/signet. Private ones are examined for root only.
    func stateFindings() -> [Finding] {
        guard let look = look(Machine.state), !(look.kind == .directory && isUnused) else {
            return [.stateNone]
        }
        var findings = FileRule.publicDirectory.findings(look, at: Machine.state)
        guard look.kind == .directory else { return findings }
        findings += checkParents(of: Machine.state) + fileSystemFindings()
        for name in names(Machine.state) {
            let path = "\(Machine.state)/\(name)"
            switch name {
            case "keys": findings += check(path, .publicDirectory) + keyFileFindings()
            case "private":
                findings += check(path, .privateDirectory)
                if isRoot { findings += privateFindings(path) }
            case "device-id", "version": findings += check(path, .publicFile)
            default: findings += foreign(name, path)
            }
        }
        return findings
    }

    /// Whether the daemon has not stored anything yet.
    private var isUnused: Bool { names(Machine.state).allSatisfy(Machine.isLeftover) }

    private func keyFileFindings() -> [Finding] {
        let directory = "\(Machine.state)/keys"
        return names(directory).flatMap { name in
            let path = "\(directory)/\(name)"
            guard let file = PublicFile(name) else { return foreign(name, path) }
            let findings = check(path, .publicFile)
            // A mark denies login; a key allows it, so a key that someone else could write is
            // serious.
            guard file.kind == .pub, let account = self.name(of: file.uid) else { return findings }
            return findings.map { $0.issuingAnew(account.bytes) }
        }
    }

    private func privateFindings(_ directory: String) -> [Finding] {
        names(directory).flatMap { name -> [Finding] in
            let path = "\(directory)/\(name)"
            switch name {
            case "host-secret", "tpm-root", "reader-work", "offers":
                return check(path, .privateFile)
            case "template-keys", "stored", "comparisons":
                return check(path, .privateDirectory) + fileFindings(in: path)
            case "accounts":
                return check(path, .privateDirectory)
                    + names(path).flatMap { accountFindings($0, "\(path)/\($0)") }
            default: return foreign(name, path)
            }
        }
    }

    private func accountFindings(_ name: String, _ directory: String) -> [Finding] {
        guard let uid = UInt32(name) else { return foreign(name, directory) }
        var findings = check(directory, .privateDirectory)
        let found = names(directory)
        for name in found {
            let path = "\(directory)/\(name)"
            switch name {
            case "account", "credential", "keyring", "lockout", "counter", "receipts", "refusals",
                "signers":
                findings += check(path, .privateFile)
            case "prints", "secrets", "servers", "mac-tokens":
                findings += check(path, .privateDirectory) + fileFindings(in: path)
            default: findings += foreign(name, path)
            }
        }
        // Without this record the account was never completed, and is not in use.
        if found.contains("account") {
            let account = (self.name(of: uid) ?? name).bytes
            if !found.contains("lockout") {
                findings.append(.fileMissing("\(directory)/lockout".bytes, account: account))
            }
            if !found.contains("counter") {
                findings.append(.counterMissing("\(directory)/counter".bytes, account: account))
            }
        }
        return findings
    }

    private func fileFindings(in directory: String) -> [Finding] {
        names(directory).filter { !Machine.isLeftover($0) }
            .flatMap { check("\(directory)/\($0)", .privateFile) }
    }

    private func foreign(_ name: String, _ path: String) -> [Finding] {
        Machine.isLeftover(name) ? [] : [.fileForeign(path.bytes)]
    }

    /// Whether a name is that of a temporary file, which the daemon sweeps up.
    private static func isLeftover(_ name: String) -> Bool { name.hasPrefix(".new-") }
}

extension Machine {
    private func fileSystemFindings() -> [Finding] {
        guard let type = FileLook.fileSystem(of: root + Machine.state) else { return [] }
        let path = Machine.state.bytes
        if type == 0x0102_1994 || type == 0x8584_58f6 { return [.stateVolatile(path)] }
        guard let name = Machine.foreignFileSystems[type] else { return [] }
        return [.stateFileSystem(path, type: name.bytes)]
    }

    /// File systems without owners, or whose owners another machine determines; statfs(2).
    static let foreignFileSystems: [UInt64: String] = [
        0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb", 0x517b: "smb", 0x6573_5546: "fuse",
        0x0102_1997: "9p", 0x00c3_6400: "ceph", 0x5346_414f: "afs", 0x4d44: "vfat",
        0x2011_bab0: "exfat", 0x5346_544e: "ntfs", 0x7366_746e: "ntfs", 0x786f_4256: "vboxsf",
        0xbacb_acbc: "vmhgfs", 0x4244: "hfs",
    ]
}
