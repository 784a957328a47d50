// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import StateSupport
import TestSupport
import Testing

@Suite("content under a sealed key")
struct SealedContentTests {
    let vault: FileVault
    let secret: SecretBytes

    init() throws {
        vault = FileVault(host: try host())
        secret = try SecretBytes.random(65_536)
    }

    @Test("opens with its key, for any length from one byte on, under whatever fingers")
    func opens() throws {
        for count in [1, 128, 129, 65_536] {
            let content = try SecretBytes.random(count)
            let sealed = try SealedContent.seal(content, context: context(), by: vault)
            #expect(sealed.content.count == count + SealedContent.overhead)
            #expect(sealed.key.count <= VaultLimit.sealed)
            let key = try vault.ready(data: sealed.key, context: context()).open(context())
            #expect(
                try SealedContent.open(sealed.content, key: key, context: context()).equals(content)
            )
            let later = try context(generation: 8)
            #expect(
                try SealedContent.open(sealed.content, key: key, context: later).equals(content))
            #expect(throws: VaultError.doesNotOpen) {
                try vault.ready(data: sealed.key, context: later).open(later)
            }
        }
    }

    @Test("does not open as another item, name or account's, altered, cut, or by another key")
    func refused() throws {
        let sealed = try SealedContent.seal(secret, context: context(), by: vault)
        let key = try vault.ready(data: sealed.key, context: context()).open(context())
        func fails(_ content: [UInt8], _ key: SecretBytes, _ context: SealingContext) {
            #expect(throws: VaultError.doesNotOpen) {
                try SealedContent.open(content, key: key, context: context)
            }
        }
        fails(sealed.content, key, try context(item: 2))
        fails(sealed.content, key, try context(name: "other"))
        fails(sealed.content, key, try context(uid: 1001))
        fails(sealed.content, key, try context(account: "bob"))
        fails(sealed.content, try SecretBytes.random(32), try context())
        fails(sealed.content, try SecretBytes.random(31), try context())
        for count in [0, 27, 28, sealed.content.count - 1] {
            fails(Array(sealed.content[..<count]), key, try context())
        }
        for index in [0, 12, 40_000, sealed.content.count - 1] {
            var altered = sealed.content
            altered[index] ^= 1
            fails(altered, key, try context())
        }
    }

    @Test("has a key of its own each time")
    func fresh() throws {
        let one = try SealedContent.seal(secret, context: context(), by: vault)
        let two = try SealedContent.seal(secret, context: context(), by: vault)
        #expect(one.content != two.content)
        let key = try vault.ready(data: two.key, context: context()).open(context())
        #expect(throws: VaultError.doesNotOpen) {
            try SealedContent.open(one.content, key: key, context: context())
        }
    }

    private func context(
        account: String = "alice", uid: UInt32 = 1000, item: UInt8 = 1, name: String = "mail",
        generation: UInt64 = 7
    ) throws -> SealingContext {
        let state = try #require(
            EnrolmentState(generation: generation, digest: [UInt8](repeating: 3, count: 32)))
        return try #require(
            SealingContext(
                account: AccountName(account), uid: uid,
                item: SecretID.sample(repeating: item), relyingParty: "local",
                use: .secret(name: Array(name.utf8)), enrolment: state))
    }
}

@Suite("the mark of a record")
struct RecordMarkTests {
    private let alice: AccountName = "alice"
    private let one = SecretID.sample(repeating: 1)

    @Test("holds for exactly that record in that place, on that machine")
    func holds() throws {
        let mark = try RecordMark(host: try host())
        let record = [UInt8](0...255)
        let made = try mark.make(record, account: alice, uid: 7, item: one)
        #expect(made.count == RecordMark.count)
        try mark.check(made, record: record, account: alice, uid: 7, item: one)
        let empty = try mark.make([], account: alice, uid: 7, item: one)
        try mark.check(empty, record: [], account: alice, uid: 7, item: one)
        func fails(
            _ mark: RecordMark, _ made: [UInt8], _ record: [UInt8], _ name: String = "alice",
            uid: UInt32 = 7, item: SecretID? = nil
        ) {
            #expect(throws: VaultError.doesNotOpen) {
                try mark.check(
                    made, record: record, account: AccountName(name), uid: uid,
                    item: item ?? one)
            }
        }
        fails(mark, made, record + [0])
        fails(mark, made, Array(record.dropLast()))
        fails(mark, made, [])
        fails(mark, made, record, "bob")
        fails(mark, made, record, uid: 8)
        fails(mark, made, record, item: .sample(repeating: 2))
        fails(mark, [], record)
        fails(mark, made + [0], record)
        for index in made.indices {
            var altered = made
            altered[index] ^= 1
            fails(mark, altered, record)
        }
        fails(try RecordMark(host: try host()), made, record)
    }
}
