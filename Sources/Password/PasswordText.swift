import CPAM
import Glibc

/// A password in memory that is overwritten before it is freed.
// SAFETY: the memory is private, allocated once for the object's life, and indexed within it.
@safe final class PasswordText {
    /// Bytes that a password may have.
    static let limit = 1024

    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    private init() {
        // One byte to tell an over-long password, one for the terminator that strdup wants.
        unsafe memory = .allocate(capacity: Self.limit + 2)
        unsafe memory.initialize(repeating: 0)
    }

    deinit {
        if let start = unsafe memory.baseAddress { unsafe explicit_bzero(start, memory.count) }
        unsafe memory.deallocate()
    }

    /// The stream could not be read, with the errno.
    struct Unreadable: Error {
        let code: Int32
    }

    /// Reads to the end of the stream: nil when that is over-long or holds a NUL.
    static func read(from descriptor: Int32) throws(Unreadable) -> PasswordText? {
        let text = PasswordText()
        while text.count <= limit {
            let space = unsafe UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(text.memory)[text.count...limit])
            let got = unsafe Glibc.read(descriptor, space.baseAddress, space.count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Unreadable(code: errno) }
            guard got > 0 else {
                let hasNUL = unsafe text.memory[..<text.count].contains(0)
                return hasNUL ? nil : text
            }
            text.count += got
        }
        return nil
    }

    /// A copy on C's heap, terminated, which libpam overwrites and frees; nil without memory.
    func duplicate() -> UnsafeMutablePointer<CChar>? {
        unsafe memory.withMemoryRebound(to: CChar.self) { characters in
            guard let start = characters.baseAddress else { return nil }
            return unsafe strdup(start)
        }
    }
}
