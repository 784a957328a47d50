// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
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
    /// Returns the key of the credential that a statement names, for a factor; nil if
    /// there is no such registration or key.
    ///
    /// A cached key is found by its name alone, so the caller must still check that device, account
    /// and audience belong to the same registration, and that its key is this one. A password key
    /// is always read, since it may have been replaced, by another server process, too.
    func key(
        of head: StatementHead, for factor: KeyFactor
    ) async throws(Problem) -> P256PublicKey? {
        let name = KeyName(credential: head.credential, factor: factor)
        if name.factor == .fingerprint, let key = publicKeys.key(name) { return key }
        let signer = try await core.read { store throws(DatabaseFault) in
            try store.signers.signer(head)
        }
        guard let point = signer?.registration.key(for: name.factor) else { return nil }
        if let key = publicKeys.key(name), key.point == point { return key }
        return try? P256PublicKey(point: point)
    }

    /// Whether the key signed this text in this namespace; if so, the key is cached.
    func verifies(
        _ text: [UInt8], signature: [UInt8], namespace: SignatureNamespace,
        by key: P256PublicKey, of name: KeyName
    ) -> Bool {
        let isSigned = try? key.verifies(blob: signature, of: text, in: namespace)
        guard isSigned == true else { return false }
        if let cached = publicKeys.key(name), cached.point != key.point { publicKeys.forget(name) }
        publicKeys.keep(key, as: name)
        return true
    }
}
