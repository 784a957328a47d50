// SPDX-License-Identifier: Apache-2.0
import Authorization
import LoginProtocol
import Testing

@Suite("The name of a secret")
struct SecretNameTests {
    @Test(
        "is any text without controls, up to 128 bytes",
        arguments: [
            "a", "mail", "my mail", "émile 1/2 %s", "ключ", "a-b", "_", ".", "..", "/etc/passwd",
            String(repeating: "x", count: 128),
        ])
    func good(name: String) {
        #expect(SecretName.fault(Bytes(name.utf8)) == nil)
    }

    @Test("is refused with what speaks against it")
    func bad() {
        #expect(SecretName.fault([]) == .empty)
        #expect(SecretName.fault(Bytes(repeating: 0x61, count: 129)) == .tooLong)
        for name in ["-", "-n", "--help"] {
            #expect(SecretName.fault(Bytes(name.utf8)) == .likeAnOption)
        }
        for name in [
            "a\nb", "\u{0}", "a\u{1B}[2J", "\u{7F}", "a\u{85}", "\u{202E}gpj", "a\u{2028}",
        ] {
            #expect(SecretName.fault(Bytes(name.utf8)) == .unprintable)
        }
        for name in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF]] as [Bytes] {
            #expect(SecretName.fault(name) == .unprintable)
        }
    }
}
