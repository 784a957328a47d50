// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Returns random bytes from the kernel; getrandom(2), which blocks only early in boot.
package func randomBytes(_ count: Int) throws(SystemFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let filled = unsafe bytes.withUnsafeMutableBytes { unsafe fillRandom($0) }
    guard filled else { throw SystemFault.current("getrandom") }
    return bytes
}

/// Fills a buffer with random bytes from the kernel.
///
/// On failure it returns false and leaves `errno` set.
func fillRandom(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var rest = unsafe buffer[...]
    while unsafe !rest.isEmpty {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: rest)
        let got = retryingInterrupted { unsafe getrandom(part.baseAddress, part.count, 0) }
        guard got > 0 else { return false }
        unsafe rest = rest.dropFirst(got)
    }
    return true
}
