// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Which services ask for a touch, and whether their module exists.
///
/// It is the doctor's reading of the stacks, for commands that tell users whether fingerprint login
/// works.
package struct ModuleUse: Sendable {
    /// The services whose `auth` stack calls the module.
    package let services: [String]
    /// The module files that stacks refer to and that do not exist, with the services affected.
    package let missing: [(path: String, services: [String])]
    /// The command that adds the module to the stacks; nil if this machine has no known one.
    package let activation: Bytes?
    /// The command that reinstalls the module; nil if this machine has no known one.
    package let installation: Bytes?

    /// Whether no service asks for a touch.
    package var isUnused: Bool { services.isEmpty }

    /// Whether services call the module, and none of them finds it.
    package var isMissing: Bool {
        !services.isEmpty
            && services.allSatisfy { service in
                missing.contains { $0.services.contains(service) }
            }
    }
}

/// A line of a PAM stack that calls the module.
package struct ModuleLine: Equatable, Sendable {
    /// The services whose stacks contain the line.
    package let services: [String]
    /// `auth` or `password`.
    package let type: String
    /// The module's options.
    package let options: [String]
    /// The path of the file and the line number, as `path:line`.
    package let place: String
}

extension Machine {
    /// The lines in all services' stacks that call the module.
    package func moduleLines() -> [ModuleLine] { StackExamination(stackFiles()).moduleLines }

    /// Which services ask for a touch. Changes nothing.
    package func moduleUse() -> ModuleUse {
        let examination = StackExamination(stackFiles())
        let missing = examination.modulePaths.filter { isModuleMissing($0.path) }
        return ModuleUse(
            services: examination.using,
            missing: missing.map { (modulePath($0.path), $0.services) },
            activation: activation,
            installation: look("/usr/bin/apt-get", following: true) == nil
                ? nil : "apt-get install --reinstall libpam-signet".bytes)
    }

    /// Whether libpam would not find a module under the path that a stack gives.
    func isModuleMissing(_ path: String) -> Bool {
        look(modulePath(path), following: true) == nil
    }

    /// The absolute path where libpam looks for a module.
    func modulePath(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(moduleDirectory())/\(path)"
    }

    private var activation: Bytes? {
        if look("/usr/sbin/pam-auth-update", following: true) != nil {
            return "pam-auth-update --enable signet".bytes
        }
        if look("/usr/bin/authselect", following: true) != nil {
            return "authselect select signet with-signet".bytes
        }
        return nil
    }
}
