import CPAMModule

/// Checks ECDSA signatures of one P-256 public key with libcrypto, opened for the purpose.
///
/// The points and numbers of <openssl/ec.h> and <bn.h> are used as they are: EVP and EC_KEY both
/// read openssl.cnf first, and so do what the application's environment says. Nothing that a
/// signature can be makes a function fail, so the application's queue of errors stays as it is.
// SAFETY: the library stays open, and what was made stays whole, as long as the value lives.
@safe struct Verifier: ~Copyable {
    private let library: UnsafeMutableRawPointer
    private let libcrypto: Libcrypto
    private let group: OpaquePointer
    private let point: OpaquePointer?
    private let scratch: OpaquePointer?

    private init(
        library: UnsafeMutableRawPointer, libcrypto: Libcrypto, group: OpaquePointer,
        point: OpaquePointer?, scratch: OpaquePointer?
    ) {
        unsafe self.library = library
        self.libcrypto = libcrypto
        unsafe self.group = group
        unsafe self.point = point
        unsafe self.scratch = scratch
    }

    deinit {
        unsafe libcrypto.freeScratch(scratch)
        unsafe libcrypto.freePoint(point)
        unsafe libcrypto.freeGroup(group)
        _ = unsafe dlclose(library)
    }

    /// Opens the library and reads the key; nil where either cannot be used.
    static func open(_ key: SSHPublicKey) -> Verifier? {
        let name: StaticString = "libcrypto.so.3"
        let opened = name.bytes.withCString { unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL) }
        guard let library = unsafe opened else { return nil }
        guard let libcrypto = unsafe Libcrypto(of: library),
            let group = unsafe libcrypto.newGroup(Libcrypto.curve)
        else {
            _ = unsafe dlclose(library)
            return nil
        }
        let verifier = unsafe Verifier(
            library: library, libcrypto: libcrypto, group: group,
            point: libcrypto.newPoint(group), scratch: libcrypto.newScratch())
        guard verifier.reads(key) else { return nil }
        verifier.warmUp(key)
        return verifier
    }

    /// Takes the key's point; false unless it lies on the curve.
    private borrowing func reads(_ key: SSHPublicKey) -> Bool {
        guard unsafe point != nil, unsafe scratch != nil else { return false }
        return unsafe libcrypto.readPoint(group, point, key.point, key.point.count, scratch) == 1
    }

    /// Computes some multiple of the generator: the code is then in memory when it is needed, and
    /// the answer to a touch comes 30 µs sooner.
    private borrowing func warmUp(_ key: SSHPublicKey) {
        guard let scalar = digest(key.point), let sum = unsafe libcrypto.newPoint(group) else {
            return
        }
        defer { unsafe libcrypto.freePoint(sum) }
        unsafe libcrypto.beginNumbers(scratch)
        defer { unsafe libcrypto.endNumbers(scratch) }
        guard let u = unsafe libcrypto.number(scratch), let x = unsafe libcrypto.number(scratch),
            unsafe libcrypto.read(scalar, Int32(scalar.count), u) != nil
        else { return }
        _ = unsafe libcrypto.combine(group, sum, u, nil, nil, scratch)
        _ = unsafe libcrypto.coordinates(group, sum, x, nil, scratch)
    }

    /// Whether a signature is the key's own over a statement's text.
    borrowing func verifies(_ signature: SSHSignature, of statement: Bytes) -> Bool {
        guard let inner = digest(statement),
            let outer = digest(
                SSHSignature.signedData(namespace: signature.namespace, messageDigest: inner)),
            let sum = unsafe libcrypto.newPoint(group)
        else { return false }
        defer { unsafe libcrypto.freePoint(sum) }
        unsafe libcrypto.beginNumbers(scratch)
        defer { unsafe libcrypto.endNumbers(scratch) }
        return unsafe holds(signature, outer, sum)
    }

    /// FIPS 186-5, section 6.4.2; there is nothing secret here.
    private borrowing func holds(
        _ signature: SSHSignature, _ digest: Bytes, _ sum: OpaquePointer
    ) -> Bool {
        // BN_CTX_get gives nil from its first failure on, so the last one tells of all.
        guard let r = unsafe libcrypto.number(scratch), let s = unsafe libcrypto.number(scratch),
            let e = unsafe libcrypto.number(scratch), let x = unsafe libcrypto.number(scratch),
            let order = unsafe libcrypto.order(group),
            unsafe libcrypto.read(signature.r, Int32(signature.r.count), r) != nil,
            unsafe libcrypto.read(signature.s, Int32(signature.s.count), s) != nil,
            unsafe libcrypto.read(digest, Int32(digest.count), e) != nil
        else { return false }
        // 1. Both numbers lie in 1 to order - 1.
        guard unsafe libcrypto.isZero(r) == 0, unsafe libcrypto.compare(r, order) < 0,
            unsafe libcrypto.isZero(s) == 0, unsafe libcrypto.compare(s, order) < 0
        else { return false }
        // 2. u = e / s, v = r / s; they take the places of e and s.
        guard unsafe libcrypto.invert(s, s, order, scratch) != nil,
            unsafe libcrypto.multiply(e, e, s, order, scratch) == 1,
            unsafe libcrypto.multiply(s, r, s, order, scratch) == 1
        else { return false }
        // 3. The sum u * generator + v * key is not infinity, and its x is r.
        guard unsafe libcrypto.combine(group, sum, e, point, s, scratch) == 1,
            unsafe libcrypto.isInfinity(group, sum) == 0,
            unsafe libcrypto.coordinates(group, sum, x, nil, scratch) == 1,
            unsafe libcrypto.reduce(x, x, order, scratch) == 1
        else { return false }
        return unsafe libcrypto.compare(x, r) == 0
    }

    /// SHA-256.
    private borrowing func digest(_ text: Bytes) -> Bytes? {
        // SHA256_CTX is 112 bytes.
        var state = InlineArray<32, UInt64>(repeating: 0)
        var digest = Bytes(repeating: 0, count: 32)
        let libcrypto = libcrypto
        let done = unsafe withUnsafeMutableBytes(of: &state) { state in
            unsafe libcrypto.beginDigest(state.baseAddress) == 1
                && libcrypto.extendDigest(state.baseAddress, text, text.count) == 1
                && libcrypto.endDigest(&digest, state.baseAddress) == 1
        }
        return done ? digest : nil
    }
}
