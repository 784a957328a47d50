// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// Serialises the checks, because each of them briefly takes the resources that it looks for.
private let looking = Mutex<Void>(())

/// Whether the process can currently get `count` more descriptors and one more thread.
///
/// It tries to get them: eventfd(2), pthread_create(3). So the result also depends on how much
/// other processes use of the machine's limits.
package func hasHeadroom(forDescriptors count: Int) -> Bool {
    looking.withLock { _ in
        do throws(SystemFault) {
            var taken: [Event] = []
            for _ in 0..<count { taken.append(try Event()) }
            try onThread {}
            return true
        } catch { return false }
    }
}

/// Whether a UDP socket could be connected now, over each address family that the machine has.
///
/// A DNS lookup takes a UDP port, and any account could take all of them; udp(7). The check neither
/// calls bind(2), which a unit may forbid (`SocketBindDeny=`), nor sends anything: connect(2) takes
/// the port before it looks for a route.
package func hasDatagramPort() -> Bool {
    let addresses = ["127.0.0.1", "::1"]
    return addresses.allSatisfy { ![EAGAIN, ENOBUFS, ENOMEM].contains(connectDatagram(to: $0)) }
}

/// Whether IPv6 is disabled on this machine (`net.ipv6.conf.all.disable_ipv6`).
///
/// connect(2) then fails as if no port were free, unlike on a machine that merely has no IPv6
/// route.
package func isIPv6Off() -> Bool {
    // An address reserved for documentation, which no host has; RFC 3849.
    connectDatagram(to: "2001:db8::1") == EADDRNOTAVAIL
}

/// Connects a UDP socket to a numeric address; returns 0 or the `errno` of connect(2).
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
    // A machine without this address family does not use it for lookups.
    guard number >= 0 else { return errno == EAFNOSUPPORT ? 0 : errno }
    let probe = Descriptor(adopting: number)
    let code = unsafe connect(probe.number, found.pointee.ai_addr, found.pointee.ai_addrlen)
    return code == 0 ? 0 : errno
}
