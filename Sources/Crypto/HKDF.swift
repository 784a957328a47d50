// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// HKDF with SHA-256; RFC 5869.
package enum HKDF {
    /// Derives `count` secret bytes (1 to 8160) from a secret of 1 byte or more; EVP_KDF_derive(3).
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
                unsafe derive(context, key, salt, info, into: &target)
            }
        }
        try require(result, "EVP_KDF_derive")
        return derived
    }

    private static func derive(
        _ context: OpaquePointer, _ key: RawSpan, _ salt: [UInt8], _ info: [UInt8],
        into target: inout MutableRawSpan
    ) -> Int32 {
        unsafe key.withUnsafeBytes { key in
            unsafe salt.withUnsafeBytes { salt in
                unsafe info.withUnsafeBytes { info in
                    let parameters = unsafe [
                        textParameter(ParameterName.digest, "SHA256"),
                        bytesParameter(ParameterName.key, key),
                        bytesParameter(ParameterName.salt, salt),
                        bytesParameter(ParameterName.info, info),
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

/// Secret memory, with the fault in this layer's words.
func secretBytes(
    _ count: Int, fill: (inout MutableRawSpan) -> Void
) throws(CryptoFault) -> SecretBytes {
    do {
        return try SecretBytes(count: count, fill: fill)
    } catch { throw .memory }
}

/// A parameter of bytes; OSSL_PARAM(3) does not write through it, though its C type would allow.
func bytesParameter(_ name: StaticString, _ bytes: UnsafeRawBufferPointer) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_octet_string(
        name.cString, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
}

/// A parameter of text that lives as long as the program.
func textParameter(_ name: StaticString, _ text: StaticString) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_utf8_string(
        name.cString, UnsafeMutablePointer(mutating: text.cString), text.utf8CodeUnitCount)
}
