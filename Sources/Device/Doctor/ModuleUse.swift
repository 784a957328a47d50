// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The services that request a touch, and whether their module exists.
///
/// It is the doctor's reading of the stacks, for commands that tell users whether fingerprint login
/// works.
package struct ModuleUse: Sendable {
    /// The services whose `auth` stack calls the module.
    package let services: [String]
    /// The module files that stacks refer to but that do not exist, with the services affected.
    package let missing: [(path: String, services: [String])]
    /// The command that adds the module to the stacks; nil if this machine has no known one.
    package let activation: Bytes?
    private let canInstall: Bool

    /// The command that reinstalls the missing module; nil if this machine has no known one.
    package var installation: Bytes? {
        missing.first.flatMap { installation(of: $0.path) }
    }

    /// The command that reinstalls the module with this path; nil if this machine has no known one.
    func installation(of path: String) -> Bytes? {
        guard canInstall else { return nil }
        let package = path.hasSuffix("/pam_fprintd.so") ? "signet-fprint-compat" : "libpam-signet"
        return Bytes("apt-get install --reinstall \(package)".utf8)
    }

    /// Whether no service requests a touch.
    package var isUnused: Bool { services.isEmpty }

    /// Whether services call the module, but none of them finds it.
    package var isMissing: Bool {
        !services.isEmpty
            && services.allSatisfy { service in
                missing.contains { $0.services.contains(service) }
            }
    }

    init(_ files: MachineFiles, stacks: ServiceStacks) {
        func has(_ program: String) -> Bool { files.exists(program, following: true) }
        services = stacks.using
        missing = stacks.modulePaths.map { (files.modulePath($0.path), $0.services) }
            .filter { !files.exists($0.0, following: true) }
        if has("/usr/sbin/pam-auth-update") {
            activation = "pam-auth-update --enable signet".bytes
        } else if has("/usr/bin/authselect") {
            activation = "authselect select signet with-signet".bytes
        } else {
            activation = nil
        }
        canInstall = has("/usr/bin/apt-get")
    }
}

extension MachineFiles {
    /// The absolute path where libpam looks for a module, given the path in a stack.
    func modulePath(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(moduleDirectory())/\(path)"
    }

    /// The directory where libpam looks for modules.
    ///
    /// It is the one that contains pam_signet, or else pam_unix; this architecture's directory is
    /// preferred to those of others. If neither module is found, it is /usr/lib/security.
    func moduleDirectory() -> String {
        let libraries = ["/usr/lib", "/lib"].flatMap { base in
            names(base).filter { $0.contains("-linux-") }.map { "\(base)/\($0)/security" }
        }
        let all = libraries + ["/usr/lib64/security", "/lib64/security", "/usr/lib/security"]
        let ordered = all.filter(Self.isNative) + all.filter { !Self.isNative($0) }
        for module in ["pam_signet.so", "pam_unix.so"] {
            let place = ordered.first { exists("\($0)/\(module)", following: true) }
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
