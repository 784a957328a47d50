// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix
import Synchronization

/// A P-256 private key, loaded and ready to sign.
///
/// Thread-safe. The private scalar is in OpenSSL's memory: in its locked secure heap if that is
/// available, otherwise in ordinary memory that OpenSSL wipes. It leaves this object only through
/// `pkcs8()`.
// SAFETY: the key is made in `init`, only read afterwards, and freed once, in `deinit`; OpenSSL 3
// permits concurrent reads of an EVP_PKEY, each through its own context.
@safe package final class P256PrivateKey: @unchecked Sendable {
    /// The public key as an uncompressed point: 0x04, x, y; 65 bytes.
    package let publicPoint: [UInt8]
    private let key: OpaquePointer
    /// A context that is initialised to sign, unless a thread is using it.
    private let idle = Mutex<KeyContext?>(nil)

    private init(adopting key: OpaquePointer, publicPoint: [UInt8]) {
        unsafe self.key = key
        self.publicPoint = publicPoint
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Generates a new key with the randomness of OpenSSL; EVP_PKEY_generate(3).
    package static func generate() throws(CryptoFault) -> P256PrivateKey {
        let library = try Library.instance()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(library.context, "EC", nil) else {
            throw .library(operation: "EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try require(unsafe EVP_PKEY_keygen_init(context), operation: "EVP_PKEY_keygen_init")
        try require(
            unsafe EVP_PKEY_CTX_set_group_name(context, P256.groupName.cString),
            operation: "EVP_PKEY_CTX_set_group_name")
        var key: OpaquePointer? = nil
        try require(unsafe EVP_PKEY_generate(context, &key), operation: "EVP_PKEY_generate")
        guard let key = unsafe key else { throw .library(operation: "EVP_PKEY_generate") }
        do {
            let point = try unsafe publicPoint(of: key)
            return unsafe P256PrivateKey(adopting: key, publicPoint: point)
        } catch {
            unsafe EVP_PKEY_free(key)
            throw error
        }
    }

    /// Signs the SHA-256 of a message with ECDSA; EVP_PKEY_sign(3).
    ///
    /// Throws `.library` if OpenSSL fails. Signatures are not deterministic.
    package func sign(_ message: [UInt8]) throws(CryptoFault) -> P256Signature {
        let library = try Library.instance()
        let digest = try SHA256.digest(message)
        let kept = idle.withLock { $0.take() }
        guard
            let context = unsafe kept
                ?? KeyContext(key, library: library, { unsafe EVP_PKEY_sign_init($0) })
        else { throw .library(operation: "EVP_PKEY_sign_init") }
        // One context is stored for reuse; if several threads signed at once, the others are freed.
        defer { idle.withLock { $0 = context } }
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        try require(
            unsafe EVP_PKEY_sign(context.pointer, &der, &count, digest, digest.count),
            operation: "EVP_PKEY_sign")
        guard count <= der.count else { throw .library(operation: "EVP_PKEY_sign") }
        return try P256Signature(der: der[..<count])
    }

    /// Returns the secret that this key and another public key share: the x coordinate of their
    /// product, 32 bytes; EVP_PKEY_derive(3), SP 800-56A section 5.7.1.2.
    package func sharedSecret(with other: P256PublicKey) throws(CryptoFault) -> [UInt8] {
        let library = try Library.instance()
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(library.context, key, nil) else {
            throw .library(operation: "EVP_PKEY_CTX_new_from_pkey")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try require(unsafe EVP_PKEY_derive_init(context), operation: "EVP_PKEY_derive_init")
        try require(
            unsafe EVP_PKEY_derive_set_peer(context, other.key),
            operation: "EVP_PKEY_derive_set_peer")
        var secret = [UInt8](repeating: 0, count: P256.scalarCount)
        var count = secret.count
        try require(
            unsafe EVP_PKEY_derive(context, &secret, &count), operation: "EVP_PKEY_derive")
        guard count == secret.count else { throw .library(operation: "EVP_PKEY_derive") }
        return secret
    }

    private static func publicPoint(of key: OpaquePointer) throws(CryptoFault) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: P256.pointCount)
        var count = 0
        let name = unsafe ParameterName.publicPoint.cString
        try require(
            unsafe EVP_PKEY_get_octet_string_param(key, name, &point, point.count, &count),
            operation: "EVP_PKEY_get_octet_string_param")
        guard count == P256.pointCount, point.first == 0x04 else {
            throw .library(operation: "EVP_PKEY_get_octet_string_param")
        }
        return point
    }
}

extension P256PrivateKey {
    /// Returns the key as PKCS#8 DER, 138 bytes, in secret memory; RFC 5208, RFC 5915.
    ///
    /// Everything but the scalar and the point is constant, so the encoding is written directly:
    /// OpenSSL's encoders would leave copies in ordinary memory.
    package func pkcs8() throws(CryptoFault) -> SecretBytes {
        var result: Int32 = 0
        let encoded = try secretBytes(PKCS8.count) { target in
            result = unsafe target.withUnsafeMutableBytes { unsafe write(into: $0) }
        }
        try require(result, operation: "EVP_PKEY_get_params")
        return encoded
    }

    /// Loads a key from bytes that `pkcs8()` returned; throws `.badPrivateKey` for any other bytes.
    ///
    /// The scalar must be in range and the point on the curve. Whether the two belong together is
    /// not checked, so a caller that loads bytes which others can write must authenticate them
    /// first.
    package convenience init(pkcs8: SecretBytes) throws(CryptoFault) {
        guard pkcs8.count == PKCS8.count else { throw .badPrivateKey }
        let library = try Library.instance()
        let loaded = unsafe pkcs8.withBytes { span in
            unsafe span.withUnsafeBytes { unsafe P256PrivateKey.load(library, bytes: $0) }
        }
        guard let loaded = unsafe loaded else {
            ERR_clear_error()
            throw .badPrivateKey
        }
        unsafe self.init(adopting: loaded.key, publicPoint: loaded.point)
    }

    private func write(into target: UnsafeMutableRawBufferPointer) -> Int32 {
        unsafe target.copyBytes(from: PKCS8.head)
        let scalar = unsafe UnsafeMutableRawBufferPointer(rebasing: target[PKCS8.scalar])
        var parameters = unsafe [
            OSSL_PARAM_construct_BN(
                ParameterName.privateScalar.cString,
                scalar.baseAddress?.assumingMemoryBound(to: UInt8.self), scalar.count),
            OSSL_PARAM_construct_end(),
        ]
        guard unsafe EVP_PKEY_get_params(key, &parameters) == 1 else { return 0 }
        unsafe reverseWhereLittleEndian(scalar)
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[PKCS8.middle])
            .copyBytes(from: PKCS8.beforePoint)
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[PKCS8.point])
            .copyBytes(from: publicPoint)
        return 1
    }

    private static func load(
        _ library: Library, bytes: UnsafeRawBufferPointer
    ) -> (key: OpaquePointer, point: [UInt8])? {
        guard unsafe bytes[PKCS8.prefix].elementsEqual(PKCS8.head),
            unsafe bytes[PKCS8.middle].elementsEqual(PKCS8.beforePoint)
        else { return nil }
        let point = unsafe Array(bytes[PKCS8.point])
        // OSSL_PARAM holds numbers in native byte order, so the scalar is reversed in a copy.
        let scalar = try? SecretBytes(count: P256.scalarCount) { target in
            unsafe target.withUnsafeMutableBytes { copy in
                unsafe copy.copyBytes(from: bytes[PKCS8.scalar])
                unsafe reverseWhereLittleEndian(copy)
            }
        }
        guard let scalar else { return nil }
        let key: OpaquePointer? = unsafe scalar.withBytes { span in
            unsafe span.withUnsafeBytes { scalar in
                unsafe point.withUnsafeBytes { point in
                    unsafe keyFromData(
                        library, parameters: parameters(scalar, point: point),
                        selection: KeyParts.pair)
                }
            }
        }
        guard let key = unsafe key else { return nil }
        guard unsafe isInRange(library, key: key) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        return unsafe (key, point)
    }

    /// Returns whether the scalar is at least 1 and below the order; EVP_PKEY_private_check(3).
    private static func isInRange(_ library: Library, key: OpaquePointer) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(library.context, key, nil) else {
            return false
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_private_check(context) == 1
    }

    private static func parameters(
        _ scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer
    ) -> [OSSL_PARAM] {
        let number = unsafe UnsafeMutableRawPointer(mutating: scalar.baseAddress)
        return unsafe [
            textParameter(ParameterName.group, text: P256.groupName),
            bytesParameter(ParameterName.publicPoint, bytes: point),
            OSSL_PARAM_construct_BN(
                ParameterName.privateScalar.cString,
                number?.assumingMemoryBound(to: UInt8.self), scalar.count),
            OSSL_PARAM_construct_end(),
        ]
    }
}

private func reverseWhereLittleEndian(_ number: UnsafeMutableRawBufferPointer) {
    guard 1.littleEndian == 1 else { return }
    var number = unsafe number
    unsafe number.reverse()
}

/// The DER layout of a P-256 private key, in which everything but the scalar and the point is
/// constant.
private enum PKCS8 {
    static let count = 138
    static let prefix = 0..<36
    static let scalar = 36..<68
    static let middle = 68..<73
    static let point = 73..<138

    /// PrivateKeyInfo, version 0, id-ecPublicKey with prime256v1; then ECPrivateKey, version 1.
    static let head: [UInt8] = [
        0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d,
        0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30,
        0x6b, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]
    /// `[1]` BIT STRING of 66 bytes without unused bits.
    static let beforePoint: [UInt8] = [0xa1, 0x44, 0x03, 0x42, 0x00]
}
