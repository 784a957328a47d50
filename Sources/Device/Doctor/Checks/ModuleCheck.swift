// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether services use the module, and whether its file exists, only root can change it,
/// and it is of this version.
struct ModuleCheck {
    let files: MachineFiles
    let stacks: ServiceStacks

    /// What `signet status` says about the module; both name the same fix.
    private var use: ModuleUse { ModuleUse(files, stacks: stacks) }

    /// Findings on stacks that misspell the module's name, or on the lack of any stack that names
    /// it.
    func stackFindings() -> [Finding] {
        let misspelt = stacks.misspeltLines.filter { line in
            !files.exists(files.modulePath(line.handler.path), following: true)
        }
        return misspelt.map { Self.misspelt(ServiceStacks.list($0.services), line: $0.handler) }
            + (stacks.using.isEmpty ? [Self.unused(use.activation)] : [])
    }

    /// Findings on the module files that stacks refer to.
    ///
    /// - Parameter version: The version of the program that examines.
    func fileFindings(version: Bytes) -> [Finding] {
        stacks.modulePaths.flatMap { path, services -> [Finding] in
            let path = files.modulePath(path)
            guard files.exists(path, following: true) else {
                return [
                    Self.missing(
                        ServiceStacks.list(services), path: path, fix: use.installation(of: path))
                ]
            }
            let check = FileCheck(files: files)
            let mark = files.read(path, cap: ModuleMark.longestModule).flatMap(ModuleMark.version)
            return check.findings(at: path, rule: .module, following: true)
                + check.parents(of: path)
                + (mark == version
                    ? []
                    : [Self.otherVersion(mark ?? "unknown".bytes, expected: version, path: path)])
        }
    }
}

/// The version mark in the module's file, which can be read without loading the module.
enum ModuleMark {
    /// The maximum size in bytes of a file that is searched.
    static let longestModule = 1 << 20
    private static let longestVersion = 32
    private static let mark = "signet-module ".bytes

    /// Returns the version in a file's contents; nil if there is none, or the file is not an ELF
    /// file.
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

extension ModuleCheck {
    /// No service names the module.
    private static func unused(_ fix: Bytes?) -> Finding {
        Finding(
            "module-unused", level: .warning, area: .stacks,
            what: "no service in /etc/pam.d uses pam_signet",
            why: "no touch is ever asked for. The profile adds the module to common-auth",
            mend: fix.map { "\($0)" } ?? "pam-auth-update --enable signet")
    }

    /// The module's file does not exist.
    private static func missing(_ services: Bytes, path: String, fix: Bytes?) -> Finding {
        Finding(
            "module-missing", level: .fault, area: .stacks, subject: services,
            what: "\(services): the module \(path) does not exist",
            why: """
                with the shipped stacks, the password is asked for; a 'required' line locks all \
                users out. Install the module, or remove it from the stacks with \
                'pam-auth-update --remove signet'
                """,
            mend: fix.map { "\($0)" } ?? "pam-auth-update --remove signet")
    }

    /// A stack names a module that does not exist, with a similar name.
    private static func misspelt(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "module-misspelt", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): \(line.place.shown) names the module \(line.path), which does not \
                exist. Did you mean pam_signet.so?
                """,
            why: """
                libpam treats a missing module as one that fails: no touch is asked for, and a \
                'required' line locks all users out
                """,
            mend: Remedy.edit(line.place))
    }

    /// The module has another version.
    private static func otherVersion(_ version: Bytes, expected: Bytes, path: String) -> Finding {
        Finding(
            "version-module", level: .fault, area: .service, subject: path.bytes,
            what: "the module \(path) has version \(version), this command has \(expected)",
            why: "the module and the daemon may be incompatible. Reinstall both",
            mend: path.hasSuffix("/pam_fprintd.so")
                ? "apt-get install --reinstall signet-fprint-compat signet"
                : "apt-get install --reinstall libpam-signet signet")
    }
}
