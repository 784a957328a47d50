// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("Addresses of the Internet")
struct InternetAddressTests {
    @Test(
        "are read in the forms that all programs take for the same address",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::1", "::1"),
            ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ])
    func forms(given: String, text: String) {
        #expect(InternetAddress(given)?.text == text)
    }

    @Test(
        "are not read in any other form",
        arguments: [
            "", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "1.2.3", "1.2.3.4.5",
            "1.2.3.256",
            "1.2.3.4 ", " 1.2.3.4", "[::1]", "::1%lo", ":::", "1.2.3.4\u{0}", "localhost",
            String(repeating: "1", count: 100),
        ])
    func otherForms(given: String) {
        #expect(InternetAddress(given) == nil)
    }

    @Test("keep IPv4 apart from IPv6 that contains it")
    func mapped() throws {
        #expect(InternetAddress("::ffff:127.0.0.1") != InternetAddress("127.0.0.1"))
        #expect(InternetAddress(bytes: [127, 0, 0, 1]) == InternetAddress("127.0.0.1"))
        #expect(InternetAddress(bytes: [127, 0, 0]) == nil)
        #expect(InternetAddress(bytes: []) == nil)
    }

    @Test("of this machine are known as such, and no others")
    func own() throws {
        for text in ["127.0.0.1", "127.8.9.10", "0.0.0.0"] {
            #expect(try #require(InternetAddress(text)).isOfThisMachine, "\(text)")
        }
        for text in ["192.0.2.1", "198.51.100.7", "2001:db8::1"] {
            #expect(try !#require(InternetAddress(text)).isOfThisMachine, "\(text)")
        }
    }

    @Test("are what a name stands for, and a name without one has a fault")
    func resolution() throws {
        let found = try addresses(ofHost: "localhost")
        #expect(found.contains { $0.text == "127.0.0.1" || $0.text == "::1" })
        #expect(Set(found).count == found.count)
        #expect(try addresses(ofHost: "127.1") == [#require(InternetAddress("127.0.0.1"))])
        #expect(throws: ResolutionFault.self) { try addresses(ofHost: "no such name") }
    }
}

@Suite("Blocks of addresses")
struct AddressBlockTests {
    @Test(
        "contain the addresses with their prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("192.0.2.128/25", "192.0.2.128", "192.0.2.127"),
            ("192.0.2.1/32", "192.0.2.1", "192.0.2.2"), ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("fd00:1::/48", "fd00:1:0:ffff::1", "fd00:1:1::1"),
            ("::/0", "::ffff:1.2.3.4", "1.2.3.4"),
            ("2000::/3", "3fff:ffff::1", "4000::"), ("fd00::5/128", "fd00::5", "fd00::4"),
        ])
    func containing(block: String, inside: String, outside: String) throws {
        let block = try AddressBlock(block)
        #expect(block.contains(try #require(InternetAddress(inside))))
        #expect(!block.contains(try #require(InternetAddress(outside))))
    }

    @Test(
        "are refused if they are not written as a network",
        arguments: [
            ("10.0.0.0", NetworkPrefixFault.malformed), ("10.0.0.0/", .malformed),
            ("10.0.0.0/8/8", .malformed), ("10.0.0.0/-1", .malformed), ("10/8", .malformed),
            ("fd00::/0x8", .malformed), ("10.0.0.0/1000", .malformed), ("10.0.0.0/33", .length),
            ("fd00::/129", .length), ("10.0.0.1/8", .hostBits), ("fd00::1/64", .hostBits),
        ])
    func refused(text: String, fault: NetworkPrefixFault) {
        #expect(throws: fault) { try AddressBlock(text) }
    }
}
