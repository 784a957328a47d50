// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A port of this machine that answers no attempt to connect, as if the network lost the packets.
///
/// Its queue of connections is full, and Linux drops the packets of further ones.
package final class SilentPort: Sendable {
    /// The port's number.
    package let number: UInt16
    private let sockets: [Int32]

    /// Opens the port on 127.0.0.1, and fills its queue.
    package init() throws(TestFault) {
        // The queue holds one; attempts after that wait for an answer, and get none.
        sockets = (0..<3).map { _ in
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let sockets = sockets
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard unsafe bind(sockets[0], pointer, size) == 0, listen(sockets[0], 0) == 0,
                    unsafe getsockname(sockets[0], pointer, &size) == 0
                else { return false }
                for client in sockets.dropFirst() {
                    _ = fcntl(client, F_SETFL, O_NONBLOCK)
                    _ = unsafe connect(client, pointer, size)
                }
                return true
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        guard isListening else {
            throw .system(call: "listen", subject: "127.0.0.1", code: errno)
        }
    }

    deinit { for socket in sockets { close(socket) } }
}
