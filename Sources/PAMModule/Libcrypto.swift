import CPAMModule

/// The functions of libcrypto that a verification needs, found in an opened library.
///
/// Their types are those of <openssl/ec.h>, <bn.h> and <sha.h>, of OpenSSL 3.
// SAFETY: whoever opened the library keeps it open as long as a function may be called.
@safe struct Libcrypto {
    /// NID_X9_62_prime256v1
    static let curve: Int32 = 415

    typealias Pointer = OpaquePointer

    let newGroup: @convention(c) (Int32) -> Pointer?
    let freeGroup: @convention(c) (Pointer?) -> Void
    let order: @convention(c) (Pointer?) -> Pointer?
    let newPoint: @convention(c) (Pointer?) -> Pointer?
    let freePoint: @convention(c) (Pointer?) -> Void
    let readPoint:
        @convention(c) (Pointer?, Pointer?, UnsafePointer<UInt8>?, Int, Pointer?) -> Int32
    let combine:
        @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?, Pointer?, Pointer?) -> Int32
    let coordinates: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?, Pointer?) -> Int32
    let isInfinity: @convention(c) (Pointer?, Pointer?) -> Int32
    let newScratch: @convention(c) () -> Pointer?
    let freeScratch: @convention(c) (Pointer?) -> Void
    let beginNumbers: @convention(c) (Pointer?) -> Void
    let number: @convention(c) (Pointer?) -> Pointer?
    let endNumbers: @convention(c) (Pointer?) -> Void
    let read: @convention(c) (UnsafePointer<UInt8>?, Int32, Pointer?) -> Pointer?
    let compare: @convention(c) (Pointer?, Pointer?) -> Int32
    let isZero: @convention(c) (Pointer?) -> Int32
    let invert: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?) -> Pointer?
    let multiply: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?, Pointer?) -> Int32
    let reduce: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?) -> Int32
    let beginDigest: @convention(c) (UnsafeMutableRawPointer?) -> Int32
    let extendDigest: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Int32
    let endDigest: @convention(c) (UnsafeMutablePointer<UInt8>?, UnsafeMutableRawPointer?) -> Int32

    /// Finds them all; nil if one is missing.
    init?(of library: UnsafeMutableRawPointer) {
        guard
            let newGroup = unsafe dlsym(library, "EC_GROUP_new_by_curve_name"),
            let freeGroup = unsafe dlsym(library, "EC_GROUP_free"),
            let order = unsafe dlsym(library, "EC_GROUP_get0_order"),
            let newPoint = unsafe dlsym(library, "EC_POINT_new"),
            let freePoint = unsafe dlsym(library, "EC_POINT_free"),
            let readPoint = unsafe dlsym(library, "EC_POINT_oct2point"),
            let combine = unsafe dlsym(library, "EC_POINT_mul"),
            let coordinates = unsafe dlsym(library, "EC_POINT_get_affine_coordinates"),
            let newScratch = unsafe dlsym(library, "BN_CTX_new"),
            let freeScratch = unsafe dlsym(library, "BN_CTX_free"),
            let beginNumbers = unsafe dlsym(library, "BN_CTX_start"),
            let number = unsafe dlsym(library, "BN_CTX_get"),
            let endNumbers = unsafe dlsym(library, "BN_CTX_end"),
            let read = unsafe dlsym(library, "BN_bin2bn"),
            let compare = unsafe dlsym(library, "BN_cmp"),
            let isZero = unsafe dlsym(library, "BN_is_zero"),
            let invert = unsafe dlsym(library, "BN_mod_inverse"),
            let multiply = unsafe dlsym(library, "BN_mod_mul"),
            let reduce = unsafe dlsym(library, "BN_nnmod"),
            let beginDigest = unsafe dlsym(library, "SHA256_Init"),
            let extendDigest = unsafe dlsym(library, "SHA256_Update"),
            let endDigest = unsafe dlsym(library, "SHA256_Final"),
            let isInfinity = unsafe dlsym(library, "EC_POINT_is_at_infinity")
        else { return nil }
        // SAFETY: each type is the one that the function's header declares.
        unsafe self.newGroup = unsafeBitCast(newGroup, to: type(of: self.newGroup))
        unsafe self.freeGroup = unsafeBitCast(freeGroup, to: type(of: self.freeGroup))
        unsafe self.order = unsafeBitCast(order, to: type(of: self.order))
        unsafe self.newPoint = unsafeBitCast(newPoint, to: type(of: self.newPoint))
        unsafe self.freePoint = unsafeBitCast(freePoint, to: type(of: self.freePoint))
        unsafe self.readPoint = unsafeBitCast(readPoint, to: type(of: self.readPoint))
        unsafe self.combine = unsafeBitCast(combine, to: type(of: self.combine))
        unsafe self.coordinates = unsafeBitCast(coordinates, to: type(of: self.coordinates))
        unsafe self.newScratch = unsafeBitCast(newScratch, to: type(of: self.newScratch))
        unsafe self.freeScratch = unsafeBitCast(freeScratch, to: type(of: self.freeScratch))
        unsafe self.beginNumbers = unsafeBitCast(beginNumbers, to: type(of: self.beginNumbers))
        unsafe self.number = unsafeBitCast(number, to: type(of: self.number))
        unsafe self.endNumbers = unsafeBitCast(endNumbers, to: type(of: self.endNumbers))
        unsafe self.read = unsafeBitCast(read, to: type(of: self.read))
        unsafe self.compare = unsafeBitCast(compare, to: type(of: self.compare))
        unsafe self.isZero = unsafeBitCast(isZero, to: type(of: self.isZero))
        unsafe self.invert = unsafeBitCast(invert, to: type(of: self.invert))
        unsafe self.multiply = unsafeBitCast(multiply, to: type(of: self.multiply))
        unsafe self.reduce = unsafeBitCast(reduce, to: type(of: self.reduce))
        unsafe self.beginDigest = unsafeBitCast(beginDigest, to: type(of: self.beginDigest))
        unsafe self.extendDigest = unsafeBitCast(extendDigest, to: type(of: self.extendDigest))
        unsafe self.endDigest = unsafeBitCast(endDigest, to: type(of: self.endDigest))
        unsafe self.isInfinity = unsafeBitCast(isInfinity, to: type(of: self.isInfinity))
    }
}
