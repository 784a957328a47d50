// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An address of IPv4 or IPv6, without a port and without an interface.
///
/// An IPv4-mapped IPv6 address stays one of IPv6, and is equal to no IPv4 address.
package struct InternetAddress: Hashable, Sendable {
    /// The address in network order: 4 bytes for IPv4, 16 for IPv6.
    package let bytes: [UInt8]

    /// Whether it is an address of IPv6.
    package var isIPv6: Bool { bytes.count == 16 }

    /// Creates an address from 4 or 16 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses four decimal numbers, or an IPv6 address without brackets; inet_pton(3).
    ///
    /// Nil for the other forms that programs take for addresses, such as `127.1` and `0x7f000001`.
    package init?(_ text: String) {
        // inet_pton(3) would ignore everything after a NUL byte.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        for family in [AF_INET, AF_INET6] {
            var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
            guard unsafe inet_pton(family, text, &bytes) != 1 else {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// The canonical text, without brackets; inet_ntop(3).
    package var text: String {
        var text = [CChar](repeating: 0, count: 46)
        guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self)
    }

    /// Whether this machine has the address itself, on any of its interfaces.
    ///
    /// A socket can be bound only to such an address; bind(2). This needs no netlink socket, which a
    /// unit may forbid. Where `ip_nonlocal_bind` permits binding to any address, or a unit forbids
    /// binding at all, the address that the kernel would connect from decides, since packets to
    /// oneself come from oneself.
    package var isOfThisMachine: Bool {
        switch bindFault {
        case 0: !isForeignBindable || isOwnSource
        case EADDRNOTAVAIL: false
        default: isOwnSource
        }
    }

    private var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// The `errno` of binding a socket to the address; 0 if it can be bound.
    private var bindFault: Int32 {
        guard let probe = datagramSocket() else { return EAFNOSUPPORT }
        let code = unsafe withSocketAddress { unsafe bind(probe.number, $0, $1) }
        return code == 0 ? 0 : errno
    }

    /// Whether a socket can be bound to an address that no machine has; RFC 5737, RFC 3849.
    private var isForeignBindable: Bool {
        InternetAddress(isIPv6 ? "2001:db8::1" : "192.0.2.1")?.bindFault == 0
    }

    private var isOwnSource: Bool {
        guard let probe = datagramSocket(),
            unsafe withSocketAddress({ unsafe connect(probe.number, $0, $1) }) == 0
        else { return false }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(probe.number, $0, &length)
            }
        }
        return code == 0 && InternetAddress(storage) == self
    }

    private func datagramSocket() -> Descriptor? {
        let number = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        return number >= 0 ? Descriptor(adopting: number) : nil
    }

    private func withSocketAddress(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(family)
        let offset = Self.offset(isIPv6: isIPv6)
        unsafe withUnsafeMutableBytes(of: &storage) { raw in
            for (place, byte) in bytes.enumerated() { unsafe raw[offset + place] = byte }
        }
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        return unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(length))
            }
        }
    }

    /// Reads the address of a socket address; nil for other families.
    fileprivate init?(_ storage: sockaddr_storage) {
        let isIPv6 = Int32(storage.ss_family) == AF_INET6
        guard isIPv6 || Int32(storage.ss_family) == AF_INET else { return nil }
        let offset = Self.offset(isIPv6: isIPv6)
        bytes = unsafe withUnsafeBytes(of: storage) { raw in
            unsafe Array(raw[offset..<(offset + (isIPv6 ? 16 : 4))])
        }
    }

    /// Where the address begins in a `sockaddr_in` or `sockaddr_in6`.
    private static func offset(isIPv6: Bool) -> Int { isIPv6 ? 8 : 4 }
}

/// Why a host name has no addresses; gai_strerror(3).
package struct ResolutionFault: Error, Equatable, Sendable {
    /// The reason, one line without a full stop.
    package let reason: String

    /// Describes why a name could not be resolved.
    package init(reason: String) { self.reason = reason }
}

/// Returns the addresses of a host name or numeric address, in the order of preference, each once;
/// getaddrinfo(3).
///
/// It blocks the thread for as long as the resolver takes.
package func addresses(ofHost name: String) throws(ResolutionFault) -> [InternetAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, nil, &hints, &found)
    guard code == 0 else {
        throw ResolutionFault(reason: unsafe String(cString: gai_strerror(code)))
    }
    defer { unsafe freeaddrinfo(found) }
    var addresses: [InternetAddress] = []
    var next = unsafe found
    while let entry = unsafe next {
        unsafe next = entry.pointee.ai_next
        guard let address = unsafe entry.pointee.ai_addr else { continue }
        var storage = sockaddr_storage()
        let length = min(
            Int(unsafe entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { raw in
            unsafe raw.copyMemory(from: UnsafeRawBufferPointer(start: address, count: length))
        }
        if let address = InternetAddress(storage), !addresses.contains(address) {
            addresses.append(address)
        }
    }
    return addresses
}
