// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import ModuleOptions

/// What makes this build pam_signet.so: its name, and how it reads the stack's line.
///
/// pam_fprintd.so is built from the same sources with `FprintdEdition.swift` in place of this file;
/// nothing else differs (Package.swift).
extension Application {
    /// The file's name in stacks, for messages.
    static let moduleName: StaticString = "pam_signet.so"

    /// Parses the arguments of the stack's line, strictly.
    static func options(_ arguments: [Bytes]) throws(ModuleOptions.Fault) -> ModuleOptions {
        try ModuleOptions(parsing: arguments)
    }
}
