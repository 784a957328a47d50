// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Which services ask for a touch, and whether they can: the doctor's own view of the stacks, for
/// whoever has to say whether fingerprint login works.
package struct ModuleUse: Sendable {
    /// The services whose `auth` stack names the module.
    package let services: [String]
    /// The module's files that are named and not there, with the services that name them.
    package let missing: [(path: String, services: [String])]
    /// The command that puts the module into the stacks; nil where this machine has none that is known.
    package let activation: Bytes?
    /// The command that installs the module; the same.
    package let installation: Bytes?

    /// Whether no service asks for a touch.
    package var isUnused: Bool { services.isEmpty }

    /// Whether services name the module, and none of them finds it.
    package var isMissing: Bool {
        !services.isEmpty
            && services.allSatisfy { service in
                missing.contains { $0.services.contains(service) }
            }
    }
}

/// A line of a PAM stack that calls the module.
package struct ModuleLine: Equatable, Sendable {
    /// The services that the line is for.
    package let services: [String]
    /// `auth` or `password`.
    package let type: String
    /// The options behind the module's name.
    package let options: [String]
    /// The file and the line in it.
    package let place: String
}

extension Machine {
    /// The lines of all services' stacks that call the module, with the options that they give it.
    package func moduleLines() -> [ModuleLine] { StackExamination(stackFiles()).moduleLines }

    /// Which services ask for a touch. Only looks.
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

    /// Whether libpam finds no module where a stack says that it is.
    func isModuleMissing(_ path: String) -> Bool {
        look(modulePath(path), following: true) == nil
    }

    /// Where libpam looks for a module that a stack names.
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
