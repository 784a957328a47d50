// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A socket that somebody is going to connect.
package struct OutgoingSocket: ~Copyable {
    /// The socket, with a port of its own where one is to be had; nil where there is none.
    package let descriptor: Descriptor?
    /// Whether this machine had no descriptor, port or memory left for it. Without a port of its own it
    /// can share another connection's, if that goes elsewhere: then connect(2) does all the same.
    package let isExhausted: Bool

    /// Opens one for IPv4 or IPv6 (socket(2)) and takes a port for it (bind(2)), as connect(2) would: there
    /// one that is not to be had looks like other troubles, and of several addresses only the last one's
    /// is told.
    package init(family: Int32, type: Int32, protocol: Int32) {
        let number = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard number >= 0 else {
            // Nor is it want where this machine has no such addresses.
            isExhausted = Self.isWant(errno)
            descriptor = nil
            return
        }
        let opened = Descriptor(adopting: number)
        // All zeros: any address, and any port that is free.
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

    /// Gives the socket away; nil where there is none.
    package consuming func release() -> Int32? {
        switch consume descriptor {
        case .some(let descriptor): descriptor.release()
        case nil: nil
        }
    }

    private static func isWant(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRINUSE].contains(code)
    }
}
