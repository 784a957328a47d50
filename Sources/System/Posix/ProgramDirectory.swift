// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns the directory of the running program, from /proc/self/exe; readlink(2).
///
/// It is empty if the kernel does not report it, so that no file is found in it.
package func programDirectory() -> String {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = unsafe path.withUnsafeMutableBytes { bytes -> Int in
        guard let start = bytes.baseAddress else { return -1 }
        return unsafe readlink("/proc/self/exe", start, bytes.count)
    }
    guard length > 0, length < path.count else { return "" }
    let program = path[..<length]
    guard let slash = program.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: program[..<slash], as: UTF8.self)
}
