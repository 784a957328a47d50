// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import SignedFormats
import Synchronization

/// A P-256 public key for ECDSA with SHA-256, checked to be a point of the curve.
///
/// Thread-safe. A value cannot be created for a point that is not valid.
// SAFETY: the key is made in `init`, only read afterwards, and freed once, in `deinit`; OpenSSL 3
// permits concurrent reads of an EVP_PKEY, each through its own context.
@safe package final class P256PublicKey: @unchecked Sendable {
    /// The uncompressed point: 0x04, x, y; 65 bytes; SEC 1 section 2.3.3.
    package let point: [UInt8]
    let key: OpaquePointer
    /// A context that is initialised to verify, unless a thread is using it.
    private let idle = Mutex<KeyContext?>(nil)

    /// Creates a key from an uncompressed point of 65 bytes.
    ///
    /// Throws `.badPublicKey` for any other form, coordinates that are not on the curve, and the
    /// point at infinity.
    package init(point: [UInt8]) throws(CryptoFault) {
        guard point.count == P256.pointCount, point.first == 0x04 else { throw .badPublicKey }
        let library = try Library.instance()
        let made = unsafe point.withUnsafeBytes { bytes in
            let parameters = unsafe [
                textParameter(ParameterName.group, text: P256.groupName),
                bytesParameter(ParameterName.publicPoint, bytes: bytes),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe keyFromData(
                library, parameters: parameters, selection: KeyParts.publicHalf)
        }
        guard let key = unsafe made else {
            ERR_clear_error()
            throw .badPublicKey
        }
        unsafe self.key = key
        self.point = point
        guard unsafe isValid(library, key: key) else {
            ERR_clear_error()
            throw .badPublicKey
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Returns whether a signature is this key's for the SHA-256 of `message`; EVP_PKEY_verify(3).
    ///
    /// If OpenSSL cannot prepare the verification, the result is false. Throws only if the library
    /// or the digest fails.
    package func verifies(
        _ signature: P256Signature, message: [UInt8]
    ) throws(CryptoFault) -> Bool {
        verifies(signature, digest: try SHA256.digest(message), library: try Library.instance())
    }

    /// The key as a SubjectPublicKeyInfo in PEM; RFC 5480, RFC 7468.
    package var pem: [UInt8] {
        // All but the point is constant: id-ecPublicKey with prime256v1.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
            0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        var text = Array("-----BEGIN PUBLIC KEY-----\n".utf8)
        var rest = Base64.encode(head + point, alphabet: .standard)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + [0x0a]
            rest = rest.dropFirst(64)
        }
        return text + Array("-----END PUBLIC KEY-----\n".utf8)
    }

    private func verifies(
        _ signature: P256Signature, digest: [UInt8], library: Library
    ) -> Bool {
        let kept = idle.withLock { $0.take() }
        guard
            let context = unsafe kept
                ?? KeyContext(key, library: library, { unsafe EVP_PKEY_verify_init($0) })
        else { return false }
        // One context is stored for reuse; if several threads verified at once, the others are
        // freed.
        defer { idle.withLock { $0 = context } }
        let der = signature.der
        let result = unsafe EVP_PKEY_verify(context.pointer, der, der.count, digest, digest.count)
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}

/// Constants of the curve; SEC 2 section 2.4.2.
enum P256 {
    static let pointCount = 65
    static let scalarCount = 32
    static let groupName: StaticString = "prime256v1"
}

/// EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR of <openssl/evp.h>, which Swift does not import.
enum KeyParts {
    static let publicHalf =
        OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS
        | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
    static let pair = publicHalf | OSSL_KEYMGMT_SELECT_PRIVATE_KEY
}

/// Creates a key from parameters, which the caller must free; nil on failure; EVP_PKEY_fromdata(3).
func keyFromData(
    _ library: Library, parameters: [OSSL_PARAM], selection: Int32
) -> OpaquePointer? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(library.context, "EC", nil) else {
        return nil
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_fromdata_init(context) == 1 else { return nil }
    var parameters = unsafe parameters
    var key: OpaquePointer? = nil
    guard unsafe EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1 else { return nil }
    return unsafe key
}

/// Returns whether a key's public half is a valid point; EVP_PKEY_public_check_quick(3).
///
/// P-256 has cofactor 1, so every point on the curve except infinity has the right order.
private func isValid(_ library: Library, key: OpaquePointer) -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(library.context, key, nil) else {
        return false
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_public_check_quick(context) == 1
}
