// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix

/// The kind of a vault.
///
/// The raw value is written to disk and shown to users.
package enum VaultKind: String, CaseIterable, Sendable {
    /// Keys are sealed with AES-256-GCM and stored in the state directory.
    case file = "file"
    /// Private keys exist in the clear only inside the TPM; the state directory stores them
    /// encrypted by it.
    case tpm = "tpm"
}

/// Seals private keys and small secrets, and opens them only in the context they were sealed to.
///
/// Opening takes two steps. `ready` does the slow part while the daemon waits for the finger; the
/// ready object then signs or opens for a `Match`, or signs for a `PasswordMatch` with a key that is
/// sealed to the account's password. The exceptions that need no match are listed in
/// `WithoutMatch.swift`. Calls may block for as long as the hardware takes.
///
/// Errors are `.doesNotOpen` for a wrong context or altered bytes, `.malformed` for bytes of
/// another form, `.trouble` if the vault cannot be used now, and `.crypto` if cryptography failed
/// for any other reason.
package protocol Vault: Sendable {
    /// The kind of the vault.
    var kind: VaultKind { get }
    /// Creates a key pair and seals its private half to the context.
    func create(_ context: SealingContext) throws(VaultError) -> NewCredential
    /// Seals data to the context.
    ///
    /// Throws `.malformed` unless there are 1 to `VaultLimit.data` bytes.
    func seal(_ data: SecretBytes, context: SealingContext) throws(VaultError) -> [UInt8]
    /// Prepares a sealed key ahead of the touch, as far as possible without a match.
    func ready(
        key sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyKey
    /// Prepares sealed data ahead of the touch, as far as possible without a match.
    func ready(
        data sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyData
    /// Whether data were sealed under the policy that the vault uses for new items.
    ///
    /// For a TPM, the policy is the selection of PCRs.
    func isUnderPresentPolicy(data sealed: [UInt8]) -> Bool
    /// Seals the same key to another context, without a match.
    ///
    /// Callers use `reseal(key:from:to:)` for the same fingers, or `reseal(key:from:to:for:)` for an
    /// authorised change: only these create a permission. Throws `.doesNotOpen` unless the key opens
    /// in the old context. The result is sealed bytes, so the caller never sees the key.
    func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext,
        by permission: borrowing ResealPermission
    ) throws(VaultError) -> [UInt8]
    /// Returns a description for administrators.
    func describe() throws(VaultError) -> VaultDescription
    /// Releases resources that are not needed between requests.
    ///
    /// The next call acquires them again.
    func rest()
}

/// A vault that depends on a root key in hardware, which is identified by its Name.
package protocol RootedVault: Vault {
    /// When the hardware last answered a command; nil if it never did.
    ///
    /// May be asked while a call is under way.
    var lastAnswer: SuspendingClock.Instant? { get }
    /// Pins the present root key, whichever was pinned before.
    ///
    /// Items under the previous one can no longer be opened.
    func trust() throws(VaultError) -> RootChange
    /// Makes an attestation key, and returns it with the certificate of the hardware.
    ///
    /// Returns nil if the hardware has no certificate. Needs no match, because nothing is signed
    /// or opened.
    func attestationOffer() throws(VaultError) -> AttestationOffer?
    /// Has the hardware prove that a key is its own, without a match: the key signs nothing.
    ///
    /// Throws `.doesNotOpen` unless the context is the one that the key was sealed to, and the
    /// offer is of the hardware that the key was made in.
    func attest(
        key sealed: [UInt8], context: SealingContext, offer: AttestationOffer,
        order: AttestationOrder
    ) throws(VaultError) -> AttestationAnswer
    /// Releases everything at the end of the process.
    ///
    /// Objects that were ready can no longer be used.
    func close()
}

/// A sealed key that is ready to sign.
package protocol ReadyKey: AnyObject, Sendable {
    /// Signs the SHA-256 of a message with ECDSA on P-256.
    ///
    /// Callers use `sign(_:context:for:)` with a match of a finger or of a password, or
    /// `sign(_:context:)` for a removal: only these create a permission. Throws `.doesNotOpen` unless
    /// the context equals the one that the key was sealed to.
    func sign(
        _ message: [UInt8], context: SealingContext, by permission: borrowing SigningPermission
    ) throws(VaultError) -> P256Signature
    /// Releases the key, which cannot sign afterwards.
    func release()
}

/// Sealed data that are ready to be opened.
package protocol ReadyData: AnyObject, Sendable {
    /// Opens the data without a match, so that another vault or context can seal them.
    ///
    /// Only vaults can read the result; with a match, `open(_:for:)` hands it out.
    func lift(_ context: SealingContext) throws(VaultError) -> LiftedData
    /// Releases the data, which cannot be opened afterwards.
    func release()
}

/// Size limits of all vaults.
package enum VaultLimit {
    /// The maximum length in bytes of data that a vault seals directly.
    ///
    /// `SealedContent` seals longer data.
    package static let data = 128
    /// The maximum length in bytes of a sealed key or sealed data.
    package static let sealed = 1_024
}

/// A key pair that a vault has created.
package struct NewCredential: Equatable, Sendable {
    /// The public key as an uncompressed point: 0x04, x, y; 65 bytes.
    package let publicPoint: [UInt8]
    /// The sealed private key, at most `VaultLimit.sealed` bytes.
    package let sealed: [UInt8]

    /// Creates a value from both halves.
    package init(publicPoint: [UInt8], sealed: [UInt8]) {
        self.publicPoint = publicPoint
        self.sealed = sealed
    }
}

/// A description of a vault for administrators.
package struct VaultDescription: Equatable, Sendable {
    /// The kind of the vault.
    package let kind: VaultKind
    /// The TPM's manufacturer and firmware, or the name of the library.
    package let maker: String
    /// The conditions for opening a key, in words.
    package let policy: String
    /// The PCRs that new keys are bound to; empty if there are none.
    package let registers: [Int]
    /// The Name of the TPM's storage root key; empty for a vault without one.
    package let root: [UInt8]

    /// Creates a description from its values.
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
