// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("the state directory")
struct StateDirectoryTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test("opened again, it is that machine with that account")
    func again() throws {
        let state = try StateDirectory.open(fixture.scratch.path)
        #expect(state.device == fixture.state.device)
        #expect(try state.host.identifier() == fixture.state.host.identifier())
        let account = try #require(try state.account(StateFixture.alice, uid: StateFixture.uid))
        #expect(try account.created() == StateFixture.now)
        #expect(try state.accounts().map(\.uid) == [StateFixture.uid])
        #expect(try state.account("bob", uid: 1001) == nil)
    }

    @Test("public files are for all to read, private ones for root alone")
    func modes() throws {
        try fixture.add(1)
        try fixture.issue()
        for (name, mode) in [
            ("version", 0o644), ("device-id", 0o644), ("keys", 0o755), ("private", 0o700),
            ("keys/1000.pub", 0o644), ("private/host-secret", 0o600), ("private/accounts", 0o700),
            ("private/accounts/1000", 0o700), ("private/accounts/1000/account", 0o600),
            ("private/accounts/1000/credential", 0o600), ("private/accounts/1000/signers", 0o600),
            ("private/accounts/1000/lockout", 0o600), ("private/accounts/1000/prints", 0o700),
            ("private/comparisons", 0o700), ("private/comparisons/1000", 0o600),
        ] as [(String, UInt32)] {
            var status = stat()
            #expect(unsafe stat(fixture.scratch.at(name), &status) == 0, "\(name)")
            #expect(status.st_mode & 0o7777 == mode, "\(name)")
        }
    }

    @Test("a root that others may write to, another's, a link, or a relative one is refused")
    func root() throws {
        let path = fixture.scratch.path
        #expect(unsafe chmod(path, 0o775) == 0)
        refused(path, .file(.untrusted(path: path, .mode(0o775))))
        #expect(unsafe chmod(path, 0o755) == 0)
        #expect(unsafe chown(path, 4711, 0) == 0)
        refused(path, .file(.untrusted(path: path, .owner(4711))))
        #expect(unsafe chown(path, 0, 0) == 0)
        let link = path + "-link"
        #expect(unsafe symlink(path, link) == 0)
        defer { _ = unsafe unlink(link) }
        refused(link, .file(.untrusted(path: link, .wrongKind)))
        refused("state", .file(.untrusted(path: "state", .notAbsolute)))
    }

    @Test("a private directory that others may enter is refused")
    func privacy() throws {
        let path = fixture.scratch.at("private")
        #expect(unsafe chmod(path, 0o711) == 0)
        refused(fixture.scratch.path, .file(.untrusted(path: path, .mode(0o711))))
    }

    @Test("a later version is refused by its number, a damaged one as damaged")
    func version() throws {
        let path = fixture.scratch.at("version")
        for text in ["signet-state: 5\n", "signet-state: 5\nmore: yes\n"] {
            try fixture.overwrite(path, Array(text.utf8))
            refused(fixture.scratch.path, .newerVersion(5))
            #expect(try fixture.contents(path) == Array(text.utf8))
        }
        for text in ["", "2\n", "signet-state: 4", "signet-state: 0\n", "signet-state: 4\n\n"] {
            try fixture.overwrite(path, Array(text.utf8))
            refused(fixture.scratch.path, .damaged(path: path))
        }
    }

    @Test("a damaged device id is refused, not replaced")
    func device() throws {
        let path = fixture.scratch.at("device-id")
        let good = try fixture.contents(path)
        for bad in [[], Array(good.dropLast()), good + [10], Array("x".utf8) + good.dropFirst()] {
            try fixture.overwrite(path, bad)
            refused(fixture.scratch.path, .damaged(path: path))
            #expect(try fixture.contents(path) == bad)
        }
    }

    @Test("a uid whose records carry another name belongs to another user")
    func reusedUid() throws {
        let bob: AccountName = "bob"
        #expect(throws: StoreFault.anotherAccount(name: StateFixture.alice)) {
            try fixture.state.account(bob, uid: StateFixture.uid)
        }
        #expect(throws: StoreFault.anotherAccount(name: StateFixture.alice)) {
            try fixture.state.makeAccount(bob, uid: StateFixture.uid, now: StateFixture.now)
        }
        try fixture.add(1)
        try fixture.issue()
        try fixture.state.removeAccount(uid: StateFixture.uid)
        #expect(!fixture.exists(fixture.publicKey))
        let fresh = try fixture.state.makeAccount(bob, uid: StateFixture.uid, now: StateFixture.now)
        #expect(try fresh.prints.enrolment().isEmpty)
        #expect(try fresh.credential.state() == .none)
        #expect(try fixture.state.account(bob, uid: StateFixture.uid) != nil)
    }

    @Test("removing an account that fails anywhere leaves no public key, and is completed later")
    func interruptedRemoval() throws {
        for step in 0..<80 {
            let account = try fixture.state.makeAccount(
                StateFixture.alice, uid: StateFixture.uid, now: StateFixture.now)
            var template: [UInt8] = [1]
            _ = try account.prints.add(
                &template, finger: .rightIndex, reader: StateFixture.reader, now: StateFixture.now)
            _ = try account.credential.issue(
                try account.prints.enrolment(), vault: fixture.vault, now: StateFixture.now)
            let plan = FaultPlan()
            let state = try StateDirectory.open(fixture.scratch.path, faults: plan.faults)
            plan.arm(after: step)
            let done: Void? = try? state.removeAccount(uid: StateFixture.uid)
            plan.disarm()
            #expect(step == 0 || !fixture.exists(fixture.publicKey))
            if let left = try state.account(StateFixture.alice, uid: StateFixture.uid) {
                if case .issued = try left.credential.state(), step > 0 {
                    Issue.record("step \(step)")
                }
            }
            try state.removeAccount(uid: StateFixture.uid)
            #expect(!fixture.exists(fixture.file("")))
            #expect(try state.accounts().isEmpty)
            if done != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("recovery and removal of an account reach each of its directories, whatever it is named")
    func directories() throws {
        let account = try fixture.state.makeAccount(
            StateFixture.alice, uid: StateFixture.uid, now: StateFixture.now)
        let directory = try Directory.open(
            fixture.scratch.at("private/accounts/\(StateFixture.uid)"))
        let inner = try directory.makeDirectory("badges", mode: 0o700)
        try inner.replace("one", bytes: [1])
        try inner.replace("half", bytes: [2])
        #expect(unsafe rename(inner.path + "/half", inner.path + "/.new-12-ab") == 0)
        try account.recover()
        #expect(try inner.listAll() == ["one"])
        // One that cannot be deleted, and comes first.
        let foreign = try directory.makeDirectory("a", mode: 0o700)
        _ = try foreign.makeDirectory("nested", mode: 0o700)
        #expect(throws: (any Error).self) {
            try fixture.state.removeAccount(uid: StateFixture.uid)
        }
        #expect(try directory.subdirectories() == ["a"])
        try foreign.removeDirectory("nested")
        try fixture.state.removeAccount(uid: StateFixture.uid)
        #expect(!fixture.exists(fixture.file("")))
    }

    @Test("a record moved to another uid is damaged")
    func movedRecord() throws {
        let bob: AccountName = "bob"
        _ = try fixture.state.makeAccount(bob, uid: 1001, now: StateFixture.now)
        let mine = fixture.file("account")
        try fixture.overwrite(
            fixture.scratch.at("private/accounts/1001/account"), try fixture.contents(mine))
        #expect(throws: StoreFault.self) {
            try fixture.state.account(StateFixture.alice, uid: 1001)
        }
    }

    @Test(
        "names that an allowed_signers file cannot carry are refused",
        arguments: ["", "a*", "!a", "a,b", "a\"b", "a\nb", "a:b", "-a"])
    func names(_ name: String) {
        #expect(throws: StoreFault.unsupportedName) {
            try fixture.state.makeAccount(AccountName(name), uid: 1001, now: StateFixture.now)
        }
    }

    @Test(
        "an account record that is cut, repeated, extended or reordered is damaged",
        arguments: [
            "", "signet-account: 2\n", "signet-account: 3\nname: alice\nuid: 1000\ngeneration: 0\n",
            "name: alice\nsignet-account: 2\n",
        ])
    func records(_ text: String) throws {
        let good = try fixture.contents(fixture.file("account"))
        for bad in [Array(text.utf8), Array(good.dropLast()), good + good, good + [10]] {
            try fixture.overwrite(fixture.file("account"), bad)
            #expect(throws: StoreFault.damaged(path: fixture.file("account"))) {
                try fixture.state.account(StateFixture.alice, uid: StateFixture.uid)
            }
        }
        #expect(try fixture.state.accounts().isEmpty)
    }

    @Test("a first start that is interrupted anywhere is completed by the next")
    func firstStart() throws {
        for step in 0..<120 {
            let scratch = try Scratch()
            #expect(unsafe chmod(scratch.path, 0o755) == 0)
            let plan = FaultPlan()
            plan.arm(after: step)
            let first = try? open(scratch, plan)
            plan.disarm()
            let account = try open(scratch, plan)
            #expect(account.name == StateFixture.alice)
            #expect(account.lockout.load() == .init())
            #expect(try account.receipts().prepare().counter == 1)
            if first != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("what a crash left half-written is swept at the next start")
    func sweeps() throws {
        try fixture.scratch.write("private/accounts/1000/.new-1-2", "half")
        try fixture.scratch.write("keys/.new-1-2", "half")
        let state = try StateDirectory.open(fixture.scratch.path)
        _ = try state.account(StateFixture.alice, uid: StateFixture.uid)
        #expect(fixture.exists(fixture.file(".new-1-2")), "looking sweeps nothing")
        state.recover()
        #expect(!fixture.exists(fixture.file(".new-1-2")))
        #expect(!fixture.exists(fixture.scratch.at("keys/.new-1-2")))
    }

    private func open(_ scratch: Scratch, _ plan: FaultPlan) throws -> AccountState {
        try StateDirectory.open(scratch.path, faults: plan.faults)
            .makeAccount(StateFixture.alice, uid: StateFixture.uid, now: StateFixture.now)
    }

    private func refused(_ path: String, _ fault: StoreFault) {
        #expect(throws: fault) { try StateDirectory.open(path) }
    }
}
