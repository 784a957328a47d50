// SPDX-License-Identifier: Apache-2.0
/// Where a device stores the signing key, according to its own statement.
package enum KeyProtection: LineWord {
    /// In the TPM, which never releases it.
    case tpm
    /// In a sealed file, from which it is loaded into memory to sign.
    case file

    /// The word in the line `key`.
    package var word: StaticString {
        switch self {
        case .tpm: "tpm"
        case .file: "file"
        }
    }
}

/// Whether a device was started with secure boot, according to its own statement.
package enum SecureBoot: LineWord {
    case on
    case off
    /// The firmware does not report it.
    case unknown

    /// The word in the line `secure-boot`.
    package var word: StaticString {
        switch self {
        case .on: "on"
        case .off: "off"
        case .unknown: "unknown"
        }
    }
}

/// A device's claims about itself, which it signs as part of each statement for a server.
///
/// They prove nothing: the device's own operating system makes them, and a compromised one can lie.
/// A server's policy can require them of honest devices only.
package struct Integrity: Equatable, Sendable {
    /// Where the signing key is stored.
    package var key: KeyProtection
    /// Whether secure boot was on.
    package var secureBoot: SecureBoot

    /// Creates the claims from both values.
    package init(key: KeyProtection, secureBoot: SecureBoot) {
        self.key = key
        self.secureBoot = secureBoot
    }
}
