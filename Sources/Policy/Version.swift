// SPDX-License-Identifier: Apache-2.0
/// The version of this program, for people; the module has its own mark, PAMModule/Release.swift.
package enum Version {
    /// As `signet --version` shows it.
    package static let text = "0.2.0"
}
