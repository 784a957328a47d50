import Glibc

/// Writes a line to standard error, as far as that takes it; write(2).
package func complain(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}
