// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("A network's prefix")
struct NetworkPrefixTests {
    @Test(
        "contains the addresses that begin with it, and no others",
        arguments: [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.128/25", "192.0.2.128", "192.0.2.127"),
            ("192.0.2.7/32", "192.0.2.7", "192.0.2.6"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("2001:db8:0:4::/62", "2001:db8:0:7::1", "2001:db8:0:8::1"),
            ("2001:db8::/64", "2001:db8::ffff:0:0:1", "2001:db8:0:1::1"),
            ("192.0.2.0/24", "::ffff:192.0.2.1", "::192.0.2.1"),
            ("0.0.0.0/0", "255.255.255.255", "::1"), ("::/0", "ffff::", "0.0.0.0"),
            ("0.0.0.0/0", "192.0.2.1", "no address"),
        ])
    func contents(prefix: String, inside: String, outside: String) throws {
        let network = try NetworkPrefix(prefix)
        #expect(network.contains(PeerNetwork(inside)))
        #expect(!network.contains(PeerNetwork(outside)))
    }

    @Test(
        "is refused unless it is an address, a slash and a length, with zeros after it",
        arguments: [
            ("", .malformed), ("192.0.2.0", .malformed), ("192.0.2.0/", .malformed),
            ("/24", .malformed), ("192.0.2/24", .malformed), ("192.0.2.0/24/8", .malformed),
            ("192.0.2.0/+8", .malformed), ("192.0.2.0/ 8", .malformed),
            ("192.0.2.0/1234", .malformed), ("fe80::%1/64", .malformed), ("office/24", .malformed),
            ("::ffff:192.0.2.0/120", .malformed), ("192.0.2.0/33", .length),
            ("2001:db8::/65", .length), ("2001:db8::/128", .length),
            ("192.0.2.1/24", .hostBits), ("1.0.0.0/0", .hostBits),
            ("2001:db8:1::/32", .hostBits), ("2001:db8::1/64", .hostBits),
        ] as [(String, NetworkPrefixFault)])
    func refused(text: String, fault: NetworkPrefixFault) {
        #expect(throws: fault) { try NetworkPrefix(text) }
    }
}
