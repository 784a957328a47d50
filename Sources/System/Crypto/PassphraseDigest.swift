// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// What is kept of a passphrase to recognise it by: scrypt of it, with a random salt; RFC 7914.
///
/// Guessing costs 32 MiB of memory and some 60 ms for each guess.
package struct PassphraseDigest: Sendable {
    private static let count = 32
    /// N, r and p.
    private static let cost: (n: UInt64, r: UInt64, p: UInt64) = (1 << 15, 8, 1)
    /// What OpenSSL may use: the 32 MiB of these parameters, and a little.
    private static let memory: UInt64 = 64 << 20

    private let salt: [UInt8]
    private let digest: [UInt8]

    /// Digests a passphrase with a new salt.
    package init(of passphrase: [UInt8]) throws(CryptoFault) {
        let salt: [UInt8]
        do throws(SystemFault) {
            salt = try randomBytes(16)
        } catch { throw .library(operation: "getrandom") }
        self.salt = salt
        digest = try Self.digest(passphrase, salt: salt)
    }

    /// Whether a passphrase is the one that was digested; compares in constant time.
    package func matches(_ passphrase: [UInt8]) throws(CryptoFault) -> Bool {
        let other = try Self.digest(passphrase, salt: salt)
        return unsafe CRYPTO_memcmp(digest, other, Self.count) == 0
    }

    /// EVP_PBE_scrypt_ex(3).
    private static func digest(
        _ passphrase: [UInt8], salt: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        let library = try Library.instance()
        var digest = [UInt8](repeating: 0, count: count)
        // HMAC, of which scrypt is made, fills short keys with zeros: without a last byte, a passphrase
        // would equal itself with zeros after it.
        var whole = passphrase + [1]
        defer { wipe(&whole) }
        let result = unsafe whole.withUnsafeBytes { bytes in
            let text = unsafe bytes.bindMemory(to: CChar.self)
            return unsafe EVP_PBE_scrypt_ex(
                text.baseAddress, text.count, salt, salt.count, cost.n, cost.r, cost.p, memory,
                &digest, count, library.context, nil)
        }
        try require(result, operation: "EVP_PBE_scrypt_ex")
        return digest
    }
}
