// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import Sealing
import State
import StateSupport
import TestSupport
import Testing

@Suite("keys of templates")
struct TemplateKeysTests {
    private static let key = StoredTemplateKeyID.sample(repeating: 5)
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private var store: PrintStore { fixture.account.prints }
    private var keys: TemplateKeys { fixture.state.templateKeys }
    private var path: String {
        fixture.scratch.at("private/template-keys/" + hexadecimal(Self.key))
    }

    /// Keeps a key, sealed by the file vault, which opens as well as any.
    @discardableResult
    private func keep() throws -> SealedTemplateKey {
        let secret = try SecretBytes.random(32)
        let context = try #require(SealingContext.templates(Self.key))
        let key = SealedTemplateKey(
            identifier: Self.key, vault: .file,
            sealed: try fixture.vault.seal(secret, context: context))
        try keys.keep(key, opened: try TemplateSeal(key: secret))
        return key
    }

    /// Adds a print that is sealed with the key.
    @discardableResult
    private func add(_ number: UInt8, _ finger: Finger = .rightIndex) throws -> PrintID {
        var template = [UInt8](repeating: number, count: 500)
        return try store.add(
            &template, finger: finger, reader: StateFixture.reader, sealedWith: .kept(Self.key),
            now: StateFixture.now)
    }

    /// The account as a later start of the daemon finds it: no key is open.
    ///
    /// `error` is why the key cannot be opened then, nil before the first attempt.
    private func later(_ error: VaultError? = nil) throws -> (StateDirectory, AccountState) {
        let state = try StateDirectory.open(fixture.scratch.path)
        if let error { state.templateKeys.settle(Self.key, outcome: .failure(error)) }
        return (state, try #require(try state.account(StateFixture.alice, uid: StateFixture.uid)))
    }

    @Test("what a stored key seals opens with it, and only with it")
    func opens() throws {
        let key = try keep()
        try add(1)
        #expect(try store.enrolment().prints.map(\.template) == [.init(repeating: 1, count: 500)])
        #expect(try store.keys() == [Self.key])
        let (state, account) = try later()
        #expect(try state.templateKeys.identifiers() == [Self.key])
        #expect(try state.templateKeys.key(Self.key) == key)
        #expect(throws: StoreFault.self) { try account.prints.enrolment() }
        let another = try TemplateSeal(key: try SecretBytes.random(32))
        state.templateKeys.settle(Self.key, outcome: .success(another))
        #expect(try account.prints.enrolment().damaged.count == 1)
        let context = try #require(SealingContext.templates(Self.key))
        let opened = try fixture.vault.ready(data: key.sealed, context: context).open(context)
        state.templateKeys.settle(Self.key, outcome: .success(try TemplateSeal(key: opened)))
        #expect(try account.prints.enrolment().state == (try store.enrolment().state))
    }

    @Test("a key that is closed for now says nothing about any finger")
    func closed() throws {
        try keep()
        try fixture.add(2, .leftIndex)
        try add(1)
        let trouble = VaultError.trouble(.lockout)
        let (state, account) = try later(trouble)
        #expect(throws: StoreFault.closed(trouble)) { try account.prints.enrolment() }
        #expect(throws: StoreFault.closed(trouble)) { try account.credential.state() }
        var template: [UInt8] = [1]
        #expect(throws: StoreFault.closed(trouble)) {
            try account.prints.add(
                &template, finger: .leftThumb, reader: StateFixture.reader, now: StateFixture.now)
        }
        #expect(throws: StoreFault.closed(trouble)) { try account.prints.seal(with: .host) }
        #expect(try account.prints.count() == 2)
        #expect(!state.templateKeys.isOpen(Self.key))
    }

    @Test("a key that does not open damages its own fingers and no other")
    func lost() throws {
        try keep()
        try fixture.add(2, .leftIndex)
        try add(1)
        for error in [VaultError.doesNotOpen, .malformed] {
            let (_, account) = try later(error)
            let enrolment = try account.prints.enrolment()
            #expect(enrolment.prints.map(\.finger) == [.leftIndex])
            #expect(enrolment.damaged.map(\.finger) == [.rightIndex])
        }
    }

    @Test("a missing key damages its fingers, one that was not opened yet does not")
    func gone() throws {
        try keep()
        try add(1)
        let (state, account) = try later()
        #expect(throws: StoreFault.self) { try account.prints.enrolment() }
        try state.templateKeys.remove(Self.key)
        #expect(try account.prints.enrolment().damaged.map(\.finger) == [.rightIndex])
    }

    @Test("all fingers can be taken away with the key closed, and new ones added after that")
    func startsAnew() throws {
        try keep()
        try fixture.add(2, .leftIndex)
        try add(1)
        let (_, account) = try later(.trouble(.lockout))
        let change = try account.prints.draftRemovingAll()
        #expect(change.removed.map(\.finger) == [.leftIndex] && change.enrolment.isEmpty)
        try account.prints.commit(change)
        #expect(try account.prints.enrolment().isEmpty)
        #expect(Layout.entries(of: fixture.file("prints")).isEmpty)
        var template: [UInt8] = [3]
        try account.prints.add(
            &template, finger: .rightIndex, reader: StateFixture.reader, now: StateFixture.now)
        #expect(try account.prints.enrolment().prints.count == 1)
    }

