// SPDX-License-Identifier: Apache-2.0
/// Where a private key lies, as a statement claims it.
package enum KeyProtection: LineWord {
    /// In the TPM, which never lets it out.
    case tpm
    /// In a sealed file.
    case file

    /// As it stands in the line `key`.
    package var word: StaticString {
        switch self {
        case .tpm: "tpm"
        case .file: "file"
        }
    }
}

/// Whether the firmware checks what it starts, as a statement claims it.
package enum SecureBoot: LineWord {
    case on
    case off
    /// The firmware does not say.
    case unknown

    /// As it stands in the line `secure-boot`.
    package var word: StaticString {
        switch self {
        case .on: "on"
        case .off: "off"
        case .unknown: "unknown"
        }
    }
}

/// What a device claims of itself.
///
/// A claim, not a proof: the device's own system says so, and whoever owns that can lie.
package struct Integrity: Equatable, Sendable {
    /// Where the key that signs lies.
    package var key: KeyProtection
    /// Whether the device was started with secure boot.
    package var secureBoot: SecureBoot

    /// Both claims.
    package init(key: KeyProtection, secureBoot: SecureBoot) {
        self.key = key
        self.secureBoot = secureBoot
    }
}
