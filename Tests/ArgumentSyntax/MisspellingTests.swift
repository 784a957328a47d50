// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Testing

@Suite("What a misspelt word was probably meant to be")
struct MisspellingTests {
    @Test("are near where a slip of the keys is between them, and not otherwise")
    func nearest() {
        let names = ["gdm-password", "lightdm", "su", "sudo"]
        #expect("gdm-pasword".nearest(among: names) == "gdm-password")
        #expect("sduo".nearest(among: names) == "sudo")
        #expect("sudp".nearest(among: names) == "sudo")
        #expect("xx".nearest(among: names) == nil)
        #expect("cups".nearest(among: names) == nil)
        #expect("".nearest(among: names) == nil)
        #expect("sudo".nearest(among: []) == nil)
    }
}
