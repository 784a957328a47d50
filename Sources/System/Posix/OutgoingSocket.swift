// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A socket that is about to be connected to a server.
///
/// It is created separately from connect(2) so that a lack of local resources can be distinguished
/// from an unreachable server.
package struct OutgoingSocket: ~Copyable {
    /// The socket, bound to a local port if one was free; nil if it could not be created.
    package let descriptor: Descriptor?
    /// Whether the machine had no descriptor, port or memory for the socket.
    ///
    /// A socket without its own port can share the port of a connection to another address, so
    /// connect(2) may still succeed.
    package let isExhausted: Bool

    /// Creates a socket for IPv4 or IPv6 (socket(2)) and takes a local port for it (bind(2)).
    ///
    /// connect(2) would take the port itself, but it does not report a lack of ports distinctly,
    /// and for a name with several addresses only the last error is reported.
    package init(family: Int32, type: Int32, protocol: Int32) {
        let number = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard number >= 0 else {
            // An address family that this machine does not support is no lack of resources.
            isExhausted = Self.isWant(errno)
            descriptor = nil
            return
        }
        let opened = Descriptor(adopting: number)
        // All zeros: any address and any free port.
        var address = sockaddr_storage()
        address.ss_family = sa_family_t(family)
        let length =
            family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        let code = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(opened.number, address, socklen_t(length))
            }
        }
        isExhausted = code != 0 && Self.isWant(errno)
        descriptor = consume opened
    }

    /// Gives up ownership of the socket; nil if there is none.
    package consuming func release() -> Int32? {
        switch consume descriptor {
        case .some(let descriptor): descriptor.release()
        case nil: nil
        }
    }

    /// What no other socket has that is open at the same time (fstat(2)); nil for no descriptor.
    package static func identity(_ number: Int32) -> UInt64? {
        var status = stat()
        return unsafe fstat(number, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Whether a descriptor is still the socket with this identity, and connected to a peer
    /// (getpeername(2)).
    package static func isConnected(_ number: Int32, identity: UInt64) -> Bool {
        guard self.identity(number) == identity else { return false }
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getpeername(number, address, &length) == 0
            }
        }
    }

    private static func isWant(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRINUSE].contains(code)
    }
}
