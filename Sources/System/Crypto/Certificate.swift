// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An X.509 certificate with a key that this project can use; RFC 5280.
///
/// Parsing proves nothing about it: `CertificateAuthorities` decides whether it is trusted.
// SAFETY: the certificate and its key are made in `init`, only read afterwards, and freed once, in
// `deinit`; OpenSSL 3 permits concurrent reads of an X509 and of an EVP_PKEY.
@safe package final class Certificate: @unchecked Sendable {
    /// The maximum length in bytes of a certificate in DER that is read.
    package static let limit = 4_096

    /// The kind of the certificate's public key.
    package enum KeyKind: Equatable, Sendable {
        /// RSA of 2048 bits.
        case rsa2048
        /// The curve P-256.
        case p256
    }

    /// The certificate in DER.
    package let der: [UInt8]
    /// The kind of its key.
    package let keyKind: KeyKind
    let pointer: OpaquePointer
    private let key: OpaquePointer

    /// Reads exactly one certificate in DER; d2i_X509(3).
    ///
    /// Throws `.badCertificate` for other bytes, for more than `limit` bytes, and for a key that is
    /// neither RSA of 2048 bits nor P-256.
    package init(der: [UInt8]) throws(CryptoFault) {
        let library = try Library.instance()
        guard (1...Certificate.limit).contains(der.count),
            let parsed = unsafe parse(der, library: library)
        else {
            ERR_clear_error()
            throw .badCertificate
        }
        guard let key = unsafe X509_get_pubkey(parsed), let kind = unsafe kind(of: key) else {
            unsafe X509_free(parsed)
            ERR_clear_error()
            throw .badCertificate
        }
        self.der = der
        keyKind = kind
        unsafe self.key = key
        unsafe pointer = parsed
    }

    deinit {
        unsafe EVP_PKEY_free(key)
        unsafe X509_free(pointer)
    }

    /// The point of a P-256 key, 65 bytes; nil for another kind of key.
    package var point: [UInt8]? {
        guard keyKind == .p256 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = unsafe EVP_PKEY_get1_encoded_public_key(key, &encoded)
        guard let encoded = unsafe encoded else { return nil }
        defer { unsafe CRYPTO_free(encoded, #file, #line) }
        let point = unsafe Array(UnsafeBufferPointer(start: encoded, count: count))
        return point.count == P256.pointCount && point.first == 0x04 ? point : nil
    }

    /// Encrypts bytes to an RSA key with OAEP, SHA-256 for both hashes, and a label;
    /// EVP_PKEY_encrypt(3), RFC 8017 section 7.1.
    ///
    /// Throws `.badCertificate` if the key is not an RSA key.
    package func encrypt(_ plain: [UInt8], label: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard keyKind == .rsa2048 else { throw .badCertificate }
        let library = try Library.instance()
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(library.context, key, nil) else {
            throw .library(operation: "EVP_PKEY_CTX_new_from_pkey")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try require(unsafe EVP_PKEY_encrypt_init(context), operation: "EVP_PKEY_encrypt_init")
        let isSet = unsafe label.withUnsafeBytes { label in
            let parameters = unsafe [
                textParameter(ParameterName.padding, text: "oaep"),
                textParameter(ParameterName.digest, text: "SHA256"),
                textParameter(ParameterName.maskDigest, text: "SHA256"),
                bytesParameter(ParameterName.oaepLabel, bytes: label),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_PKEY_CTX_set_params(context, parameters)
        }
        try require(isSet, operation: "EVP_PKEY_CTX_set_params")
        var sealed = [UInt8](repeating: 0, count: 256)
        var count = sealed.count
        try require(
            unsafe EVP_PKEY_encrypt(context, &sealed, &count, plain, plain.count),
            operation: "EVP_PKEY_encrypt")
        guard count == sealed.count else { throw .library(operation: "EVP_PKEY_encrypt") }
        return sealed
    }
}

extension Certificate {
    /// Reads all certificates of a PEM file, in its order; PEM_read_bio_X509(3).
    ///
    /// Text between them is ignored. Throws `.badCertificate` if there is none, or if one cannot be
    /// read.
    package static func list(pem: [UInt8]) throws(CryptoFault) -> [AuthorityCertificate] {
        let library = try Library.instance()
        guard let count = Int32(exactly: pem.count),
            let source = unsafe BIO_new_mem_buf(pem, count)
        else { throw .badCertificate }
        defer { unsafe BIO_free(source) }
        var found: [AuthorityCertificate] = []
        while true {
            var made = unsafe X509_new_ex(library.context, nil)
            guard unsafe PEM_read_bio_X509(source, &made, nil, nil) != nil,
                let read = unsafe made
            else {
                unsafe X509_free(made)
                // The end of the file is the fault "no start line"; any other is a damaged block.
                let isEnd = ERR_peek_last_error() & 0x7f_ffff == UInt(PEM_R_NO_START_LINE)
                ERR_clear_error()
                guard isEnd, !found.isEmpty else { throw .badCertificate }
                return found
            }
            found.append(unsafe AuthorityCertificate(adopting: read))
        }
    }
}

/// A certificate of an authority, whose key may be of any kind.
// SAFETY: made from a pointer that nothing else has, only read afterwards, and freed once.
@safe package final class AuthorityCertificate: @unchecked Sendable {
    let pointer: OpaquePointer

    fileprivate init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit { unsafe X509_free(pointer) }
}

/// Parses one certificate without anything after it; nil for other bytes.
private func parse(_ der: [UInt8], library: Library) -> OpaquePointer? {
    var made = unsafe X509_new_ex(library.context, nil)
    let isWhole = unsafe der.withUnsafeBytes { bytes in
        var cursor = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard unsafe d2i_X509(&made, &cursor, bytes.count) != nil, let cursor = unsafe cursor
        else { return false }
        return unsafe UnsafeRawPointer(cursor) == bytes.baseAddress.map { unsafe $0 + bytes.count }
    }
    guard isWhole else {
        unsafe X509_free(made)
        return nil
    }
    return unsafe made
}

private func kind(of key: OpaquePointer) -> Certificate.KeyKind? {
    if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
        return unsafe EVP_PKEY_get_bits(key) == 2_048 ? .rsa2048 : nil
    }
    guard unsafe EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
    var name = [CChar](repeating: 0, count: 32)
    var count = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
    let group = String(
        decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return group == "prime256v1" ? .p256 : nil
}
