// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import SignedFormats

/// Whether a text was signed by a registered key.
struct SignatureVerification: Sendable {
    let publicKeys: KeyCache
    let core: ServerCore
}

extension SignatureVerification {
    /// The key that the statement says it was signed with; nil if there is no such registration.
    func key(of head: StatementHead) async throws(Problem) -> P256PublicKey? {
        if let key = publicKeys.key(of: head.credential) { return key }
        let signer = try await core.read { store throws(DatabaseFault) in
            try store.signers.signer(head)
        }
        return signer?.registration.publicKey.flatMap { try? P256PublicKey(point: $0) }
    }

    /// Whether a text was signed by a key, for one use; one that was is kept ready.
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
