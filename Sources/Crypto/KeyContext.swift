// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A context that is ready for one operation with one key, which outlives it: to make it takes a
/// tenth of a verification.
// SAFETY: whoever takes it out of its key's mutex has it alone; freed once, in `deinit`.
@safe final class KeyContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// For the operation that `begin` begins; nil where the library cannot make one.
    init?(_ key: OpaquePointer, _ library: Library, _ begin: (OpaquePointer) -> Int32) {
        guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(library.context, key, nil) else {
            return nil
        }
        guard unsafe begin(made) == 1 else {
            unsafe EVP_PKEY_CTX_free(made)
            return nil
        }
        unsafe pointer = made
    }

    deinit { unsafe EVP_PKEY_CTX_free(pointer) }
}
