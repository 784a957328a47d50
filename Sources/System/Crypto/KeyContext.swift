// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An OpenSSL context that is initialised for one operation with one key.
///
/// A key reuses it, because creating one takes a tenth of the time of a verification. The key must
/// outlive it, and only one thread may use it at a time.
// SAFETY: the thread that takes it out of its key's mutex has exclusive use of it; freed once, in
// `deinit`.
@safe final class KeyContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Creates a context for the operation that `begin` starts; nil if the library fails.
    init?(_ key: OpaquePointer, library: Library, _ begin: (OpaquePointer) -> Int32) {
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
