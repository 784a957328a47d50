// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("The network of a client")
struct PeerNetworkTests {
    @Test(
        "is one for all addresses that one client may have",
        arguments: [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"),
            ("2001:DB8:1:2::1", "2001:db8:1:2::2"), ("fe80::1%eth0", "fe80::2%eth1"),
            ("192.0.2.1", "::ffff:192.0.2.1"), ("192.0.2.1", "::ffff:c000:201"),
        ])
    func same(first: String, second: String) {
        #expect(PeerNetwork(first) == PeerNetwork(second))
    }

    @Test(
        "is another for another's addresses",
        arguments: [
            ("2001:db8:1:2::1", "2001:db8:1:3::1"), ("192.0.2.1", "192.0.2.2"),
            ("0.0.0.0", "::"), ("192.0.2.1", "::c000:201"), ("192.0.2.1", "unknown"),
        ])
    func other(first: String, second: String) {
        #expect(PeerNetwork(first) != PeerNetwork(second))
    }

    @Test("has a numeric address, and no name, port or interface")
    func addresses() {
        for text in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "::"] {
            #expect(PeerNetwork.isAddress(text), "\(text)")
        }
        for text in [
            "", "localhost", "192.0.2.1:80", "[::1]", "fe80::1%eth0", "192.0.2.1%eth0", "1.2.3",
            "192.0.2.1 ", "192.0.2.1\0", String(repeating: "1", count: 10_000),
        ] {
            #expect(!PeerNetwork.isAddress(text), "\(text.prefix(20))")
        }
    }

    @Test("is one for everything that is not an address")
    func none() {
        let long = String(repeating: "1", count: 10_000)
        for text in ["unknown", "192.0.2.1:80", "[::1]", "1.2.3", "::1::", "192.0.2.1 ", long] {
            #expect(PeerNetwork(text) == PeerNetwork(""), "\(text.prefix(20))")
        }
    }
}
