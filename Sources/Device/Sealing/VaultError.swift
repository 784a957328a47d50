// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Why a vault could not create, seal or open an item.
///
/// Callers may treat `.doesNotOpen` and `.malformed` as final and destroy the item. `.trouble` and
/// `.crypto` say nothing about the item and may pass.
package enum VaultError: Error, Equatable, Sendable {
    /// The item does not open: the fingers, account, credential, machine, host secret or bytes are
    /// different.
    ///
    /// The vault cannot tell which, and does not say.
    case doesNotOpen
    /// The bytes do not belong to this vault, or have an unknown version.
    case malformed
    /// Cryptography failed for a reason unrelated to the arguments.
    case crypto(CryptoFault)
    /// The vault cannot be used now.
    ///
    /// This says nothing about the item.
    case trouble(VaultTrouble)
}

/// Why a vault cannot be used now.
package enum VaultTrouble: Equatable, Sendable {
    /// There is no TPM, or it cannot be reached.
    ///
    /// The text says what was tried and why it failed.
    case absent(String)
    /// The system or the TPM's owner denies access.
    ///
    /// The text says what was tried.
    case notPermitted(String)
    /// The TPM is in dictionary-attack lockout after wrong authorisations, which need not be
    /// Signet's.
    case lockout
    /// The storage root key has another Name than the pinned one: the TPM was cleared, replaced or
    /// faked.
    case anotherRoot
    /// The TPM has no room left for objects or sessions.
    case outOfSlots
    /// The PCRs have changed since the key was sealed.
    case platformChanged
    /// The TPM did not answer in time.
    case noAnswer
    /// Any other failure, in the words of the TPM library.
    case failed(String)
}

extension VaultError: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .doesNotOpen: "the sealed key does not open"
        case .malformed: "not a sealed key of this vault"
        case .crypto(let fault): fault.description
        case .trouble(let trouble): trouble.description
        }
    }
}

extension VaultTrouble: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .absent(let why): "there is no usable TPM: \(why)"
        case .notPermitted(let why): "access to the TPM was denied: \(why)"
        case .lockout: "the TPM is in lockout after wrong authorisations"
        case .anotherRoot: "the TPM was cleared or is a different one"
        case .outOfSlots: "the TPM has no room left"
        case .platformChanged: "the system was booted in a state (PCR) that the key does not allow"
        case .noAnswer: "the TPM does not answer"
        case .failed(let why): "the TPM failed: \(why)"
        }
    }
}
