// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Posix

/// One encryption or decryption with AES-256-GCM; EVP_CIPHER_CTX(3).
///
/// The steps must be called in this order: `authenticate`, `transform`, and then for an encryption
/// `finish` and `tag`, or for a decryption `expect` and `finish`. Decrypted bytes must not be used
/// before `finish` has returned 1.
// SAFETY: the pointer is never given out; made in `init`, freed once, in `deinit`.
@safe struct CipherContext: ~Copyable {
    private let context: OpaquePointer

    /// Starts the operation.
    ///
    /// The key must have 32 bytes and the nonce 12, the cipher's default; neither is checked here.
    init(key: SecretBytes, nonce: [UInt8], encrypting: Bool) throws(CryptoFault) {
        let library = try Library.instance()
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw .library(operation: "EVP_CIPHER_CTX_new")
        }
        let direction: Int32 = encrypting ? 1 : 0
        let result = key.withBytes { span in
            unsafe span.withUnsafeBytes { key in
                unsafe EVP_CipherInit_ex2(
                    context, library.aes256gcm,
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce, direction, nil)
            }
        }
        guard result == 1 else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw .library(operation: "EVP_CipherInit_ex2")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Adds data that is authenticated but not encrypted; EVP_CipherUpdate(3) without output.
    borrowing func authenticate(_ additional: [UInt8]) throws(CryptoFault) {
        guard let count = Int32(exactly: additional.count) else { throw .length }
        var done: Int32 = 0
        try require(
            unsafe EVP_CipherUpdate(context, nil, &done, additional, count),
            operation: "EVP_CipherUpdate")
    }

    /// Encrypts or decrypts all bytes at once into a target of the same length; returns 1 on
    /// success.
    borrowing func transform(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        // Without a target address, OpenSSL would treat the source as additional data.
        guard let from = source.baseAddress, let to = target.baseAddress,
            source.count > 0
        else { return source.count == 0 ? 1 : 0 }
        guard target.count == source.count, let count = Int32(exactly: source.count) else {
            return 0
        }
        var done: Int32 = 0
        let result = unsafe EVP_CipherUpdate(
            context, to.assumingMemoryBound(to: UInt8.self), &done,
            from.assumingMemoryBound(to: UInt8.self), count)
        return done == count ? result : 0
    }

    /// Finishes the operation; returns 1 on success, and when decrypting only if the tag is valid.
    borrowing func finish() -> Int32 {
        var rest = [UInt8](repeating: 0, count: 16)
        var done: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, &rest, &done)
    }

    /// Returns the tag of a finished encryption.
    borrowing func tag(_ count: Int) throws(CryptoFault) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: count)
        let result = unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_GET_TAG, Int32(count), &tag)
        try require(result, operation: "EVP_CIPHER_CTX_ctrl")
        return tag
    }

    /// Sets the tag that a decryption must have; call it before `finish`.
    borrowing func expect(tag: [UInt8]) throws(CryptoFault) {
        var tag = tag
        let result = unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag)
        try require(result, operation: "EVP_CIPHER_CTX_ctrl")
    }
}
