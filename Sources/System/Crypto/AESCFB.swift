// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// AES-128 in CFB mode with an initial vector of zeros, as TPMs use it; NIST SP 800-38A.
///
/// It authenticates nothing, and a key may encrypt one message only: use it where a TPM demands it,
/// under a MAC, with a key that is derived for the message.
package enum AESCFB {
    /// The length of a key in bytes.
    package static let keyCount = 16

    /// Encrypts bytes; the result is as long. Throws `.length` unless the key has 16 bytes.
    package static func encrypt(
        _ plain: [UInt8], key: SecretBytes
    ) throws(CryptoFault) -> [UInt8] {
        guard key.count == keyCount, let count = Int32(exactly: plain.count) else { throw .length }
        let library = try Library.instance()
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw .library(operation: "EVP_CIPHER_CTX_new")
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let begun = key.withBytes { span in
            unsafe span.withUnsafeBytes { key in
                unsafe EVP_CipherInit_ex2(
                    context, library.aes128cfb,
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    [UInt8](repeating: 0, count: 16), 1, nil)
            }
        }
        try require(begun, operation: "EVP_CipherInit_ex2")
        var sealed = [UInt8](repeating: 0, count: plain.count)
        var done: Int32 = 0
        try require(
            unsafe EVP_CipherUpdate(context, &sealed, &done, plain, count),
            operation: "EVP_CipherUpdate")
        guard done == count else { throw .library(operation: "EVP_CipherUpdate") }
        return sealed
    }
}
