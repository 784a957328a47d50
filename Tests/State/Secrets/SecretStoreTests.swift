// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

private let mail = Array("mail".utf8)

@Suite("secrets on disk")
struct SecretStoreTests {
    let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.add(1)
    }

    @Test("what was kept is listed and opens, whatever its bytes, up to the longest")
    func keeps() throws {
        let contents: [[UInt8]] = [
            [0], Array("a\u{0}b\n".utf8), [UInt8](0...255),
            [UInt8](repeating: 7, count: Limit.secret),
        ]
        for (index, content) in contents.enumerated() {
            try fixture.keep(content, as: "secret \(index)%\u{E9}")
        }
        let list = try fixture.account.secrets.list()
        #expect(list.damaged.isEmpty)
        #expect(list.intact.map(\.size) == contents.map(\.count))
        #expect(list.intact.map(\.created) == contents.map { _ in StateFixture.now })
        #expect(list.count(fitting: try fixture.present) == contents.count)
        for (secret, content) in zip(list.intact, contents) {
            #expect(try fixture.open(secret) == content)
            #expect(try fixture.account.secrets.secret(secret.identifier) == secret)
        }
        let again = try StateDirectory.open(fixture.scratch.path)
        let account = try #require(try again.account(StateFixture.alice, uid: StateFixture.uid))
        #expect(try account.secrets.list().intact == list.intact)
    }

    @Test("neither the content nor the key of it is on disk in the clear")
    func sealedAtRest() throws {
        let kept = try fixture.keep(Array("AAAAAAAAAAAAAAAA".utf8), as: "mail")
        let text = String(decoding: try fixture.contents(fixture.path(of: kept)), as: UTF8.self)
        #expect(text.contains("name: mail\n"))
        #expect(!text.contains("AAAAAAAA"))
    }

    @Test("a secret with that name stays, unless it is to be replaced; then its id stays")
    func replaces() throws {
        let first = try fixture.keep([1], as: "mail")
        let secrets = fixture.account.secrets
        #expect(try secrets.place(for: mail, replacing: false) == .taken)
        #expect(try secrets.place(for: mail, replacing: true) == .over(first.identifier))
        let second = try fixture.keep([2, 2], as: "mail", replacing: true)
        #expect(second.identifier == first.identifier)
        #expect(try fixture.open(second) == [2, 2])
        #expect(try secrets.list().intact == [second])
    }

    @Test("at most 64 are kept, damaged ones counted; replacing one is still possible")
    func cap() throws {
        for index in 0..<SecretStore.limit { try fixture.keep([1], as: "\(index)") }
        let secrets = fixture.account.secrets
        #expect(try secrets.place(for: mail, replacing: false) == .full)
        #expect(try secrets.place(for: mail, replacing: true) == .full)
        let first = try #require(try secrets.list().intact.first)
        #expect(
            try secrets.place(for: first.name, replacing: true) == .over(first.identifier))
        try fixture.overwrite(fixture.path(of: first), [0])
        #expect(try secrets.place(for: mail, replacing: false) == .full)
        #expect(try secrets.delete(Array(hexadecimal(first.identifier).utf8)))
        guard case .new = try secrets.place(for: mail, replacing: false) else {
            Issue.record("no place")
            return
        }
    }

    @Test("after any change of fingers it does not open, also after the change was undone")
    func stale() throws {
        let kept = try fixture.keep([1, 2, 3], as: "mail")
        let before = try fixture.present
        let id = try fixture.add(3, .leftThumb)
        try fixture.account.prints.remove(id)
        let now = try fixture.present
        let list = try fixture.account.secrets.list()
        #expect(list.intact == [kept] && list.count(fitting: now) == 0)
        #expect(!kept.fits(now) && kept.fits(before))
        let sealing = try #require(kept.sealing(for: before))
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.open(kept, sealing.key, under: now)
        }
        #expect(try fixture.account.secrets.delete(mail))
        #expect(try fixture.account.secrets.list().intact.isEmpty)
    }

    @Test("a new credential for its fingers leaves it as it is")
    func reissued() throws {
        try fixture.issue()
        let kept = try fixture.keep([1], as: "mail")
        try fixture.issue()
        #expect(try fixture.open(kept) == [1])
    }

    @Test("one that was altered in any byte, cut or lengthened is damaged, and the rest is whole")
    func altered() throws {
        let kept = try fixture.keep([UInt8](repeating: 9, count: 300), as: "mail")
        let other = try fixture.keep([5], as: "other")
        let path = fixture.path(of: kept)
        let whole = try fixture.contents(path)
        var bad: [[UInt8]] = [[], whole + [0], whole + whole, Array(whole.dropFirst())]
        for cut in stride(from: 1, to: whole.count, by: 13) { bad.append(Array(whole.prefix(cut))) }
        for place in stride(from: 0, to: whole.count, by: 5) {
            var altered = whole
            altered[place] ^= 1
            bad.append(altered)
        }
        for contents in bad {
            try fixture.overwrite(path, contents)
            let list = try fixture.account.secrets.list()
            #expect(list.intact == [other] && list.damaged.count == 1)
            #expect(throws: StoreFault.damaged(path: path)) {
                try fixture.account.secrets.secret(kept.identifier)
            }
        }
        try fixture.overwrite(path, whole)
        #expect(try fixture.account.secrets.list().damaged.isEmpty)
        #expect(try fixture.open(kept) == [UInt8](repeating: 9, count: 300))
    }

    @Test("a damaged one is deleted or replaced by the name in its record, or by its id")
    func damagedDeleted() throws {
        let kept = try fixture.keep([1, 2, 3], as: "mail")
        var contents = try fixture.contents(fixture.path(of: kept))
        contents[contents.count - 1] ^= 1
        try fixture.overwrite(fixture.path(of: kept), contents)
        let secrets = fixture.account.secrets
        #expect(try secrets.list().damaged.map(\.name) == [mail])
        #expect(try secrets.place(for: mail, replacing: false) == .taken)
        #expect(try secrets.place(for: mail, replacing: true) == .over(kept.identifier))
        #expect(try secrets.delete(mail))
        #expect(try !secrets.delete(mail))
        let next = try fixture.keep([1], as: "mail")
        try fixture.overwrite(fixture.path(of: next), Array("nonsense".utf8))
        let id = Array(hexadecimal(next.identifier).utf8)
        #expect(try secrets.list().damaged.map(\.name) == [id])
        #expect(try !secrets.delete(mail))
        #expect(try secrets.delete(id))
        #expect(try secrets.list().damaged.isEmpty)
    }

    @Test("one in another's place, name's, account's or machine's is damaged there")
    func swapped() throws {
        let one = try fixture.keep([1], as: "one")
        let two = try fixture.keep([2], as: "two")
        let first = try fixture.contents(fixture.path(of: one))
        let second = try fixture.contents(fixture.path(of: two))
        try fixture.overwrite(fixture.path(of: one), second)
        #expect(try fixture.account.secrets.list().damaged.map(\.name) == [Array("two".utf8)])
        let renamed = first.replacing(Array("name: one".utf8), with: Array("name: two".utf8))
        try fixture.overwrite(fixture.path(of: one), renamed)
        #expect(try fixture.account.secrets.list().damaged.map(\.name) == [Array("two".utf8)])
        #expect(try fixture.account.secrets.list().intact == [two])

        let bob = try fixture.state.makeAccount("bob", uid: 1001, now: StateFixture.now)
        let theirs = fixture.scratch.at("private/accounts/1001/secrets")
        try #require(unsafe mkdir(theirs, 0o700) == 0)
        try fixture.overwrite("\(theirs)/\(hexadecimal(two.identifier))", second)
        #expect(try bob.secrets.list().intact.isEmpty)
        #expect(try bob.secrets.list().damaged.count == 1)

        let elsewhere = try StateFixture()
        try elsewhere.add(1)
        try elsewhere.keep([9], as: "own")
        try elsewhere.overwrite(elsewhere.path(of: two), second)
        let list = try elsewhere.account.secrets.list()
        #expect(list.damaged.count == 1 && list.intact.map(\.size) == [1])
    }

    @Test("one of the right place does not open by another's key, or for another name")
    func contexts() throws {
        let one = try fixture.keep([1], as: "one")
        let two = try fixture.keep([2], as: "two")
        let state = try fixture.present
        let secrets = fixture.account.secrets
        let key = try #require(two.sealing(for: state)).key
        #expect(throws: VaultError.doesNotOpen) { try fixture.open(one, key, under: state) }
        let other = try secrets.context(one.identifier, name: mail, state: state)
        let sealed = try #require(one.sealing(for: state)).key
        #expect(throws: VaultError.doesNotOpen) {
            try fixture.vault.ready(data: sealed, context: other).open(other)
        }
        let own = try secrets.context(two.identifier, name: two.name, state: state)
        let opened = try fixture.vault.ready(data: key, context: own).open(own)
        #expect(throws: VaultError.doesNotOpen) {
            try SealedContent.open(
                one.content, key: opened,
                context: try secrets.context(one.identifier, name: one.name, state: state))
        }
    }

    @Test("a link, or a file that others may read, is damaged; a name that is not an id is ignored")
    func untrusted() throws {
        let kept = try fixture.keep([1], as: "mail")
        let path = fixture.path(of: kept)
        #expect(unsafe chmod(path, 0o640) == 0)
        #expect(try fixture.account.secrets.list().damaged.count == 1)
        #expect(unsafe chmod(path, 0o600) == 0)
        #expect(unsafe link(path, fixture.file("secrets/notes")) == 0)
        #expect(try fixture.account.secrets.list().damaged.count == 1)
        #expect(unsafe unlink(fixture.file("secrets/notes")) == 0)
        try fixture.overwrite(fixture.file("secrets/notes"), [1])
        let list = try fixture.account.secrets.list()
        #expect(list.intact == [kept] && list.damaged.isEmpty)
    }
}

