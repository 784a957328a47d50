// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix

/// Which vault holds a key; the raw value is how it is written on disk and shown to people.
package enum VaultKind: String, CaseIterable, Sendable {
    /// Sealed with AES-256-GCM, in the state directory.
    case file = "file"
    /// Held by the TPM, which never lets it out.
    case tpm = "tpm"
}

/// Keeps private keys and small secrets so that they open for exactly what they were made for.
///
/// Every call may block for as long as the hardware takes; one caller at a time.
package protocol Vault: Sendable {
    /// Which one it is.
    var kind: VaultKind { get }
    /// Makes a key pair and seals its private half to the context.
    func create(_ context: SealingContext) throws(VaultError) -> NewCredential
    /// Seals 1 to `VaultLimit.data` bytes to the context.
    func seal(_ data: SecretBytes, _ context: SealingContext) throws(VaultError) -> [UInt8]
    /// Gets a sealed key ready ahead of the touch, as far as that goes before the match.
    func ready(
        key sealed: [UInt8], _ context: SealingContext
    ) throws(VaultError) -> any ReadyKey
    /// Gets sealed data ready ahead of the touch, as far as that goes before the match.
    func ready(
        data sealed: [UInt8], _ context: SealingContext
    ) throws(VaultError) -> any ReadyData
    /// Whether data were sealed under the policy that this vault seals under now.
    func isUnderPresentPolicy(data sealed: [UInt8]) -> Bool
    /// Seals the same key to another context; `.doesNotOpen` unless it opens with the old one.
    func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext
    ) throws(VaultError) -> [UInt8]
    /// What an administrator wants to know of it.
    func describe() throws(VaultError) -> VaultDescription
    /// Gives back what is held between two requests; the next call takes it again.
    func rest()
}

/// A vault that depends on a root key of the hardware, which is known by its Name.
package protocol RootedVault: Vault {
    /// Takes the present root key for the one that keys are made under, whatever was known before.
    func trust() throws(VaultError) -> RootChange
    /// Gives back all that is held, what is ready among it, which opens no more: for the end.
    func close()
}

/// A sealed key that waits for the match.
package protocol ReadyKey: AnyObject, Sendable {
    /// Signs the SHA-256 of a message; ECDSA on P-256.
    ///
    /// The context is computed anew after the match: `.doesNotOpen` unless every part of it is as
    /// it was when the key was sealed. A match of another account's finger opens nothing.
    func sign(
        _ message: [UInt8], _ context: SealingContext, for match: borrowing Match
    ) throws(VaultError) -> P256Signature
    /// Signs the one kind of statement that needs no finger.
    func sign(
        _ removal: RemovalMessage, _ context: SealingContext
    ) throws(VaultError) -> P256Signature
    /// Gives back what it holds. It signs no more afterwards.
    func release()
}

/// Sealed data that wait for the match.
package protocol ReadyData: AnyObject, Sendable {
    /// Opens the data; the context is computed anew after the match, as with `ReadyKey`.
    func open(
        _ context: SealingContext, for match: borrowing Match
    ) throws(VaultError) -> SecretBytes
    /// Opens the data to be sealed anew; nobody outside of the vaults can read them.
    func lift(_ context: SealingContext) throws(VaultError) -> LiftedData
    /// Gives back what it holds. It opens no more afterwards.
    func release()
}

/// The sizes that hold for every vault.
package enum VaultLimit {
    /// The most bytes of data that a vault seals itself; longer ones are sealed under a key.
    package static let data = 128
    /// The most bytes that a sealed key or sealed data can have.
    package static let sealed = 1_024
}

/// A key pair that a vault has just made.
package struct NewCredential: Equatable, Sendable {
    /// The public key: 0x04, x, y; 65 bytes.
    package let publicPoint: [UInt8]
    /// The private key, sealed; at most `VaultLimit.sealed` bytes.
    package let sealed: [UInt8]

    /// Joins both halves.
    package init(publicPoint: [UInt8], sealed: [UInt8]) {
        self.publicPoint = publicPoint
        self.sealed = sealed
    }
}

/// What an administrator wants to know of a vault.
package struct VaultDescription: Equatable, Sendable {
    /// Which one it is.
    package let kind: VaultKind
    /// Who made it: the TPM's manufacturer and firmware, or the library.
    package let maker: String
    /// What opens a key, in words.
    package let policy: String
    /// The PCRs that keys are bound to; empty where none.
    package let registers: [Int]
    /// The Name of the TPM's storage root key; empty for a vault without one.
    package let root: [UInt8]

    /// Describes a vault by its values.
    package init(
        kind: VaultKind, maker: String, policy: String, registers: [Int] = [], root: [UInt8] = []
    ) {
        self.kind = kind
        self.maker = maker
        self.policy = policy
        self.registers = registers
        self.root = root
    }
}
