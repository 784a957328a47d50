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
}
