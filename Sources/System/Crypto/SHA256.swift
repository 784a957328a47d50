// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// SHA-256; FIPS 180-4.
package enum SHA256 {
    /// The length of a digest in bytes.
    package static let digestCount = 32

    /// Returns the 32-byte digest of `bytes`; EVP_Digest(3).
    package static func digest(_ bytes: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let library = try Library.instance()
        var digest = [UInt8](repeating: 0, count: digestCount)
        let result = unsafe bytes.withUnsafeBytes { input in
            unsafe EVP_Digest(
                input.baseAddress, input.count, &digest, nil, library.sha256, nil)
        }
        try require(result, operation: "EVP_Digest")
        return digest
    }
}

/// A SHA-256 digest of data that arrives in parts.
// SAFETY: the pointer is never given out; made in `init`, freed once, in `deinit`.
@safe package struct SHA256Context: ~Copyable {
    private let context: OpaquePointer

    /// Starts a digest; EVP_DigestInit_ex2(3).
    package init() throws(CryptoFault) {
        let library = try Library.instance()
        guard let context = unsafe EVP_MD_CTX_new() else {
            throw .library(operation: "EVP_MD_CTX_new")
        }
        guard unsafe EVP_DigestInit_ex2(context, library.sha256, nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw .library(operation: "EVP_DigestInit_ex2")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes to the digest; EVP_DigestUpdate(3).
    package mutating func update(_ bytes: [UInt8]) throws(CryptoFault) {
        let result = unsafe bytes.withUnsafeBytes {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count)
        }
        try require(result, operation: "EVP_DigestUpdate")
    }

    /// Finishes the digest and returns its 32 bytes; EVP_DigestFinal_ex(3).
    package consuming func finish() throws(CryptoFault) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.digestCount)
        try require(
            unsafe EVP_DigestFinal_ex(context, &digest, nil), operation: "EVP_DigestFinal_ex")
        return digest
    }
}
