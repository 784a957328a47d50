// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The network of a client, by which limits are counted.
///
/// It is an IPv4 address, or the first 64 bits of an IPv6 address, because a client that has one
/// address of such a network has all of them (RFC 6177). All texts that are not addresses count as
/// one network. The value has a fixed size for any text.
package struct PeerNetwork: Hashable, Sendable {
    enum Family: UInt8 {
        case none, four, six
    }

    let family: Family
    /// The IPv4 address, or the first 64 bits of the IPv6 address.
    let bits: UInt64

    /// Whether a text is a numeric address of IPv4 or IPv6, without a port or an interface.
    package static func isAddress(_ text: String) -> Bool {
        // inet_pton(3) would ignore everything after a NUL byte.
        text.utf8.allSatisfy { isHexadecimalDigit($0) || $0 == 0x2e || $0 == 0x3a }
            && PeerNetwork(text).family != .none
    }

    /// Whether an IPv6 address has only zeros after its first 64 bits; true for IPv4.
    static func hasOnlyPrefix(_ address: String) -> Bool {
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, address, &six) == 1 else { return true }
        return unsafe withUnsafeBytes(of: six) { bytes in
            unsafe bytes.load(fromByteOffset: 8, as: UInt64.self) == 0
        }
    }

    /// Parses an address without a port, as a socket or a proxy reports it.
    ///
    /// An interface name after `%` is ignored. An IPv4-mapped IPv6 address counts as the IPv4
    /// address.
    package init(_ address: String) {
        // The longest address with an interface name after it fits.
        let plain = address.utf8.count <= 80 ? String(address.prefix { $0 != "%" }) : ""
        var four = in_addr()
        if unsafe inet_pton(AF_INET, plain, &four) == 1 {
            self.init(.four, bits: UInt64(UInt32(bigEndian: four.s_addr)))
            return
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, plain, &six) == 1 else {
            self.init(.none, bits: 0)
            return
        }
        let (high, low) = unsafe withUnsafeBytes(of: six) { bytes in
            (
                UInt64(bigEndian: unsafe bytes.load(as: UInt64.self)),
                UInt64(bigEndian: unsafe bytes.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // ::ffff:0:0/96 contains IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
        if high == 0, low >> 32 == 0xffff {
            self.init(.four, bits: low & 0xffff_ffff)
        } else {
            self.init(.six, bits: high)
        }
    }

    /// An encoding in nine bytes for storage, which is different for each network.
    package var bytes: [UInt8] {
        [family.rawValue] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }

    /// The surrounding network: 256 IPv4 addresses, or the first 32 bits of an IPv6 address.
    ///
    /// 32 bits are the least that a provider gets. A customer who rents one machine may have 65,536
    /// of its networks of 64 bits.
    package var surroundings: PeerNetwork {
        switch family {
        case .none: self
        case .four: PeerNetwork(.four, bits: bits & 0xffff_ff00)
        case .six: PeerNetwork(.six, bits: bits & 0xffff_ffff_0000_0000)
        }
    }

    /// The first 48 bits of an IPv6 address, which is what one site gets (RFC 6177); nil for IPv4.
    ///
    /// The value is equal to the network of 64 bits whose other bits are zero: do not mix them.
    package var site: PeerNetwork? {
        switch family {
        case .none, .four: nil
        case .six: PeerNetwork(.six, bits: bits & 0xffff_ffff_ffff_0000)
        }
    }

    private static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private init(_ family: Family, bits: UInt64) {
        self.family = family
        self.bits = bits
    }
}
