// SPDX-License-Identifier: Apache-2.0

/// A block of addresses as administrators write it: `10.0.0.0/8` or `fd00:1::/48`.
///
/// Unlike a `NetworkPrefix`, which groups clients, it can be as small as one address. Each family's
/// blocks contain only addresses of that family: `0.0.0.0/0` contains no IPv4-mapped IPv6 address.
package struct AddressBlock: Hashable, Sendable {
    private let address: InternetAddress
    /// How many bits of the address belong to the prefix.
    package let length: Int

    /// Parses an address, a slash and a number of one to three digits.
    package init(_ text: String) throws(NetworkPrefixFault) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...3).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]),
            let address = InternetAddress(String(parts[0]))
        else { throw .malformed }
        guard length <= 8 * address.bytes.count else { throw .length }
        guard Self.isZero(address.bytes, after: length) else { throw .hostBits }
        self.address = address
        self.length = length
    }

    /// Whether it contains an address.
    package func contains(_ other: InternetAddress) -> Bool {
        other.isIPv6 == address.isIPv6
            && Self.isZero(zip(address.bytes, other.bytes).map { $0 ^ $1 }, before: length)
    }

    private static func isZero(_ bytes: [UInt8], before length: Int) -> Bool {
        bytes.enumerated().allSatisfy { place, byte in
            byte & mask(ofByte: place, length: length) == 0
        }
    }

    private static func isZero(_ bytes: [UInt8], after length: Int) -> Bool {
        bytes.enumerated().allSatisfy { place, byte in
            byte & ~mask(ofByte: place, length: length) == 0
        }
    }

    /// The bits of a byte that belong to a prefix of this length.
    private static func mask(ofByte place: Int, length: Int) -> UInt8 {
        let bits = min(8, max(0, length - 8 * place))
        return bits == 0 ? 0 : 0xff << UInt8(8 - bits)
    }
}
