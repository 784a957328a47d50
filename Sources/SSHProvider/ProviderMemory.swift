// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats

// The answers in the memory that OpenSSH frees with free(3): each a block of its own.

/// Copies bytes into a new block; nil if there is no memory.
///
/// An empty value still has a block, because OpenSSH takes a null pointer for a missing one.
private func block(_ bytes: Bytes) -> UnsafeMutablePointer<UInt8>? {
    guard let raw = unsafe calloc(1, bytes.count + 1) else { return nil }
    let start = unsafe raw.assumingMemoryBound(to: UInt8.self)
    for index in bytes.indices { unsafe start[index] = bytes[index] }
    return unsafe start
}

extension sk_enroll_response {
    /// Fills the answer for a key; false if there is no memory, and then nothing must be freed.
    mutating func fill(_ key: SSHKeyContent, flags: UInt8) -> Bool {
        unsafe self.flags = flags
        let point = key.publicKey.bytes
        let handle = key.handle.bytes
        unsafe public_key = block(point)
        unsafe public_key_len = point.count
        unsafe key_handle = block(handle)
        unsafe key_handle_len = handle.count
        // There is no attestation; older versions want a signature all the same.
        unsafe signature = block([])
        guard unsafe public_key != nil, unsafe key_handle != nil, unsafe signature != nil else {
            unsafe release()
            return false
        }
        return true
    }

    /// Frees what `fill` has allocated.
    mutating func release() {
        unsafe free(public_key)
        unsafe free(key_handle)
        unsafe free(signature)
        unsafe (public_key, key_handle, signature) = (nil, nil, nil)
    }
}

extension UnsafeMutablePointer<sk_enroll_response> {
    /// A new answer for a key.
    static func answering(
        _ key: SSHKeyContent, flags: UInt8
    ) throws(ProviderFault) -> UnsafeMutablePointer<sk_enroll_response> {
        guard let raw = unsafe calloc(1, MemoryLayout<sk_enroll_response>.size) else {
            throw .memory
        }
        let response = unsafe raw.assumingMemoryBound(to: sk_enroll_response.self)
        guard unsafe response.pointee.fill(key, flags: flags) else {
            unsafe free(raw)
            throw .memory
        }
        return unsafe response
    }
}

extension UnsafeMutablePointer<sk_sign_response> {
    /// A new answer for a signature.
    static func answering(
        _ signature: SSHSignatureAnswer
    ) throws(ProviderFault) -> UnsafeMutablePointer<sk_sign_response> {
        guard signature.numbers.count == 64 else { throw .untrusted }
        guard let raw = unsafe calloc(1, MemoryLayout<sk_sign_response>.size) else {
            throw .memory
        }
        let response = unsafe raw.assumingMemoryBound(to: sk_sign_response.self)
        unsafe response.pointee.flags = signature.flags
        unsafe response.pointee.counter = signature.counter
        unsafe response.pointee.sig_r = block(Bytes(signature.numbers.prefix(32)))
        unsafe response.pointee.sig_r_len = 32
        unsafe response.pointee.sig_s = block(Bytes(signature.numbers.suffix(32)))
        unsafe response.pointee.sig_s_len = 32
        guard unsafe response.pointee.sig_r != nil, unsafe response.pointee.sig_s != nil else {
            unsafe free(response.pointee.sig_r)
            unsafe free(response.pointee.sig_s)
            unsafe free(raw)
            throw .memory
        }
        return unsafe response
    }
}

extension UnsafeMutablePointer<sk_resident_key> {
    /// A new entry of a list; nil if there is no memory.
    private static func entry(
        _ key: SSHKeyContent, slot: Int, flags: UInt8
    ) -> UnsafeMutablePointer<sk_resident_key>? {
        guard let raw = unsafe calloc(1, MemoryLayout<sk_resident_key>.size) else { return nil }
        let entry = unsafe raw.assumingMemoryBound(to: sk_resident_key.self)
        unsafe entry.pointee.alg = UInt32(SIGNET_SK_ECDSA)
        unsafe entry.pointee.slot = slot
        unsafe entry.pointee.flags = flags
        guard unsafe entry.pointee.key.fill(key, flags: flags) else {
            unsafe free(raw)
            return nil
        }
        // A block is one byte longer than its contents, so it ends with NUL.
        unsafe entry.pointee.application = block(key.application.bytes).map {
            unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self)
        }
        unsafe entry.pointee.user_id = block(key.name.bytes)
        unsafe entry.pointee.user_id_len = key.name.bytes.count
        guard unsafe entry.pointee.application != nil, unsafe entry.pointee.user_id != nil else {
            unsafe entry.release()
            return nil
        }
        return unsafe entry
    }

    /// Frees an entry with all of its blocks.
    private func release() {
        unsafe pointee.key.release()
        unsafe free(pointee.application)
        unsafe free(pointee.user_id)
        unsafe free(self)
    }

    /// A new list of entries; nil for no keys.
    static func list(
        _ keys: [SSHKeyContent], flags: UInt8
    ) throws(ProviderFault)
        -> UnsafeMutablePointer<UnsafeMutablePointer<sk_resident_key>?>?
    {
        typealias Entry = UnsafeMutablePointer<sk_resident_key>?
        guard !keys.isEmpty else { return nil }
        guard let raw = unsafe calloc(keys.count, MemoryLayout<Entry>.size) else { throw .memory }
        let list = unsafe raw.assumingMemoryBound(to: Entry.self)
        for index in keys.indices {
            unsafe list[index] = entry(keys[index], slot: index, flags: flags)
            guard unsafe list[index] == nil else { continue }
            for former in 0..<index { unsafe list[former]?.release() }
            unsafe free(raw)
            throw .memory
        }
        return unsafe list
    }
}
