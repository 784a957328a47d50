// SPDX-License-Identifier: Apache-2.0
import Authorization
import Domain
import Testing

@Suite("A server's URL")
struct CanonicalServerURLTests {
    @Test(
        "is brought into one form",
        arguments: [
            ("https://id.example.org", "https://id.example.org"),
            ("HTTPS://Id.Example.ORG/", "https://id.example.org"),
            ("https://h:8443/Base//", "https://h:8443/Base"),
            ("https://[::1]:1", "https://[::1]:1"), ("https://h:443", "https://h"),
            ("https://[::1]:443/x", "https://[::1]/x"), ("https://h:4433", "https://h:4433"),
            ("https://127.0.0.1/a-b/_c~", "https://127.0.0.1/a-b/_c~"),
        ])
    func accepted(typed: String, text: String) throws {
        let url = try #require(CanonicalServerURL(typed: typed))
        #expect(url.text == text)
        #expect(CanonicalServerURL(ServerURL(url)) == url)
    }

    @Test(
        "is refused where it could be read as another",
        arguments: [
            "", "id.example.org", "http://id.example.org", "https://", "https:///x", "https://u@h",
            "https://h?x", "https://h#x", "https://h/../x", "https://h/./x", "https://h/a//b",
            "https://h:0", "https://h:", "https://h:00443", "https://h:65536", "https://h:1:2",
            "https://[::1", "https://[]", "https://[::1]x", "https://.h", "https://a..b",
            "https://h/%2e", "https://h ", "https://h\n", "https://hé", "https://a_b",
            "https://h/" + String(repeating: "a", count: 200),
        ])
    func refused(typed: String) {
        #expect(CanonicalServerURL(typed: typed) == nil)
    }

    @Test("in another than its one form is not taken off the wire")
    func strict() {
        for text in ["https://H", "https://h/", "HTTPS://h", "https://h:443"] {
            #expect(CanonicalServerURL(ServerURL(text)) == nil)
        }
    }
}
