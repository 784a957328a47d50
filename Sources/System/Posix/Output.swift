// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes a line to standard error, and ignores failures; write(2).
package func complain(_ line: String) {
    writeAll(Array((line + "\n").utf8), to: 2)
}

/// Writes all bytes, write(2); returns false if writing fails.
@discardableResult
package func writeAll(_ bytes: [UInt8], to number: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { buffer in
            retryingInterrupted { unsafe write(number, buffer.baseAddress, buffer.count) }
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Opens /dev/null in place of those of standard input, output and error that are closed.
///
/// Otherwise a file that is opened later would get the number of one of them. Reading or writing
/// the placeholder fails. Call this at the start of `main`, before anything is opened; open(2).
///
/// - Returns: false if a descriptor could not be opened.
package func fillStandardDescriptors() -> Bool {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
        // It is opened for the wrong direction, so that using it fails; open(2) returns the lowest
        // free number.
        let direction = number == 0 ? O_WRONLY : O_RDONLY
        guard unsafe open("/dev/null", direction) == number else { return false }
    }
    return true
}
