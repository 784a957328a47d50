// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes a line to standard error, as far as that takes it; write(2).
package func complain(_ line: String) {
    writeAll(Array((line + "\n").utf8), to: 2)
}

/// Writes everything, or gives up, and says so, where nobody takes it any more; write(2).
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

/// Takes up what is closed of standard input, output and error, so that nothing that is opened later
/// is taken for one of them: what is read or written there fails. False where that cannot be done.
///
/// For the start of `main`, before anything is opened; open(2).
package func fillStandardDescriptors() -> Bool {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
        // Open the wrong way round; the lowest number that is free is given.
        let direction = number == 0 ? O_WRONLY : O_RDONLY
        guard unsafe open("/dev/null", direction) == number else { return false }
    }
    return true
}
