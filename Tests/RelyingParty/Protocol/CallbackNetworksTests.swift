// SPDX-License-Identifier: Apache-2.0
import Configuration
import Posix
import Testing

@testable import RelyingParty

@Suite("The addresses that callbacks may be sent to")
struct CallbackNetworksTests {
    private func objection(
        _ address: String, _ url: String = "https://shop.example/", listed: [String] = [],
        isOwn: Bool = false
    ) throws -> String? {
        let networks = CallbackNetworks(listed: try listed.map { try AddressBlock($0) })
        return networks.objection(
            to: try #require(InternetAddress(address)), of: try CallbackURL(url), isOwn: isOwn)
    }

    @Test(
        "are public ones",
        arguments: [
            "1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.0.1", "100.128.0.1",
            "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
        ])
    func publicOnes(address: String) throws {
        #expect(try objection(address) == nil)
        // Unless it is the server itself.
        #expect(try objection(address, isOwn: true)?.contains("own address") == true)
    }

    @Test(
        "are not those of the server's own network, in any notation",
        arguments: [
            "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1",
            "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200",
            "192.0.0.192", "198.18.0.1", "192.0.2.1", "203.0.113.1", "224.0.0.1", "239.1.1.1",
            "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "fd00:ec2::254",
            "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",
            "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001::1", "2001:db8::1", "100::1",
            "3fff::1", "4000::1",
        ])
    func privateOnes(address: String) throws {
        #expect(try objection(address)?.contains("not a public address") == true)
        #expect(try objection(address, listed: ["1.0.0.0/8"]) != nil)
    }

    @Test("are those of networks that are listed, by plain HTTP and at any port too")
    func listed() throws {
        let listed = ["10.20.0.0/16", "127.0.0.0/8", "fd00:1::/48"]
        for address in ["10.20.3.4", "127.0.0.1", "fd00:1::5"] {
            for url in ["https://a.example/", "http://a.example/", "http://a.example:22/"] {
                #expect(try objection(address, url, listed: listed, isOwn: true) == nil)
            }
        }
        for address in ["10.21.3.4", "fd00:2::5", "::ffff:10.20.3.4", "::ffff:127.0.0.1"] {
            #expect(try objection(address, listed: listed) != nil)
        }
    }

    @Test("have to be reached by HTTPS, at a port for it, unless they are listed")
    func schemesAndPorts() throws {
        for url in ["https://a.example/", "https://a.example:1024/", "https://a.example:65535/"] {
            #expect(try objection("1.1.1.1", url) == nil)
        }
        for url in [
            "http://a.example/", "http://a.example:8080/", "https://a.example:22/",
            "https://a.example:80/", "https://a.example:1023/",
        ] {
            #expect(try objection("1.1.1.1", url, listed: ["10.0.0.0/8"]) != nil, "\(url)")
        }
    }

    @Test("are asked for as soon as a URL is set, as far as it tells them")
    func urls() throws {
        func objection(_ url: String, listed: [String] = []) throws -> String? {
            try CallbackNetworks(listed: listed.map { try AddressBlock($0) }).objection(
                to: CallbackURL(url), isOwn: { $0.text == "8.8.8.8" })
        }
        for url in [
            "https://shop.example/", "https://shop.example:8443/x", "https://1.1.1.1/",
            "https://[2606:4700::1111]/", "https://localhost.example/", "https://mylocalhost/",
        ] {
            #expect(try objection(url) == nil, "\(url)")
        }
        for url in [
            "https://10.1.2.3/", "https://[fd00:1::5]/", "https://8.8.8.8/", "http://1.1.1.1/",
            "http://shop.example/", "https://shop.example:80/", "https://localhost/",
            "https://shop.localhost/",
        ] {
            #expect(try objection(url) != nil, "\(url)")
        }
        // A name may lead into a listed network, which only the sender sees.
        for url in ["http://shop.example/", "https://shop.example:80/", "http://10.1.2.3:81/"] {
            #expect(try objection(url, listed: ["10.0.0.0/8"]) == nil, "\(url)")
        }
        #expect(try objection("https://10.1.2.3/", listed: ["10.2.0.0/16"]) != nil)
        #expect(try objection("http://localhost:81/", listed: ["10.0.0.0/8"]) != nil)
        for listed in ["127.0.0.0/8", "::1/128"] {
            #expect(try objection("http://localhost:81/", listed: [listed]) == nil)
        }
    }

    @Test("are set as networks with blanks between them, and a mistake is named")
    func settings() throws {
        func networks(_ text: String) throws -> CallbackNetworks {
            try CallbackNetworks(
                Configuration(
                    ServerSettings.all,
                    files: [("server.conf", [UInt8]("[callback]\nnetworks = \(text)\n".utf8))]))
        }
        #expect(try networks("none").listed.isEmpty)
        #expect(
            try networks("10.0.0.0/8  fd00::/8").listed
                == [AddressBlock("10.0.0.0/8"), AddressBlock("fd00::/8")])
        for (text, entry) in [
            ("10.0.0.0/8 10.0.0.1", "10.0.0.1"), ("10.0.0.1/8", "10.0.0.1/8"),
            ("localhost", "localhost"), ("10.0.0.0/8,fd00::/8", "10.0.0.0/8,fd00::/8"),
            ("fd00::/200", "fd00::/200"),
        ] {
            let fault = #expect(throws: StartFault.self) { try networks(text) }
            #expect(fault?.text.hasPrefix("callback.networks: '\(entry)': ") == true, "\(text)")
        }
    }
}
