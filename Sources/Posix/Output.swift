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
