// SPDX-License-Identifier: Apache-2.0
import SignedFormats

extension P256PublicKey {
    /// Tells whether a blob is this key's OpenSSH signature of exactly this text, for this use.
    ///
    /// False for anything else: another form, key, namespace or text. Throws only where
    /// cryptography itself failed. PROTOCOL.sshsig, as docs/developer/PROTOCOL.md narrows it.
    package func verifies(
        blob: [UInt8], of text: [UInt8], in namespace: SignatureNamespace
    ) throws(CryptoFault) -> Bool {
        guard let signature = try? SSHSignature(blob: blob),
            signature.namespace == namespace.bytes
        else { return false }
        return try verifies(signature, of: text)
    }

    /// The same for a signature that was read; whether its namespace is right is the caller's.
    func verifies(_ signature: SSHSignature, of text: [UInt8]) throws(CryptoFault) -> Bool {
        guard signature.publicKey.point == point,
            let numbers = P256Signature(r: signature.r, s: signature.s)
        else { return false }
        let signed = SSHSignature.signedData(
            namespace: signature.namespace, messageDigest: try SHA256.digest(text))
        return try verifies(numbers, message: signed)
    }
}

extension P256PrivateKey {
    /// Signs a text for one use, as `ssh-keygen -Y verify` checks it.
    package func signature(
        of text: [UInt8], in namespace: SignatureNamespace
    ) throws(CryptoFault) -> SSHSignature {
        guard let key = SSHPublicKey(point: publicPoint) else { throw .badPublicKey }
        let numbers = try sign(
            SSHSignature.signedData(
                namespace: namespace.bytes, messageDigest: try SHA256.digest(text)))
        return SSHSignature(publicKey: key, namespace: namespace, r: numbers.r, s: numbers.s)
    }
}