    @Test("replacing a key changes no state, at whatever step it stops")
    func moves() throws {
        try keep()
        try fixture.add(2, .leftIndex)
        try add(1)
        let before = try store.enrolment().state
        for target in [TemplateKeyID.host, .kept(Self.key)] {
            var step = 0
            while true {
                let plan = FaultPlan()
                let state = try StateDirectory.open(fixture.scratch.path, faults: plan.faults)
                let account = try #require(
                    try state.account(StateFixture.alice, uid: StateFixture.uid))
                try open(in: state)
                plan.arm(after: step)
                let done: Void? = try? account.prints.seal(with: target)
                plan.disarm()
                #expect(try store.enrolment().state == before, "\(step)")
                #expect(try store.enrolment().damaged.isEmpty, "\(step)")
                if done != nil { break }
                step += 1
            }
            #expect(step >= 4)
            #expect(try store.keys() == (target == .host ? [] : [Self.key]))
        }
    }

    private func open(in state: StateDirectory) throws {
        let context = try #require(SealingContext.templates(Self.key))
        let key = try #require(try state.templateKeys.key(Self.key))
        let opened = try fixture.vault.ready(data: key.sealed, context: context).open(context)
        state.templateKeys.settle(Self.key, outcome: .success(try TemplateSeal(key: opened)))
    }

    @Test("a print is not added under a key that went while it was drafted")
    func keyGone() throws {
        try keep()
        let old = try add(1)
        var template: [UInt8] = [9]
        let change = try store.draft(
            adding: &template, finger: .leftThumb, reader: StateFixture.reader,
            sealedWith: .kept(Self.key),
            now: StateFixture.now)
        try store.seal(with: .host)
        try keys.remove(Self.key)
        #expect(throws: StoreFault.changedMeanwhile) { try store.commit(change) }
        #expect(try store.enrolment().prints.map(\.identifier) == [old])
    }

    @Test("a print that names another key, or none, is damaged")
    func renamed() throws {
        try keep()
        let print = fixture.file("prints/" + hexadecimal(try add(1)))
        let whole = try fixture.contents(print)
        let line = Array("key: \(hexadecimal(Self.key))\n".utf8)
        let other = StoredTemplateKeyID.sample(repeating: 6)
        keys.settle(other, outcome: .failure(.doesNotOpen))
        for bad in [
            whole.replacing(line, with: Array("key: \(hexadecimal(other))\n".utf8)),
            whole.replacing(line, with: Array("key: 05\n".utf8)),
            whole.replacing(line, with: []), whole.replacing(line, with: line + line),
            whole.replacing(
                Array("signet-print: 2\n".utf8) + line, with: Array("signet-print: 1\n".utf8)),
            whole.replacing(Array("signet-print: 2".utf8), with: Array("signet-print: 3".utf8)),
        ] {
            #expect(bad != whole)
            try fixture.overwrite(print, bad)
            #expect(try store.enrolment().damaged.count == 1)
        }
        try fixture.overwrite(print, whole)
        #expect(try store.enrolment().damaged.isEmpty)
    }

    @Test("a key's file that is cut, repeated, extended or of another form is damaged")
    func records() throws {
        try keep()
        let whole = try fixture.contents(path)
        for bad in [
            [], whole + whole, whole + [10], Array(whole.dropLast()), Array(whole.dropFirst()),
            whole.replacing(Array("key: 1".utf8), with: Array("key: 2".utf8)),
            whole.replacing(Array("vault: file".utf8), with: Array("vault: cloud".utf8)),
            [UInt8](repeating: 65, count: 3_000),
        ] {
            #expect(bad != whole)
            try fixture.overwrite(path, bad)
            #expect(throws: StoreFault.damaged(path: path)) { try keys.key(Self.key) }
        }
        try fixture.overwrite(path, whole)
        #expect(try keys.key(Self.key) != nil)
        try keys.remove(Self.key)
        #expect(try keys.key(Self.key) == nil && !keys.isOpen(Self.key))
    }

    @Test("a key is in use as long as a print names it; unless all can be read, it is unknown")
    func inUse() throws {
        try keep()
        #expect(try fixture.state.templateKeysInUse().isEmpty)
        let print = try add(1)
        #expect(try fixture.state.templateKeysInUse() == [Self.key])
        let bob = try fixture.state.makeAccount("bob", uid: 1001, now: StateFixture.now)
        #expect(try bob.prints.count() == 0)
        let path = fixture.file("prints/" + hexadecimal(print))
        let whole = try fixture.contents(path)
        try fixture.overwrite(path, [])
        #expect(throws: StoreFault.damaged(path: path)) {
            try fixture.state.templateKeysInUse()
        }
        try fixture.overwrite(path, whole)
        let record = fixture.scratch.at("private/accounts/1001/account")
        try fixture.overwrite(record, [])
        #expect(throws: StoreFault.damaged(path: record)) {
            try fixture.state.templateKeysInUse()
        }
        try fixture.state.removeAccount(uid: 1001)
        try store.remove(print)
        #expect(try fixture.state.templateKeysInUse().isEmpty)
    }

    @Test("what is open is forgotten when it is closed")
    func forgets() throws {
        try keep()
        #expect(keys.isOpen(Self.key))
        keys.close()
        #expect(!keys.isOpen(Self.key))
    }
}
