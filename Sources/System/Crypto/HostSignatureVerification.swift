// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import SignedFormats

extension HostPublicKey {
    /// Returns whether a signature is this host's over the data; EVP_DigestVerify(3).
    ///
    /// RSA signatures are PKCS #1 1.5. A key that OpenSSL does not accept, such as a point that is not
    /// on its curve, has signed nothing, and neither has one of a signature of another kind. Throws
    /// only if the library fails.
    package func verifies(
        _ signature: HostSignature, over data: [UInt8]
    ) throws(CryptoFault) -> Bool {
        guard let (encoded, digest) = encoding(of: signature) else { return false }
        let library = try Library.instance()
        guard let key = unsafe publicKey(subjectPublicKeyInfo, library: library) else {
            ERR_clear_error()
            return false
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_MD_CTX_new() else {
            throw .library(operation: "EVP_MD_CTX_new")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        let begun = unsafe EVP_DigestVerifyInit_ex(
            context, nil, digest?.cString, library.context, nil, key, nil)
        try require(begun, operation: "EVP_DigestVerifyInit_ex")
        let result = unsafe EVP_DigestVerify(
            context, encoded, encoded.count, data, data.count)
        if result != 1 { ERR_clear_error() }
        return result == 1
    }

    /// A signature as OpenSSL takes it, with the name of its digest; nil if it is one of another
    /// kind of key.
    private func encoding(
        of signature: HostSignature
    ) -> (bytes: [UInt8], digest: StaticString?)? {
        switch (self, signature) {
        case (.ed25519, .ed25519(let bytes)): return (bytes, nil)
        case (.ecdsa(let curve, _), .ecdsa(let r, let s)):
            let pair = DER.element(0x30, DER.integer(r) + DER.integer(s))
            switch curve {
            case .p256: return (pair, "SHA256")
            case .p384: return (pair, "SHA384")
            case .p521: return (pair, "SHA512")
            }
        case (.rsa, .rsa(let hash, let bytes)):
            switch hash {
            case .sha256: return (bytes, "SHA256")
            case .sha512: return (bytes, "SHA512")
            }
        case (.ed25519, .ecdsa), (.ed25519, .rsa), (.ecdsa, .ed25519), (.ecdsa, .rsa),
            (.rsa, .ed25519), (.rsa, .ecdsa):
            return nil
        }
    }

    /// The key as a SubjectPublicKeyInfo in DER; RFC 8410, RFC 5480 and RFC 3279.
    private var subjectPublicKeyInfo: [UInt8] {
        switch self {
        case .ed25519(let key):
            let algorithm = DER.element(0x30, [0x06, 0x03, 0x2B, 0x65, 0x70])
            return DER.element(0x30, algorithm + DER.bits(key))
        case .ecdsa(let curve, let point):
            // id-ecPublicKey, then the curve: prime256v1, secp384r1 or secp521r1.
            let key: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
            let name: [UInt8] =
                switch curve {
                case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
                case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
                case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
                }
            return DER.element(0x30, DER.element(0x30, key + name) + DER.bits(point))
        case .rsa(let modulus, let exponent):
            // rsaEncryption, with NULL parameters.
            let algorithm = DER.element(
                0x30,
                [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00])
            let key = DER.element(0x30, DER.integer(modulus) + DER.integer(exponent))
            return DER.element(0x30, algorithm + DER.bits(key))
        }
    }
}

/// Reads exactly one key in DER, which the caller must free; nil for anything else;
/// d2i_PUBKEY_ex(3).
private func publicKey(_ der: [UInt8], library: Library) -> OpaquePointer? {
    unsafe der.withUnsafeBytes { bytes in
        var cursor = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard
            let key = unsafe d2i_PUBKEY_ex(nil, &cursor, bytes.count, library.context, nil)
        else { return nil }
        return unsafe key
    }
}

/// Elements of DER, for the few structures that are written here; X.690.
private enum DER {
    /// An element with its tag and length.
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length = contents.count
        guard length >= 0x80 else { return [tag, UInt8(length)] + contents }
        var digits: [UInt8] = []
        while length > 0 {
            digits.insert(UInt8(truncatingIfNeeded: length), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + contents
    }

    /// A positive INTEGER of big-endian bytes.
    static func integer(_ number: [UInt8]) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        let isPadded = digits.first.map { $0 >= 0x80 } ?? true
        return element(0x02, (isPadded ? [0] : []) + digits)
    }

    /// A BIT STRING of whole bytes.
    static func bits(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }
}
