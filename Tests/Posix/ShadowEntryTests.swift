// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("shadow(5)")
struct ShadowEntryTests {
    @Test(
        "an account without a password there, or none at all, has no entry",
        arguments: ["daemon", "bin", "no-such-account", "", "a\0b"])
    func none(name: String) throws {
        #expect(try ShadowEntry.named(name) == nil)
    }

    @Test("a field without a hash is not a password, and one behind an exclamation mark is locked")
    func lacks() throws {
        for field in ["", "*", "!", "!!", "!*", "!!*"] {
            guard case .none? = PasswordLack(field: field.utf8) as PasswordLack? else {
                Issue.record("'\(field)' is a password")
                continue
            }
        }
        for field in ["!$y$j9T$salt$hash", "!!x"] {
            guard case .locked? = PasswordLack(field: field.utf8) else {
                Issue.record("'\(field)' is not locked")
                continue
            }
        }
        for field in ["$y$j9T$salt$hash", "x", "NP", "*x"] {
            #expect(PasswordLack(field: field.utf8) == nil, "\(field)")
        }
    }
}
