// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The ports that this process has given, of its part of those below the range from which the kernel
/// takes ports by itself: a port that is free there may be another program's a moment later.
private let given = Atomic<Int>(0)

/// A port of 127.0.0.1 that no program listens on, and that no other test gets.
package func freePort() throws(TestFault) -> UInt16 {
    let (first, parts, size) = (20_000, 24, 500)
    for _ in 0..<size {
        let number = given.add(1, ordering: .relaxed).oldValue % size
        let port = UInt16(first + Int(getpid()) % parts * size + number)
        if isFree(port) { return port }
    }
    throw .closed(awaited: "a port", transcript: "")
}

private func isFree(_ port: UInt16) -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            unsafe bind(file, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
