// SPDX-License-Identifier: Apache-2.0
import Posix

/// A stand-in for a TPM vault whose settings cannot be used.
///
/// Every function that can throw throws the trouble that it was created with, so that the daemon
/// starts and reports the reason, and items of the TPM vault are never taken for damaged.
package struct UnusableVault: RootedVault {
    package let kind = VaultKind.tpm
    private let error: VaultError

    /// Creates a vault that throws `trouble`.
    package init(_ trouble: VaultTrouble) {
        error = .trouble(trouble)
    }

    package func create(_ context: SealingContext) throws(VaultError) -> NewCredential {
        throw error
    }

    package func seal(
        _ data: SecretBytes, context: SealingContext
    ) throws(VaultError) -> [UInt8] { throw error }

    package func ready(
        key sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyKey { throw error }

    package func ready(
        data sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyData { throw error }

    package func isUnderPresentPolicy(data sealed: [UInt8]) -> Bool { false }

    package func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext,
        by permission: borrowing ResealPermission
    ) throws(VaultError) -> [UInt8] { throw error }

    package func describe() throws(VaultError) -> VaultDescription { throw error }

    package var lastAnswer: SuspendingClock.Instant? { nil }

    package func rest() {}

    package func close() {}

    package func attestationOffer() throws(VaultError) -> AttestationOffer? { throw error }

    package func attest(
        key sealed: [UInt8], context: SealingContext, offer: AttestationOffer,
        order: AttestationOrder
    ) throws(VaultError) -> AttestationAnswer { throw error }

    package func trust() throws(VaultError) -> RootChange { throw error }
}
