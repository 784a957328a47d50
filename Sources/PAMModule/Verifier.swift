// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import ModuleOptions
import SignedFormats

/// Checks ECDSA signatures of one P-256 public key with libcrypto, opened for the purpose.
///
/// ECDSA_do_verify(3) decides; EVP would fetch providers for 2 million instructions more. What it
/// may add to the application's queue of errors is taken off again.
// SAFETY: the library stays open, and the key stays whole, as long as the value lives.
@safe struct Verifier: ~Copyable {
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

    /// Opens the library and reads the key; nil where either cannot be used.
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

    /// Opens libcrypto; with RTLD_NOLOAD only if the application has it already.
    ///
    /// Where it has not, no openssl.cnf is read: neither that file nor the environment that names
    /// another may have a say in what verifies.
    private static func load(_ further: Int32) -> UnsafeMutableRawPointer? {
        let name: StaticString = "libcrypto.so.3"
        return name.bytes.withCString { unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL | further) }
    }

    /// Whether a signature is the key's own over a statement's text.
    borrowing func verifies(_ signature: SSHSignature, of statement: Bytes) -> Bool {
        guard let inner = digest(statement),
            let outer = digest(
                SSHSignature.signedData(namespace: signature.namespace, messageDigest: inner))
        else { return false }
        return holds(r: signature.r, s: signature.s, over: outer)
    }

    /// Takes the key's point; false unless it lies on the curve.
    private borrowing func reads(_ key: SSHPublicKey) -> Bool {
        _ = libcrypto.markErrors()
        defer { _ = libcrypto.forgetErrors() }
        return unsafe libcrypto.readKey(self.key, key.point, key.point.count, nil) == 1
    }

    /// Checks a signature that is none: what that needs is then in memory when a real one comes.
    private borrowing func warmUp() {
        let one = Bytes(repeating: 0, count: 31) + [1]
        _ = holds(r: one, s: one, over: one)
    }

    /// Whether two numbers are the key's signature over a digest; ECDSA_do_verify(3).
    private borrowing func holds(r: Bytes, s: Bytes, over digest: Bytes) -> Bool {
        _ = libcrypto.markErrors()
        defer { _ = libcrypto.forgetErrors() }
        guard let signature = unsafe libcrypto.newSignature() else { return false }
        defer { unsafe libcrypto.freeSignature(signature) }
        let first = unsafe libcrypto.readNumber(r, Int32(r.count), nil)
        let second = unsafe libcrypto.readNumber(s, Int32(s.count), nil)
        // The signature takes both numbers over, or neither.
        guard unsafe libcrypto.setSignature(signature, first, second) == 1 else {
            unsafe libcrypto.freeNumber(first)
            unsafe libcrypto.freeNumber(second)
            return false
        }
        return unsafe libcrypto.verify(digest, Int32(digest.count), signature, key) == 1
    }

    /// SHA-256 of this process's whole command line; nil where it cannot be read.
    borrowing func digestOfCommandLine() -> Bytes? {
        guard let file = ProgramCall.openOfThisProcess() else { return nil }
        var part = file.beginning(cap: ProgramCall.longestBeginning)
        guard !part.isEmpty else { return nil }
        return digest {
            defer { part = part.isEmpty ? [] : file.beginning(cap: ProgramCall.longestBeginning) }
            return part
        }
    }

    private borrowing func digest(_ text: Bytes) -> Bytes? {
        var rest = text
        return digest {
            defer { rest = [] }
            return rest
        }
    }

    /// SHA-256 of all parts, up to an empty one.
    private borrowing func digest(_ next: () -> Bytes) -> Bytes? {
        // SHA256_CTX is 112 bytes.
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
