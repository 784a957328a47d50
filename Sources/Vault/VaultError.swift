// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Why a vault gave no key.
package enum VaultError: Error, Equatable, Sendable {
    /// The key does not open: other fingers, another account, credential or machine, or altered
    /// bytes. Which of them, the vault cannot tell and does not.
    case doesNotOpen
    /// The bytes are not of this vault, or of a version that it does not know.
    case malformed
    /// Cryptography failed for a reason that lies not in the arguments.
    case crypto(CryptoFault)
    /// The vault cannot be used now; nothing is said about the key.
    case trouble(VaultTrouble)
}

/// Why a vault cannot be used now.
package enum VaultTrouble: Equatable, Sendable {
    /// There is no TPM, or no way to it; what was tried, and why it failed.
    case absent(String)
    /// The system or the TPM's owner does not let us; what was tried.
    case notPermitted(String)
    /// The TPM refuses for a while, after wrong authorisations by somebody.
    case lockout
    /// The storage root key has another Name than the one known: cleared, replaced, or faked.
    case anotherRoot
    /// The TPM has no room left for what is needed.
    case outOfSlots
    /// The PCRs are not as they were when the key was sealed.
    case platformChanged
    /// The TPM did not answer in time.
    case noAnswer
    /// Anything else, in the words of the TPM's library.
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
        case .notPermitted(let why): "the TPM may not be used: \(why)"
        case .lockout: "the TPM is in lockout after wrong authorisations"
        case .anotherRoot: "the TPM was cleared or is another one"
        case .outOfSlots: "the TPM has no room left"
        case .platformChanged: "the system was started in another state (PCR) than the key allows"
        case .noAnswer: "the TPM does not answer"
        case .failed(let why): "the TPM failed: \(why)"
        }
    }
}
