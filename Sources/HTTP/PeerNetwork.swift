// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a client is, as far as limits tell clients apart: an IPv4 address, or the first 64 bits of
/// an IPv6 address, for whoever has one of these has all of them (RFC 6177).
///
/// All that is no address is one place. The size is the same whatever was sent.
package struct PeerNetwork: Hashable, Sendable {
    private enum Family: UInt8 {
        case none, four, six
    }

    private let family: Family
    private let bits: UInt64

    /// From an address without a port, as `HTTPRequest.peer` has it or a proxy tells it.
    package init(_ address: String) {
        // The longest form of an address, and the name of an interface behind it.
        let plain = address.utf8.count <= 80 ? String(address.prefix { $0 != "%" }) : ""
        var four = in_addr()
        if unsafe inet_pton(AF_INET, plain, &four) == 1 {
            self.init(.four, UInt64(UInt32(bigEndian: four.s_addr)))
            return
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, plain, &six) == 1 else {
            self.init(.none, 0)
            return
        }
        let (high, low) = unsafe withUnsafeBytes(of: six) { bytes in
            (
                UInt64(bigEndian: unsafe bytes.load(as: UInt64.self)),
                UInt64(bigEndian: unsafe bytes.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // ::ffff:0:0/96 is IPv4 in other words (RFC 4291, section 2.5.5.2).
        if high == 0, low >> 32 == 0xffff {
            self.init(.four, low & 0xffff_ffff)
        } else {
            self.init(.six, high)
        }
    }

    /// Nine bytes that tell it from all others, to be kept.
    package var bytes: [UInt8] {
        [family.rawValue] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }

    /// What lies around it: 256 addresses of IPv4, or the 32 bits that are the least a provider
    /// has of IPv6: one who rents a machine may have 65,536 networks of 64 bits within them.
    package var surroundings: PeerNetwork {
        switch family {
        case .none: self
        case .four: PeerNetwork(.four, bits & 0xffff_ff00)
        case .six: PeerNetwork(.six, bits & 0xffff_ffff_0000_0000)
        }
    }

    private init(_ family: Family, _ bits: UInt64) {
        self.family = family
        self.bits = bits
    }
}
