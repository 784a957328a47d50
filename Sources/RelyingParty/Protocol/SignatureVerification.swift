// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import SignedFormats

/// Verifies signatures by registered keys, with a cache of parsed keys.
///
/// It answers only whether the key made the signature. Whether the key is still valid must be
/// checked in the transaction that decides.
struct SignatureVerification: Sendable {
    let publicKeys: KeyCache
    let core: ServerCore
}

extension SignatureVerification {
    /// Returns the key of the credential that a statement names; nil if there is no such
    /// registration.
    ///
    /// A cached key is found by its credential alone, so the caller must still check that device,
    /// account and audience belong to the same registration, and that its key is this one.
    func key(of head: StatementHead) async throws(Problem) -> P256PublicKey? {
        if let key = publicKeys.key(of: head.credential) { return key }
        let signer = try await core.read { store throws(DatabaseFault) in
            try store.signers.signer(head)
        }
        return signer?.registration.publicKey.flatMap { try? P256PublicKey(point: $0) }
    }

    /// Whether the key signed this text in this namespace; if so, the key is cached.
    func verifies(
        _ text: [UInt8], signature: [UInt8], namespace: SignatureNamespace,
        by key: P256PublicKey, of credential: CredentialID
    ) -> Bool {
        let isSigned = try? key.verifies(blob: signature, of: text, in: namespace)
        guard isSigned == true else { return false }
        publicKeys.keep(key, of: credential)
        return true
    }
}
