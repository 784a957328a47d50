// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// The functions of libcrypto that a verification uses, looked up in a loaded library.
///
/// Their types are those of <openssl/ec.h>, <bn.h>, <sha.h> and <err.h> in OpenSSL 3.
// SAFETY: the caller that opened the library keeps it open as long as a function may be called.
@safe struct Libcrypto {
    /// NID_X9_62_prime256v1
    static let curve: Int32 = 415

    /// OPENSSL_INIT_NO_LOAD_CONFIG
    static let noConfiguration: UInt64 = 0x80

    typealias Pointer = OpaquePointer

    let initialise: @convention(c) (UInt64, Pointer?) -> Int32

    let newKey: @convention(c) (Int32) -> Pointer?
    let freeKey: @convention(c) (Pointer?) -> Void
    let readKey: @convention(c) (Pointer?, UnsafePointer<UInt8>?, Int, Pointer?) -> Int32
    let newSignature: @convention(c) () -> Pointer?
    let freeSignature: @convention(c) (Pointer?) -> Void
    let setSignature: @convention(c) (Pointer?, Pointer?, Pointer?) -> Int32
    let readNumber: @convention(c) (UnsafePointer<UInt8>?, Int32, Pointer?) -> Pointer?
    let freeNumber: @convention(c) (Pointer?) -> Void
    let verify: @convention(c) (UnsafePointer<UInt8>?, Int32, Pointer?, Pointer?) -> Int32
    let beginDigest: @convention(c) (UnsafeMutableRawPointer?) -> Int32
    let extendDigest: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Int32
    let endDigest: @convention(c) (UnsafeMutablePointer<UInt8>?, UnsafeMutableRawPointer?) -> Int32
    let markErrors: @convention(c) () -> Int32
    let forgetErrors: @convention(c) () -> Int32

    /// Looks up every function with dlsym(3); returns nil if one is missing.
    init?(of library: UnsafeMutableRawPointer) {
        guard
            let initialise = unsafe dlsym(library, "OPENSSL_init_crypto"),
            let newKey = unsafe dlsym(library, "EC_KEY_new_by_curve_name"),
            let freeKey = unsafe dlsym(library, "EC_KEY_free"),
            let readKey = unsafe dlsym(library, "EC_KEY_oct2key"),
            let newSignature = unsafe dlsym(library, "ECDSA_SIG_new"),
            let freeSignature = unsafe dlsym(library, "ECDSA_SIG_free"),
            let setSignature = unsafe dlsym(library, "ECDSA_SIG_set0"),
            let readNumber = unsafe dlsym(library, "BN_bin2bn"),
            let freeNumber = unsafe dlsym(library, "BN_free"),
            let verify = unsafe dlsym(library, "ECDSA_do_verify"),
            let beginDigest = unsafe dlsym(library, "SHA256_Init"),
            let extendDigest = unsafe dlsym(library, "SHA256_Update"),
            let endDigest = unsafe dlsym(library, "SHA256_Final"),
            let markErrors = unsafe dlsym(library, "ERR_set_mark"),
            let forgetErrors = unsafe dlsym(library, "ERR_pop_to_mark")
        else { return nil }
        // SAFETY: each type is the one that the function's header declares.
        unsafe self.initialise = unsafeBitCast(initialise, to: type(of: self.initialise))
        unsafe self.newKey = unsafeBitCast(newKey, to: type(of: self.newKey))
        unsafe self.freeKey = unsafeBitCast(freeKey, to: type(of: self.freeKey))
        unsafe self.readKey = unsafeBitCast(readKey, to: type(of: self.readKey))
        unsafe self.newSignature = unsafeBitCast(newSignature, to: type(of: self.newSignature))
        unsafe self.freeSignature = unsafeBitCast(freeSignature, to: type(of: self.freeSignature))
        unsafe self.setSignature = unsafeBitCast(setSignature, to: type(of: self.setSignature))
        unsafe self.readNumber = unsafeBitCast(readNumber, to: type(of: self.readNumber))
        unsafe self.freeNumber = unsafeBitCast(freeNumber, to: type(of: self.freeNumber))
        unsafe self.verify = unsafeBitCast(verify, to: type(of: self.verify))
        unsafe self.beginDigest = unsafeBitCast(beginDigest, to: type(of: self.beginDigest))
        unsafe self.extendDigest = unsafeBitCast(extendDigest, to: type(of: self.extendDigest))
        unsafe self.endDigest = unsafeBitCast(endDigest, to: type(of: self.endDigest))
        unsafe self.markErrors = unsafeBitCast(markErrors, to: type(of: self.markErrors))
        unsafe self.forgetErrors = unsafeBitCast(forgetErrors, to: type(of: self.forgetErrors))
    }
}
