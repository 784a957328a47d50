// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginProtocol
import ModuleOptions
import SignedFormats

/// Verifies ECDSA signatures of one P-256 public key, with libcrypto loaded by dlopen(3).
///
/// The module is not linked with libcrypto: `open` loads it when a login needs it, and destroying
/// the value closes it again. ECDSA_do_verify(3) is used because EVP would fetch providers first,
/// which costs 2 million instructions more. Entries that libcrypto adds to the application's error
/// queue are removed again.
// SAFETY: the library stays loaded, and the key stays valid, as long as the value lives.
@safe final class Verifier {
    private let library: UnsafeMutableRawPointer
    private let libcrypto: Libcrypto
    private let key: OpaquePointer

    private init(library: UnsafeMutableRawPointer, libcrypto: Libcrypto, key: OpaquePointer) {
        unsafe self.library = library
        self.libcrypto = libcrypto
        unsafe self.key = key
    }

    deinit {
        unsafe libcrypto.freeKey(key)
        _ = unsafe dlclose(library)
    }

    /// Loads the library and the key; returns nil if either cannot be used.
    static func open(_ key: SSHPublicKey) -> Verifier? {
        let theirs = unsafe load(RTLD_NOLOAD)
        let isOurs = unsafe theirs == nil
        if let theirs = unsafe theirs { _ = unsafe dlclose(theirs) }
        guard let library = unsafe load(0) else { return nil }
        guard let libcrypto = unsafe Libcrypto(of: library),
            !isOurs || libcrypto.initialise(Libcrypto.noConfiguration, nil) == 1,
            let empty = unsafe libcrypto.newKey(Libcrypto.curve)
        else {
            _ = unsafe dlclose(library)
            return nil
        }
        let verifier = unsafe Verifier(library: library, libcrypto: libcrypto, key: empty)
        guard verifier.reads(key) else { return nil }
        verifier.warmUp()
        return verifier
    }

    /// Loads libcrypto; with RTLD_NOLOAD only if the application has loaded it already.
    ///
    /// If the application has not, `open` initialises it without openssl.cnf: neither that file nor
    /// the environment variables that name another may influence the verification.
    private static func load(_ further: Int32) -> UnsafeMutableRawPointer? {
        let name: StaticString = "libcrypto.so.3"
        return name.bytes.withCString { unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL | further) }
    }

    /// Whether a signature was made by the key over a statement's text; PROTOCOL.sshsig.
    func verifies(_ signature: SSHSignature, of statement: Bytes) -> Bool {
        guard let inner = digest(statement),
            let outer = digest(
                SSHSignature.signedData(namespace: signature.namespace, messageDigest: inner))
        else { return false }
        return holds(r: signature.r, s: signature.s, over: outer)
    }

    /// Loads the key's point; returns false unless it lies on the curve.
    private func reads(_ key: SSHPublicKey) -> Bool {
        _ = libcrypto.markErrors()
        defer { _ = libcrypto.forgetErrors() }
        return unsafe libcrypto.readKey(self.key, key.point.bytes, PublicKeyPoint.count, nil) == 1
    }

    /// Verifies an invalid signature, so that the code needed for a real one is already in memory.
    private func warmUp() {
        let one = Bytes(repeating: 0, count: 31) + [1]
        _ = holds(r: one, s: one, over: one)
    }

    /// Whether r and s are the key's signature over a digest; ECDSA_do_verify(3).
    func holds(r: Bytes, s: Bytes, over digest: Bytes) -> Bool {
        _ = libcrypto.markErrors()
        defer { _ = libcrypto.forgetErrors() }
        guard let signature = unsafe libcrypto.newSignature() else { return false }
        defer { unsafe libcrypto.freeSignature(signature) }
        let first = unsafe libcrypto.readNumber(r, Int32(r.count), nil)
        let second = unsafe libcrypto.readNumber(s, Int32(s.count), nil)
        // ECDSA_SIG_set0 takes ownership of both numbers, or of neither.
        guard unsafe libcrypto.setSignature(signature, first, second) == 1 else {
            unsafe libcrypto.freeNumber(first)
            unsafe libcrypto.freeNumber(second)
            return false
        }
        return unsafe libcrypto.verify(digest, Int32(digest.count), signature, key) == 1
    }

    private func digest(_ text: Bytes) -> Bytes? {
        var rest = text
        return digest {
            defer { rest = [] }
            return rest
        }
    }

    /// Returns the SHA-256 of the concatenated parts; `next` returns an empty part at the end.
    func digest(_ next: () -> Bytes) -> Bytes? {
        // SHA256_CTX is 112 bytes; this is larger.
        var state = InlineArray<32, UInt64>(repeating: 0)
        var digest = Bytes(repeating: 0, count: 32)
        let libcrypto = libcrypto
        let done = unsafe withUnsafeMutableBytes(of: &state) { state in
            guard unsafe libcrypto.beginDigest(state.baseAddress) == 1 else { return false }
            while true {
                let part = next()
                if part.isEmpty { break }
                let isTaken =
                    unsafe libcrypto.extendDigest(state.baseAddress, part, part.count) == 1
                guard isTaken else { return false }
            }
            return unsafe libcrypto.endDigest(&digest, state.baseAddress) == 1
        }
        return done ? digest : nil
    }
}