extension SecretStoreTests {
    @Test("keeping that fails at any step leaves the old one or the new one, whole")
    func interrupted() throws {
        var old = try fixture.keep([1, 1], as: "mail")
        for step in 0..<30 {
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            let content = [UInt8](repeating: UInt8(step), count: step + 3)
            let kept = try? fixture.keep(content, as: "mail", replacing: true, in: account)
            plan.disarm()
            let list = try fixture.account.secrets.list()
            #expect(list.damaged.isEmpty && list.intact.count == 1)
            let found = try #require(list.intact.first)
            if found != old { #expect(try fixture.open(found) == content) }
            #expect(try fixture.open(found).count == (found == old ? old.size : content.count))
            if kept != nil { return }
            old = found
        }
        Issue.record("it never came to an end")
    }

    @Test("keeping the first one, and deleting, that fail at any step leave one or none")
    func interruptedFirst() throws {
        var isKept = false
        for step in 0..<30 where !isKept {
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            isKept = (try? fixture.keep([1], as: "mail", in: account)) != nil
            plan.disarm()
            let list = try fixture.account.secrets.list()
            #expect(list.damaged.isEmpty)
            if !isKept, !list.intact.isEmpty { _ = try fixture.account.secrets.delete(mail) }
        }
        try #require(isKept)
        for step in 0..<10 {
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            if (try? account.secrets.delete(mail)) == true { return }
            plan.disarm()
            #expect(try fixture.account.secrets.list().damaged.isEmpty)
        }
    }

    @Test("what a crash left half-written is swept at recovery, and not by looking")
    func swept() throws {
        try fixture.keep([1], as: "mail")
        let left = fixture.file("secrets/.new-1-2")
        try fixture.scratch.write("private/accounts/\(StateFixture.uid)/secrets/.new-1-2", [1])
        _ = try fixture.account.secrets.list()
        #expect(fixture.exists(left))
        try fixture.account.recover()
        #expect(!fixture.exists(left))
        #expect(try fixture.account.secrets.list().intact.count == 1)
    }

    @Test("a removed account takes its secrets with it")
    func removed() throws {
        try fixture.keep([1], as: "mail")
        try fixture.keep([2], as: "more")
        try fixture.state.removeAccount(uid: StateFixture.uid)
        #expect(!fixture.exists(fixture.file("secrets")))
        #expect(!fixture.exists(fixture.scratch.at("private/accounts/\(StateFixture.uid)")))
        try fixture.state.removeAccount(uid: StateFixture.uid)
    }

    @Test("sealed again it opens, unless it was changed meanwhile")
    func moved() throws {
        let kept = try fixture.keep([4, 5], as: "mail")
        try fixture.reseal(kept)
        let moved = try #require(try fixture.account.secrets.secret(kept.identifier))
        #expect(moved != kept && moved.name == kept.name && moved.created == kept.created)
        #expect(try fixture.open(moved) == [4, 5])
        #expect(throws: StoreFault.changedMeanwhile) { try fixture.reseal(kept) }
        #expect(try fixture.account.secrets.list().intact == [moved])
    }

    @Test("a failure at any step of sealing again leaves one that opens")
    func movingInterrupted() throws {
        let kept = try fixture.keep([4, 5], as: "mail")
        for step in 0..<20 {
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            let found = try #require(try fixture.account.secrets.secret(kept.identifier))
            let isDone = (try? fixture.reseal(found, in: account)) != nil
            plan.disarm()
            let list = try fixture.account.secrets.list()
            #expect(list.damaged.isEmpty && list.intact.count == 1)
            #expect(try fixture.open(try #require(list.intact.first)) == [4, 5])
            if isDone { return }
        }
        Issue.record("it never came to an end")
    }
}
