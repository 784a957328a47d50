// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import ModuleOptions

/// What makes this build pam_fprintd.so: its name, and how it reads the stack's line.
///
/// It takes the place of fprintd's module in stacks as distributions ship them.
/// `SignetEdition.swift` is what pam_signet.so has instead; nothing else differs, so that neither
/// can accept what the other would not (Package.swift).
extension Application {
    /// The file's name in stacks, for messages.
    static let moduleName: StaticString = "pam_fprintd.so"

    /// Parses the arguments of the stack's line as fprintd's module does; none is a mistake.
    static func options(_ arguments: [Bytes]) throws(ModuleOptions.Fault) -> ModuleOptions {
        ModuleOptions(fprintd: arguments)
    }
}
