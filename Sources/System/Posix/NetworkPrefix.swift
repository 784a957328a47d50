// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a `NetworkPrefix`.
package enum NetworkPrefixFault: Error, Equatable {
    /// It is not a numeric address, a slash and a number.
    case malformed
    /// The number is above 32 for IPv4, or above 64 for IPv6.
    case length
    /// The address has bits after the prefix.
    case hostBits
}

/// A network as administrators write it: `192.0.2.0/24` or `2001:db8::/32`.
///
/// Prefixes of IPv6 have at most 64 bits, because a `PeerNetwork` has no more.
package struct NetworkPrefix: Hashable, Sendable {
    private let network: PeerNetwork
    /// How many bits of the address belong to the prefix.
    package let length: Int

    /// Whether it is a network of IPv6.
    package var isIPv6: Bool { network.family == .six }

    /// Parses an address, a slash and a number of one or two digits.
    package init(_ text: String) throws(NetworkPrefixFault) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...3).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]),
            PeerNetwork.isAddress(String(parts[0]))
        else { throw .malformed }
        let network = PeerNetwork(String(parts[0]))
        // An IPv4-mapped address would count as IPv4, and its number would not fit.
        guard (network.family == .four) == !parts[0].utf8.contains(UInt8(ascii: ":")) else {
            throw .malformed
        }
        guard length <= Self.width(of: network) else { throw .length }
        guard PeerNetwork.hasOnlyPrefix(String(parts[0])),
            network.bits & ~Self.mask(length, of: network) == 0
        else { throw .hostBits }
        self.network = network
        self.length = length
    }

    /// Whether an address's network lies in this one.
    package func contains(_ other: PeerNetwork) -> Bool {
        other.family == network.family
            && other.bits & Self.mask(length, of: network) == network.bits
    }

    private static func width(of network: PeerNetwork) -> Int { network.family == .six ? 64 : 32 }

    private static func mask(_ length: Int, of network: PeerNetwork) -> UInt64 {
        let all: UInt64 = network.family == .six ? .max : 0xffff_ffff
        return length == 0 ? 0 : all & ~(all >> UInt64(length))
    }
}
