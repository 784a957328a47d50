// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Domain

@Suite("the name of an account")
struct AccountNameTests {
    @Test(
        "that can have fingers",
        arguments: [
            "a", "alice", "CORP\\alice", "corp alice", "#alice", "a%b", "jürgen", "田中",
            "alice@corp.example", "a-", "host$", String(repeating: "x", count: 255),
        ])
    func usable(_ name: String) {
        #expect(AccountName(name).isUsable)
    }

    @Test(
        "that cannot",
        arguments: [
            "", "-a", "a*", "a?", "!a", "a!", "a,b", "\"a\"", "a:b", "a/b", "a\nb", "a\tb", "a\0",
            "a\u{7F}", "a\u{85}", String(repeating: "x", count: 256),
            String(repeating: "ü", count: 128),
        ])
    func unusable(_ name: String) {
        #expect(!AccountName(name).isUsable)
    }

    @Test("that is not text cannot", arguments: [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]])
    func notText(_ bytes: [UInt8]) {
        #expect(!AccountName(bytes).isUsable)
    }
}
