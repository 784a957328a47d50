// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// HKDF with SHA-256, extract and expand; RFC 5869.
///
/// Keys for different uses are derived from one secret by different values of `info`, which must be
/// unique to the use. Results are in secret memory.
package enum HKDF {
    /// Derives secret bytes from a secret; EVP_KDF_derive(3).
    ///
    /// The salt may be empty. Throws `.length` unless the secret has at least 1 byte and `count` is
    /// from 1 to 8160 (255 digests).
    package static func derive(
        from secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptoFault) -> SecretBytes {
        guard secret.count > 0, count > 0, count <= 255 * SHA256.digestCount else { throw .length }
        let library = try Library.instance()
        guard let context = unsafe EVP_KDF_CTX_new(library.hkdf) else {
            throw .library(operation: "EVP_KDF_CTX_new")
        }
        defer { unsafe EVP_KDF_CTX_free(context) }
        var result: Int32 = 0
        let derived = try secretBytes(count) { target in
            result = secret.withBytes { key in
                unsafe derive(context, key: key, salt: salt, info: info, into: &target)
            }
        }
        try require(result, operation: "EVP_KDF_derive")
        return derived
    }

    private static func derive(
        _ context: OpaquePointer, key: RawSpan, salt: [UInt8], info: [UInt8],
        into target: inout MutableRawSpan
    ) -> Int32 {
        unsafe key.withUnsafeBytes { key in
            unsafe salt.withUnsafeBytes { salt in
                unsafe info.withUnsafeBytes { info in
                    let parameters = unsafe [
                        textParameter(ParameterName.digest, text: "SHA256"),
                        bytesParameter(ParameterName.key, bytes: key),
                        bytesParameter(ParameterName.salt, bytes: salt),
                        bytesParameter(ParameterName.info, bytes: info),
                        OSSL_PARAM_construct_end(),
                    ]
                    return unsafe target.withUnsafeMutableBytes { output in
                        unsafe EVP_KDF_derive(
                            context, output.baseAddress, output.count, parameters)
                    }
                }
            }
        }
    }
}

/// Allocates secret memory and lets `fill` write to it; throws `.memory` if none can be locked.
func secretBytes(
    _ count: Int, fill: (inout MutableRawSpan) -> Void
) throws(CryptoFault) -> SecretBytes {
    do {
        return try SecretBytes(count: count, fill: fill)
    } catch { throw .memory }
}

/// Returns a parameter that refers to bytes, which must outlive it.
///
/// OSSL_PARAM(3) does not write through it, although its C type would permit that.
func bytesParameter(_ name: StaticString, bytes: UnsafeRawBufferPointer) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_octet_string(
        name.cString, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
}

/// Returns a parameter of static text.
func textParameter(_ name: StaticString, text: StaticString) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_utf8_string(
        name.cString, UnsafeMutablePointer(mutating: text.cString), text.utf8CodeUnitCount)
}
