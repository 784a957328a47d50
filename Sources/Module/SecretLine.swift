// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol

/// A password that was typed or sent, 1 to 1,023 bytes without NUL.
///
/// It lies in one allocation, which is never moved and is wiped when the value is destroyed. The
/// value cannot be copied; `withCString` and `withSpan` only lend its bytes.
// SAFETY: the memory is allocated by init, freed by deinit, and never leaves the value.
@safe struct SecretLine: ~Copyable {
    private let bytes: UnsafeMutableRawBufferPointer
    private var count = 0

    /// Allocates room for the longest password and its line terminator.
    init() {
        unsafe bytes = .allocate(byteCount: Limit.password + 1, alignment: 1)
    }

    /// Copies a text; if it is longer than any password, the value stays empty.
    init(copying text: Span<UInt8>) {
        self.init()
        guard text.count <= Limit.password else { return }
        for index in text.indices { unsafe bytes[index] = text[index] }
        count = text.count
    }

    deinit {
        guard let start = unsafe bytes.baseAddress else { return }
        unsafe explicit_bzero(start, bytes.count)
        unsafe bytes.deallocate()
    }

    /// Reads a line from a terminal, without its LF. Returns the result of read(2).
    mutating func read(from terminal: Int32) -> Int {
        let length = unsafe CPAMModule.read(terminal, bytes.baseAddress, bytes.count)
        count = max(0, length)
        if count > 0, unsafe bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        return length
    }

    /// Whether it can be a password: neither empty nor too long, and without NUL.
    var isPassword: Bool {
        guard count > 0, unsafe count < bytes.count, let start = unsafe bytes.baseAddress else {
            return false
        }
        return unsafe memchr(start, 0, count) == nil
    }

    /// Calls `body` with the line as a C string; returns PAM_BUF_ERR if it cannot be a password.
    // SAFETY: the pointer is valid during the call; what the body does with it is marked there.
    @safe mutating func withCString(_ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
        guard isPassword, let start = unsafe bytes.baseAddress else { return PAM_BUF_ERR }
        unsafe bytes[count] = 0
        return unsafe body(start.assumingMemoryBound(to: CChar.self))
    }

    /// Calls `body` with the line's bytes.
    func withSpan<Result>(
        _ body: (Span<UInt8>) throws(WireFault) -> Result
    ) throws(WireFault) -> Result {
        let line = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
        return try body(unsafe Span(_bytes: line.bytes))
    }
}
