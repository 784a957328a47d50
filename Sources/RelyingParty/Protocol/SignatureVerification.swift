// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import SignedFormats

/// Verifies signatures by registered keys, with a cache of parsed keys.
///
/// It says only whether the key made the signature. Whether the key is valid now is for the
/// transaction that decides.
struct SignatureVerification: Sendable {
    let publicKeys: KeyCache
    let core: ServerCore
}

extension SignatureVerification {
    /// Returns the key that a statement claims; nil if there is no such registration.
    ///
    /// A key from the cache is found by its credential alone; the caller must compare the
    /// registration.
    func key(of head: StatementHead) async throws(Problem) -> P256PublicKey? {
        if let key = publicKeys.key(of: head.credential) { return key }
        let signer = try await core.read { store throws(DatabaseFault) in
            try store.signers.signer(head)
        }
        return signer?.registration.publicKey.flatMap { try? P256PublicKey(point: $0) }
    }

    /// Whether the key signed this text in this namespace; caches the key if so.
    func verifies(
        _ text: [UInt8], signature: [UInt8], _ namespace: SignatureNamespace,
        by key: P256PublicKey, of credential: [UInt8]
    ) -> Bool {
        let isSigned = try? key.verifies(blob: signature, of: text, in: namespace)
        guard isSigned == true else { return false }
        publicKeys.keep(key, of: credential)
        return true
    }
}
