// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats

// Verifies signatures of texts. Key, text and namespace must all match, and there is one format and
// one algorithm, so a signature for one use is never valid for another.
extension P256PublicKey {
    /// Returns whether a blob is this key's OpenSSH signature (SSHSIG) of this text in this
    /// namespace.
    ///
    /// Returns false for a malformed blob and for another key, namespace or text. Throws only if
    /// cryptography itself failed. The format is that of PROTOCOL.sshsig, as restricted in
    /// docs/developer/PROTOCOL.md.
    package func verifies(
        blob: [UInt8], of text: [UInt8], in namespace: SignatureNamespace
    ) throws(CryptoFault) -> Bool {
        guard let signature = try? SSHSignature(blob: blob),
            signature.namespace == namespace.bytes
        else { return false }
        return try verifies(signature, of: text)
    }

    /// Returns whether a parsed signature is this key's for a text; the caller must check its
    /// namespace.
    func verifies(_ signature: SSHSignature, of text: [UInt8]) throws(CryptoFault) -> Bool {
        guard signature.publicKey.point.bytes == point,
            let numbers = P256Signature(r: signature.r, s: signature.s)
        else { return false }
        let signed = SSHSignature.signedData(
            namespace: signature.namespace, messageDigest: try SHA256.digest(text))
        return try verifies(numbers, message: signed)
    }
}

extension P256PrivateKey {
    /// Signs a text in a namespace; `ssh-keygen -Y verify` accepts the result.
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
