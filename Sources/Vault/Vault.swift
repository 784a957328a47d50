import Crypto
import Posix

/// Why a vault gave no key.
package enum VaultError: Error, Equatable, Sendable {
    /// The key does not open: other fingers, another account, credential or machine, or altered
    /// bytes. Which of them, the vault cannot tell and does not.
    case doesNotOpen
    /// The bytes are not of this vault, or of a version that it does not know.
    case malformed
    /// Cryptography failed for a reason that lies not in the arguments.
    case crypto(CryptoFault)
}

/// A private key, open: whoever holds it can sign, so it is kept no longer than one signature.
package protocol SigningKey: Sendable {
    /// Signs the SHA-256 of a message; ECDSA on P-256.
    func sign(_ message: [UInt8]) throws(VaultError) -> P256Signature
}

/// A key pair that a vault has just made.
package struct NewCredential: Equatable, Sendable {
    /// The public key: 0x04, x, y; 65 bytes.
    package let publicPoint: [UInt8]
    /// The private key, sealed; at most `FileVault.sealedLimit` bytes.
    package let sealed: [UInt8]

    /// Joins both halves.
    package init(publicPoint: [UInt8], sealed: [UInt8]) {
        self.publicPoint = publicPoint
        self.sealed = sealed
    }
}

/// Keeps private keys so that they open for exactly the fingers they were made for.
package protocol Vault: Sendable {
    /// Does ahead of the touch what depends on neither key nor fingers; may be called again.
    func prepare() throws(VaultError)
    /// Makes a key pair and seals its private half to the context.
    func create(_ context: SealingContext) throws(VaultError) -> NewCredential
    /// Opens a sealed key; `.doesNotOpen` unless every part of the context is as it was.
    func open(
        _ sealed: [UInt8], _ context: SealingContext
    ) throws(VaultError) -> any SigningKey
    /// Seals the same key to another context; `.doesNotOpen` unless it opens with the old one.
    func reseal(
        _ sealed: [UInt8], from old: SealingContext, to new: SealingContext
    ) throws(VaultError) -> [UInt8]
}

extension VaultError: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .doesNotOpen: "the sealed key does not open"
        case .malformed: "not a sealed key of this vault"
        case .crypto(let fault): fault.description
        }
    }
}
