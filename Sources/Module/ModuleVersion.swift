// SPDX-License-Identifier: Apache-2.0
/// The version of the module's file, which `signet doctor` reads without loading the module.
enum ModuleVersion {
    /// The mark to search for, then the version, which must equal that in Configuration/Version.swift.
    static let mark: StaticString = "signet-module 0.2.0"
}
