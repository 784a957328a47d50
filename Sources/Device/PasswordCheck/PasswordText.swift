// SPDX-License-Identifier: Apache-2.0
import CPAM
import Glibc
import Posix

/// A password in locked memory, which is overwritten before it is freed.
///
/// It has 0 to 1024 bytes without NUL, as PAM takes it as a C string.
final class PasswordText {
    /// The maximum length of a password in bytes.
    static let limit = 1024

    /// The stream could not be read, or memory could not be locked.
    ///
    /// Holds the errno.
    struct Unreadable: Error {
        let code: Int32
    }

    /// The password, followed by at least one NUL.
    private let bytes: SecretBytes

    private init(_ bytes: SecretBytes) {
        self.bytes = bytes
    }

    /// Reads to the end of the stream.
    ///
    /// Returns nil if the password is too long or contains a NUL.
    static func read(from descriptor: Int32) throws(Unreadable) -> PasswordText? {
        do throws(SystemFault) {
            var reading = Reading.tooLong
            // One byte more to detect a password that is too long, and one for the terminator.
            let bytes = try SecretBytes(count: limit + 2) { span in
                reading = unsafe span.withUnsafeMutableBytes { memory in
                    unsafe fill(memory, from: descriptor)
                }
            }
            switch reading {
            case .ended(let count):
                let hasNUL = bytes.withBytes { span in
                    unsafe span.withUnsafeBytes { unsafe $0.prefix(count).contains(0) }
                }
                return hasNUL ? nil : PasswordText(bytes)
            case .tooLong: return nil
            case .failed(let code): throw SystemFault("read", code: code)
            }
        } catch {
            throw Unreadable(code: error.code)
        }
    }

    /// Returns a NUL-terminated copy on the C heap, which libpam overwrites and frees; nil without
    /// memory.
    func duplicate() -> UnsafeMutablePointer<CChar>? {
        unsafe bytes.withBytes { span in
            unsafe span.withUnsafeBytes { memory in
                guard let start = memory.baseAddress else { return nil }
                return unsafe strdup(start.assumingMemoryBound(to: CChar.self))
            }
        }
    }

    private enum Reading {
        case ended(count: Int)
        case tooLong
        case failed(Int32)
    }

    private static func fill(
        _ memory: UnsafeMutableRawBufferPointer, from descriptor: Int32
    ) -> Reading {
        var count = 0
        while count <= limit {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...limit])
            let got = unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { return .failed(errno) }
            guard got > 0 else { return .ended(count: count) }
            count += got
        }
        return .tooLong
    }
}
