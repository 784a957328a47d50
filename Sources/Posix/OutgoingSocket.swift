import CLinux
import Glibc

/// A socket that somebody is going to connect.
package enum OutgoingSocket: ~Copyable {
    /// It is there, with a port of its own where that may be taken.
    case open(Descriptor)
    /// This machine has no descriptor, port or memory left for it.
    case exhausted
    /// It cannot be had for another reason, as for a family of addresses that this machine has not.
    case refused

    /// Opens one for IPv4 or IPv6 (socket(2)) and takes a port for it (bind(2)), as connect(2) would: there
    /// one that is not to be had looks like other troubles, and of several addresses only the last one's
    /// is told.
    package init(family: Int32, type: Int32, protocol: Int32) {
        let number = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard number >= 0 else {
            self = Self.isWant(errno) ? .exhausted : .refused
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
        if code != 0 && Self.isWant(errno) {
            self = .exhausted
        } else {
            // Where it may not be bound, connect(2) takes the port.
            self = .open(opened)
        }
    }

    private static func isWant(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRINUSE].contains(code)
    }
}
