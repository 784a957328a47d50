// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL's default provider in its own library context, with the algorithms fetched once.
///
/// It is created at first use and lives as long as the process. No configuration file is read, so a
/// changed openssl.cnf can load no module into the process, and the process-wide context is
/// unchanged.
// SAFETY: all pointers are set once in `init`, never freed, and OpenSSL 3 counts references to
// fetched algorithms and contexts atomically; each operation makes its own working context.
@safe final class Library: @unchecked Sendable {
    let context: OpaquePointer
    let sha256: OpaquePointer
    let aes128cfb: OpaquePointer
    let aes256gcm: OpaquePointer
    let hkdf: OpaquePointer
    let hmac: OpaquePointer

    private static let shared = Library()

    /// Returns the only instance; throws `.library` if OpenSSL could not be initialised.
    static func instance() throws(CryptoFault) -> Library {
        guard let shared else { throw .library(operation: "OSSL_PROVIDER_load") }
        return shared
    }

    private init?() {
        // Without this, the first fetch would read openssl.cnf, which may load modules.
        guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1 else { return nil }
        // BN_secure_new allocates private scalars from this heap, which is locked and never dumped.
        // If it is not available, OpenSSL uses its ordinary heap and wipes it.
        _ = CRYPTO_secure_malloc_init(16384, 16)
        guard let context = unsafe OSSL_LIB_CTX_new(),
            unsafe OSSL_PROVIDER_load(context, "default") != nil,
            let sha256 = unsafe EVP_MD_fetch(context, "SHA256", nil),
            let aes128cfb = unsafe EVP_CIPHER_fetch(context, "AES-128-CFB", nil),
            let aes256gcm = unsafe EVP_CIPHER_fetch(context, "AES-256-GCM", nil),
            let hkdf = unsafe EVP_KDF_fetch(context, "HKDF", nil),
            let hmac = unsafe EVP_MAC_fetch(context, "HMAC", nil)
        else { return nil }
        unsafe self.context = context
        unsafe self.sha256 = sha256
        unsafe self.aes128cfb = aes128cfb
        unsafe self.aes256gcm = aes256gcm
        unsafe self.hkdf = hkdf
        unsafe self.hmac = hmac
    }
}

/// Throws `.library` unless an OpenSSL call returned 1; empties the thread's error queue then.
func require(_ result: Int32, operation: String) throws(CryptoFault) {
    guard result == 1 else {
        ERR_clear_error()
        throw .library(operation: operation)
    }
}

/// Names of parameters for `OSSL_PARAM`, which stores their address; they must therefore be static.
enum ParameterName {
    static let digest: StaticString = "digest"
    static let key: StaticString = "key"
    static let salt: StaticString = "salt"
    static let info: StaticString = "info"
    static let group: StaticString = "group"
    static let publicPoint: StaticString = "pub"
    static let privateScalar: StaticString = "priv"
    static let padding: StaticString = "pad-mode"
    static let maskDigest: StaticString = "mgf1-digest"
    static let oaepLabel: StaticString = "oaep-label"
}

extension StaticString {
    /// The text as a C string that is valid as long as the program runs.
    var cString: UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
