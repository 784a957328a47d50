// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelyingParty

@Suite("The URL of a callback")
struct CallbackURLTests {
    @Test(
        "is taken as it is written, with its host and port",
        arguments: [
            ("https://shop.example", "shop.example", 443, "https://shop.example"),
            ("https://shop.example/", "shop.example", 443, "https://shop.example"),
            ("https://a-b.example:8443/x?token=1", "a-b.example", 8443, "https://a-b.example:8443"),
            ("http://10.0.0.5:8080/cb", "10.0.0.5", 8080, "http://10.0.0.5:8080"),
            ("http://localhost/cb", "localhost", 80, "http://localhost"),
            ("https://[2001:db8::1]/cb", "2001:db8::1", 443, "https://[2001:db8::1]"),
            ("https://[2001:db8::1]:1/cb", "2001:db8::1", 1, "https://[2001:db8::1]:1"),
            ("https://1.example/?a=b@c", "1.example", 443, "https://1.example"),
        ])
    func taken(text: String, host: String, port: UInt16, origin: String) throws {
        let url = try CallbackURL(text)
        #expect(url.text == text && url.host == host && url.port == port && url.origin == origin)
        #expect(url.isPlain == text.hasPrefix("http:"))
    }

    @Test(
        "is refused in every form that another program could read differently",
        arguments: [
            "", "https://", "https:///x", "shop.example", "ftp://shop.example",
            "HTTPS://shop.example",
            "https://Shop.example", "https://user@shop.example", "https://user:pw@shop.example/",
            "https://shop.example@127.0.0.1/", "https://shop.example\\@127.0.0.1/",
            "https://shop.example#x", "https://shop.example/#x", "https://shop.example/ x",
            "https://shop.example/\u{e9}", "https://shop.example/\r\nHost: x", "https://127.1/",
            "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/",
            "https://127.0.0.01/",
            "https://1.2.3.4.5/", "https://shop.example./", "https://.shop.example/",
            "https://shop..example/", "https://-shop.example/", "https://shop.example:0/",
            "https://shop.example:/", "https://shop.example:443x/", "https://shop.example:65536/",
            "https://shop.example:0443/", "https://shop.example:+443/", "https://::1/",
            "https://[::1/",
            "https://[127.0.0.1]/", "https://[::1%25lo]/", "https://[::1]x/",
            "https://[fe80::1%lo]/",
            "https://\(String(repeating: "a", count: 64)).example/",
            "https://shop.example/\(String(repeating: "x", count: 500))",
        ])
    func refused(text: String) {
        #expect(throws: FieldFault.self) { try CallbackURL(text) }
    }
}
