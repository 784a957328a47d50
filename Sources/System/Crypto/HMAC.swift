// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// HMAC with SHA-256; RFC 2104, FIPS 198-1.
///
/// Received codes must be compared with `verifies`, never with `==`, so that the time reveals
/// nothing.
package enum HMAC {
    /// The length of a code in bytes.
    package static let count = 32

    /// Returns the 32-byte code of a message; EVP_MAC_init(3).
    ///
    /// Throws `.length` for an empty key.
    package static func sha256(
        of message: [UInt8], key: SecretBytes
    ) throws(CryptoFault) -> [UInt8] {
        guard key.count > 0 else { throw .length }
        let library = try Library.instance()
        guard let context = unsafe EVP_MAC_CTX_new(library.hmac) else {
            throw .library(operation: "EVP_MAC_CTX_new")
        }
        defer { unsafe EVP_MAC_CTX_free(context) }
        let parameters = unsafe [
            textParameter(ParameterName.digest, text: "SHA256"), OSSL_PARAM_construct_end(),
        ]
        let begun = key.withBytes { span in
            unsafe span.withUnsafeBytes { key in
                unsafe EVP_MAC_init(
                    context, key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count,
                    parameters)
            }
        }
        try require(begun, operation: "EVP_MAC_init")
        try require(
            unsafe EVP_MAC_update(context, message, message.count), operation: "EVP_MAC_update")
        var code = [UInt8](repeating: 0, count: count)
        var written = 0
        try require(
            unsafe EVP_MAC_final(context, &code, &written, code.count), operation: "EVP_MAC_final")
        guard written == count else { throw .library(operation: "EVP_MAC_final") }
        return code
    }

    /// Returns whether a code is that of the message; takes the same time for all codes of 32
    /// bytes.
    ///
    /// A code of another length is never valid.
    package static func verifies(
        _ code: [UInt8], of message: [UInt8], key: SecretBytes
    ) throws(CryptoFault) -> Bool {
        constantTimeEqual(code, try sha256(of: message, key: key))
    }
}
