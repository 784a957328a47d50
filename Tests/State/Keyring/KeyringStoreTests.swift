// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

@Suite("the login password on disk")
struct KeyringStoreTests {
    let fixture: StateFixture
    private let secret: SecretBytes

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1, .rightIndex)
        secret = try SecretBytes.random(1_023)
    }

    private var store: KeyringStore { fixture.account.keyring }

    private func entry(_ hash: String = "$6$salt$hash", changed: Int = 20_000) throws -> ShadowEntry
    {
        try StateFixture.entry(hash, changed: changed)
    }

    @discardableResult
    private func keep(_ entry: ShadowEntry?) throws -> KeyringPassword {
        try fixture.keep(secret, entry)
    }

    private func open(_ password: KeyringPassword) throws -> SecretBytes {
        try fixture.open(password)
    }

    @Test("a stored password opens for its prints, and nothing of it is in the record")
    func kept() throws {
        #expect(try store.state() == .off)
        let password = try keep(try entry())
        #expect(try open(password).equals(secret))
        #expect(
            password.vault == .file && password.created == StateFixture.now && !password.isUnwatched
        )
        let enrolment = try fixture.account.prints.enrolment()
        #expect(try store.loss(of: password, enrolment: enrolment, entry: try entry()) == nil)
        let record = try fixture.contents(fixture.file("keyring"))
        let text = String(decoding: record, as: UTF8.self)
        #expect(!text.contains("hash") && text.hasPrefix("signet-keyring: 1\n"))
        #expect(try open(try keep(try entry())).equals(secret), "kept anew, in its place")
    }

    @Test("a changed password is reported, however it was changed")
    func passwordChanged() throws {
        let password = try keep(try entry())
        let enrolment = try fixture.account.prints.enrolment()
        for other in [
            try entry("$6$salt$othe"), try entry(changed: 20_001), try entry(changed: 0), nil,
        ] {
            #expect(
                try store.loss(of: password, enrolment: enrolment, entry: other) == .passwordChanged
            )
        }
        let unwatched = try keep(nil)
        #expect(unwatched.isUnwatched)
        #expect(try store.loss(of: unwatched, enrolment: enrolment, entry: nil) == nil)
        #expect(
            try store.loss(of: unwatched, enrolment: enrolment, entry: try entry())
                == .passwordChanged)
    }

    @Test("after a change of the prints it does not open, and the cause is reported")
    func fingersChanged() throws {
        let password = try keep(try entry())
        try fixture.add(2, .leftIndex)
        let enrolment = try fixture.account.prints.enrolment()
        #expect(
            try store.loss(of: password, enrolment: enrolment, entry: try entry())
                == .fingersChanged)
        #expect(throws: VaultError.doesNotOpen) { try open(password) }
    }

    @Test("its key alone is sealed again, by the vault that it is moved to")
    func moved() throws {
        let password = try keep(try entry())
        let enrolment = try fixture.account.prints.enrolment()
        let context = try store.context(of: password, enrolment: enrolment)
        let key = try fixture.vault.seal(
            try fixture.vault.ready(data: password.sealed.key, context: context).open(context),
            context: context)
        try store.keep(password, resealed: key, by: .file)
        guard case .kept(let again) = try store.state() else { throw StateFixture.NotKept() }
        #expect(again.sealed.key == key && again.sealed.content == password.sealed.content)
        #expect(try open(again).equals(secret))
        #expect(try store.loss(of: again, enrolment: enrolment, entry: try entry()) == nil)
    }

    @Test("a dropped password leaves the reason; a removed one leaves nothing")
    func tombstones() throws {
        try keep(nil)
        for loss in KeyringLoss.allCases {
            try store.drop(loss, now: StateFixture.now)
            #expect(try store.state() == .dropped(loss, since: StateFixture.now))
        }
        try store.remove()
        #expect(try store.state() == .off)
        try store.remove()
    }

    @Test("a record in any other form is damage, not a password")
    func damaged() throws {
        try keep(try entry())
        let record = try fixture.contents(fixture.file("keyring"))
        let text = String(decoding: record, as: UTF8.self)
        var others = stride(from: 0, to: record.count, by: 7).map { Array(record[..<$0]) }
        others += [record + [10], record + record]
        others += [
            ("signet-keyring: 1", "signet-keyring: 2"), ("state: sealed", "state: open"),
            ("vault: file", "vault: tape"), ("item: ", "item: 00"),
            ("password: ", "password: 00"),
        ].map { Array(text.replacing($0.0, with: $0.1).utf8) }
        for other in others {
            #expect(other != record)
            try fixture.overwrite(fixture.file("keyring"), other)
            #expect(try store.state() == .damaged)
        }
        #expect(unsafe chmod(fixture.file("keyring"), 0o644) == 0)
        #expect(try store.state() == .damaged)
    }

    @Test("another account's record does not open")
    func swapped() throws {
        try keep(try entry())
        let record = try fixture.contents(fixture.file("keyring"))
        let bob = try fixture.state.makeAccount("bob", uid: 1001, now: StateFixture.now)
        try fixture.overwrite(fixture.scratch.at("private/accounts/1001/keyring"), record)
        guard case .kept(let password) = try bob.keyring.state() else {
            throw StateFixture.NotKept()
        }
        let enrolment = try fixture.account.prints.enrolment()
        let context = try bob.keyring.context(of: password, enrolment: enrolment)
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.vault.ready(data: password.sealed.key, context: context).open(context)
        }
        #expect(
            try bob.keyring.loss(of: password, enrolment: enrolment, entry: try entry())
                == .passwordChanged)
    }

    @Test("a crash while it is kept leaves the old one or the new one")
    func interrupted() throws {
        let plan = FaultPlan()
        let account = try fixture.account(failing: plan)
        let first = try keep(try entry())
        for step in 0..<6 {
            let draft = try account.keyring.draft(
                try account.prints.enrolment(), entry: try entry())
            let sealed = try SealedContent.seal(secret, context: draft.context, by: fixture.vault)
            plan.arm(after: step)
            let done: Void? = try? account.keyring.keep(
                draft, sealed: sealed, by: .file, now: StateFixture.now)
            let failed = done == nil
            plan.disarm()
            guard case .kept(let found) = try store.state() else { throw StateFixture.NotKept() }
            #expect(try open(found).equals(secret))
            #expect(failed || found != first)
        }
    }
}
