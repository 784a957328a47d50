// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginProtocol

/// Conversion of C strings.
enum CString {
    /// Copies the bytes before the NUL.
    static func bytes(_ text: UnsafePointer<CChar>) -> Bytes {
        let length = unsafe strlen(text)
        return unsafe Bytes(UnsafeRawBufferPointer(start: text, count: length))
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes as a C string; C sees nothing after an embedded NUL.
    // SAFETY: the pointer is valid during the call; what the body does with it is marked there.
    @safe func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe body(ended)
    }

    // Never inlined: one copy in the module's code is enough.
    private var ended: [CChar] {
        @inline(never) get { map { CChar(bitPattern: $0) } + [0] }
    }
}
