// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// AES-256-GCM with random nonces; NIST SP 800-38D.
///
/// Sealed bytes are the nonce (12 bytes), the ciphertext and the tag (16). The key must have 32
/// bytes. Because nonces are random, one key may seal at most 2³² times; callers must derive keys
/// so that this cannot be reached. The additional data binds the result to its place and is not
/// stored.
package enum AESGCM {
    /// The length of a key in bytes.
    package static let keyCount = 32
    /// The number of bytes by which sealed bytes are longer than the plaintext.
    package static let overhead = nonceCount + tagCount

    private static let nonceCount = 12
    private static let tagCount = 16

    /// Encrypts secret bytes and authenticates them together with `additional`;
    /// EVP_EncryptUpdate(3).
    ///
    /// A new random nonce is used each time. An empty plaintext is allowed and gives a MAC of
    /// `additional`. Throws `.length` unless the key has 32 bytes.
    package static func seal(
        _ plain: SecretBytes, key: SecretBytes, additional: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        guard key.count == keyCount else { throw .length }
        let nonce = try randomNonce()
        let cipher = try CipherContext(key: key, nonce: nonce, encrypting: true)
        try cipher.authenticate(additional)
        var text = [UInt8](repeating: 0, count: plain.count)
        let result = plain.withBytes { source in
            unsafe source.withUnsafeBytes { from in
                unsafe text.withUnsafeMutableBytes { unsafe cipher.transform(from, into: $0) }
            }
        }
        try require(result, operation: "EVP_EncryptUpdate")
        try require(cipher.finish(), operation: "EVP_EncryptFinal_ex")
        return nonce + text + (try cipher.tag(tagCount))
    }

    /// Opens bytes that `seal` returned for the same key and additional data; EVP_DecryptUpdate(3).
    ///
    /// Throws `.length` unless the key has 32 bytes, and `.notAuthentic` for another key, other
    /// additional data, and altered or truncated bytes, without saying which. In these cases no
    /// plaintext is returned; what was decrypted is wiped with its secret memory.
    package static func open(
        _ sealed: [UInt8], key: SecretBytes, additional: [UInt8]
    ) throws(CryptoFault) -> SecretBytes {
        guard key.count == keyCount else { throw .length }
        guard sealed.count >= overhead else { throw .notAuthentic }
        let cipher = try CipherContext(
            key: key, nonce: Array(sealed[..<nonceCount]), encrypting: false)
        try cipher.authenticate(additional)
        let text = sealed[nonceCount..<(sealed.count - tagCount)]
        var result: Int32 = 0
        let plain = try secretBytes(text.count) { target in
            result = unsafe target.withUnsafeMutableBytes { to in
                unsafe text.withUnsafeBytes { unsafe cipher.transform($0, into: to) }
            }
        }
        try require(result, operation: "EVP_DecryptUpdate")
        try cipher.expect(tag: Array(sealed[(sealed.count - tagCount)...]))
        guard cipher.finish() == 1 else {
            ERR_clear_error()
            throw .notAuthentic
        }
        return plain
    }

    private static func randomNonce() throws(CryptoFault) -> [UInt8] {
        do {
            return try randomBytes(nonceCount)
        } catch { throw .library(operation: error.operation) }
    }
}
