// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

// This is the only file that verifies a device's signature, and that can create a
// `VerifiedStatement`, because its initialiser is `fileprivate`.

/// A statement, and a signature over its text that has not been verified.
struct UnverifiedStatement<Content: CanonicalText>: Sendable {
    /// What the text states, which may be unsigned.
    let content: Content
    private let text: [UInt8]
    private let signature: [UInt8]

    /// Parses the text; the signature is an SSHSIG blob. Throws the fault of a text that is not
    /// canonical.
    init(parsing text: [UInt8], signature: [UInt8]) throws(LineFault) {
        content = try Content(parsing: text)
        self.text = text
        self.signature = signature
    }

    /// The evidence that the key at `point` signed the text in a namespace; nil if it did not, or
    /// if the cryptography library fails.
    ///
    /// `point` is an uncompressed P-256 point of 65 bytes.
    func verified(
        by point: [UInt8], in namespace: SignatureNamespace
    ) -> VerifiedStatement<Content>? {
        guard let key = try? P256PublicKey(point: point) else { return nil }
        return verified(by: key, in: namespace)
    }

    fileprivate func verified(
        by key: P256PublicKey, in namespace: SignatureNamespace
    ) -> VerifiedStatement<Content>? {
        guard let isSigned = try? key.verifies(blob: signature, of: text, in: namespace), isSigned
        else { return nil }
        return VerifiedStatement(content: content, key: key.point)
    }
}

/// Evidence that a key signed the text of a statement, in the namespace of its use.
///
/// It says nothing about whose key that is: code that relies on it compares `key` with the
/// registered one in the transaction that decides.
struct VerifiedStatement<Content: CanonicalText>: Sendable {
    /// What was signed.
    let content: Content
    /// The public key that signed it, an uncompressed P-256 point of 65 bytes.
    let key: [UInt8]

    fileprivate init(content: Content, key: [UInt8]) {
        self.content = content
        self.key = key
    }
}

/// Verifies signatures by registered keys, with a cache of parsed keys.
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

    /// The evidence that the key signed a statement in this namespace, or nil; if it did, the key
    /// is cached.
    func verified<Content>(
        _ signed: UnverifiedStatement<Content>, in namespace: SignatureNamespace,
        by key: P256PublicKey, of name: KeyName
    ) -> VerifiedStatement<Content>? {
        guard let verified = signed.verified(by: key, in: namespace) else { return nil }
        if let cached = publicKeys.key(name), cached.point != key.point { publicKeys.forget(name) }
        publicKeys.keep(key, as: name)
        return verified
    }

    /// The evidence that a registration's key for a factor signed a statement in this namespace, or
    /// nil; if it did, the key is cached.
    func verified<Content>(
        _ signed: UnverifiedStatement<Content>, in namespace: SignatureNamespace, by signer: Signer,
        for factor: KeyFactor
    ) -> VerifiedStatement<Content>? {
        guard let credential = signer.registration.credential,
            let point = signer.registration.key(for: factor)
        else { return nil }
        let name = KeyName(credential: credential, factor: factor)
        let cached = publicKeys.key(name).flatMap { $0.point == point ? $0 : nil }
        guard let key = cached ?? (try? P256PublicKey(point: point)) else { return nil }
        return verified(signed, in: namespace, by: key, of: name)
    }
}
