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
package func hasDatagramPort() -> Bool {
    [AF_INET, AF_INET6].allSatisfy { family in
        let number = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return errno == EAFNOSUPPORT }
        let probe = Descriptor(adopting: number)
        // All zeros: any address, and any port that is free.
        var address = sockaddr_storage()
        address.ss_family = sa_family_t(family)
        let length =
            family == AF_INET
            ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        let code = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(probe.number, address, socklen_t(length))
            }
        }
        return code == 0 || errno == EADDRNOTAVAIL
    }
}
