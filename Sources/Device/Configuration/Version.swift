// SPDX-License-Identifier: Apache-2.0
/// The version of Signet, for users.
///
/// The PAM module has its own version, Sources/Module/ModuleVersion.swift.
package enum Version {
    /// The version as `signet --version` prints it.
    package static let text = "0.2.0"
}
