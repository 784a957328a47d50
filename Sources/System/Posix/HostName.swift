// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns the machine's name as the kernel has it, at most 64 bytes; empty if it cannot be read.
///
/// gethostname(2). The administrator may have set any bytes.
package func hostName() -> [UInt8] {
    // HOST_NAME_MAX is 64; a terminating NUL fits as well, so the name is never cut.
    let count = 65
    var bytes = [CChar](repeating: 0, count: count)
    guard unsafe gethostname(&bytes, count) == 0 else { return [] }
    return bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
}
