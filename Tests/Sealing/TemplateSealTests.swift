// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import TestSupport
import Testing

@Suite("templates at rest")
struct TemplateSealTests {
    let seal: TemplateSeal
    let template: SecretBytes

    init() throws {
        seal = try TemplateSeal(host: try host())
        template = try SecretBytes.random(6000)
    }

    @Test("a template opens as the print it was sealed as")
    func opens() throws {
        let sealed = try seal.seal(template, context: context())
        #expect(try seal.open(sealed, context: context()).equals(template))
    }

    @Test("a template put in another's, another print's or another finger's place is refused")
    func swapped() throws {
        let sealed = try seal.seal(template, context: context())
        refused(sealed, context(account: "bob"))
        refused(sealed, context(uid: 1001))
        refused(sealed, context(identifier: 2))
        refused(sealed, context(finger: "left-index"))
        refused(sealed, context(reader: "other"))
    }

    @Test("an altered or cut template, or one of another machine, is refused")
    func altered() throws {
        let sealed = try seal.seal(template, context: context())
        for index in [0, 11, 12, 3000, sealed.count - 16, sealed.count - 1] {
            var copy = sealed
            copy[index] ^= 0x80
            refused(copy, context())
        }
        for count in [0, 1, 27, 28, 29, sealed.count - 1] {
            refused(Array(sealed[..<count]), context())
        }
        let other = try TemplateSeal(host: try host())
        #expect(throws: VaultError.doesNotOpen) { try other.open(sealed, context: context()) }
    }

    @Test("an empty template and one over the limit are not sealed")
    func limits() throws {
        for count in [0, TemplateSeal.templateLimit + 1] {
            let wrong = try SecretBytes(count: count) { _ in }
            #expect(throws: VaultError.malformed) { try seal.seal(wrong, context: context()) }
        }
        let huge = [UInt8](repeating: 0, count: TemplateSeal.templateLimit + 29)
        #expect(throws: VaultError.malformed) { try seal.open(huge, context: context()) }
    }

    private func refused(_ sealed: [UInt8], _ context: TemplateContext) {
        #expect(throws: VaultError.doesNotOpen) { try seal.open(sealed, context: context) }
    }

    private func context(
        account: String = "alice", uid: UInt32 = 1000, identifier: UInt8 = 1,
        finger: String = "right-index", reader: String = "virtual"
    ) -> TemplateContext {
        TemplateContext(
            account: AccountName(account), uid: uid,
            identifier: .sample(repeating: identifier), finger: finger, reader: reader)
    }
}
