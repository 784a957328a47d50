// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// One looks at a time: what it takes for that moment is not to be missed by another.
private let looking = Mutex<Void>(())

/// Whether this process can have so many more descriptors now, and one more thread; eventfd(2),
/// pthread_create(3). What other processes have taken of the machine's counts as well.
package func hasRoom(forDescriptors count: Int) -> Bool {
    looking.withLock { _ in
        do throws(SystemFault) {
            var taken: [Event] = []
            for _ in 0..<count { taken.append(try Event()) }
            try onThread {}
            return true
        } catch { return false }
    }
}

/// Whether a datagram could be sent now, of each family of addresses that this machine has: a look-up of
/// a name takes a port for it, and any account may take all that there are; udp(7).
///
/// Nothing is bound, which a unit may forbid (`SocketBindDeny=`), and nothing is sent: connect(2) takes
/// the port before it looks for a way.
package func hasDatagramPort() -> Bool {
    let addresses = ["127.0.0.1", "::1"]
    return addresses.allSatisfy { ![EAGAIN, ENOBUFS, ENOMEM].contains(connectDatagram(to: $0)) }
}

/// Whether IPv6 is switched off on this machine (`net.ipv6.conf.all.disable_ipv6`), which is told from
/// one that leads nowhere. Then connect(2) fails as if no port were left.
package func isIPv6Off() -> Bool {
    // An address that nobody has; RFC 3849.
    connectDatagram(to: "2001:db8::1") == EADDRNOTAVAIL
}

/// What it comes to when a datagram socket is connected to a numeric address: 0, or connect(2)'s `errno`.
private func connectDatagram(to address: String) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(address, "53", &hints, &found) == 0, let found = unsafe found
    else { return ENOMEM }
    defer { unsafe freeaddrinfo(found) }
    let flags = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let number = unsafe socket(found.pointee.ai_family, flags, 0)
    // Without the family no look-up wants a port of it.
    guard number >= 0 else { return errno == EAFNOSUPPORT ? 0 : errno }
    let probe = Descriptor(adopting: number)
    let code = unsafe connect(probe.number, found.pointee.ai_addr, found.pointee.ai_addrlen)
    return code == 0 ? 0 : errno
}
