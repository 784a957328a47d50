// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
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
    let bench: Bench

    init() throws { bench = try Bench() }

    @Test("opened again, it is the same machine with the same account")
    func again() throws {
        let state = try StateDirectory.open(bench.scratch.path)
        #expect(state.device == bench.state.device)
        #expect(state.device.count == 16)
        #expect(try state.host.identifier() == bench.state.host.identifier())
        let account = try #require(try state.account(Bench.alice, uid: Bench.uid))
        #expect(try account.created() == Bench.now)
        #expect(try state.accounts().map(\.uid) == [Bench.uid])
        #expect(try state.account(Array("bob".utf8), uid: 1001) == nil)
    }

    @Test("public files are for all to read, private ones for root alone")
    func modes() throws {
        try bench.add(1)
        try bench.issue()
        for (name, mode) in [
            ("version", 0o644), ("device-id", 0o644), ("keys", 0o755), ("private", 0o700),
            ("keys/1000.pub", 0o644), ("private/host-secret", 0o600), ("private/accounts", 0o700),
            ("private/accounts/1000", 0o700), ("private/accounts/1000/account", 0o600),
            ("private/accounts/1000/credential", 0o600), ("private/accounts/1000/signers", 0o600),
            ("private/accounts/1000/lockout", 0o600), ("private/accounts/1000/prints", 0o700),
            ("private/comparisons", 0o700), ("private/comparisons/1000", 0o600),
        ] as [(String, UInt32)] {
            var status = stat()
            #expect(unsafe stat(bench.scratch.at(name), &status) == 0, "\(name)")
            #expect(status.st_mode & 0o7777 == mode, "\(name)")
        }
    }

    @Test("a root that others may write to, another's, a link, or a relative one is refused")
    func root() throws {
        let path = bench.scratch.path
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
        let path = bench.scratch.at("private")
        #expect(unsafe chmod(path, 0o711) == 0)
        refused(bench.scratch.path, .file(.untrusted(path: path, .mode(0o711))))
    }

    @Test("a later version is refused by its number, a damaged one as damaged")
    func version() throws {
        let path = bench.scratch.at("version")
        for text in ["signet-state: 4\n", "signet-state: 4\nmore: yes\n"] {
            try bench.overwrite(path, Array(text.utf8))
            refused(bench.scratch.path, .newerVersion(4))
            #expect(try bench.contents(path) == Array(text.utf8))
        }
        for text in ["", "2\n", "signet-state: 3", "signet-state: 0\n", "signet-state: 3\n\n"] {
            try bench.overwrite(path, Array(text.utf8))
            refused(bench.scratch.path, .damaged(path: path))
        }
    }

    @Test("a damaged device id is refused, not made anew")
    func device() throws {
        let path = bench.scratch.at("device-id")
        let good = try bench.contents(path)
        for bad in [[], Array(good.dropLast()), good + [10], Array("x".utf8) + good.dropFirst()] {
            try bench.overwrite(path, bad)
            refused(bench.scratch.path, .damaged(path: path))
            #expect(try bench.contents(path) == bad)
        }
    }

    @Test("a uid whose records carry another name is somebody else's")
    func reusedUid() throws {
        let bob = Array("bob".utf8)
        #expect(throws: StoreFault.anotherAccount(name: Bench.alice)) {
            try bench.state.account(bob, uid: Bench.uid)
        }
        #expect(throws: StoreFault.anotherAccount(name: Bench.alice)) {
            try bench.state.makeAccount(bob, uid: Bench.uid, now: Bench.now)
        }
        try bench.add(1)
        try bench.issue()
        try bench.state.removeAccount(uid: Bench.uid)
        #expect(!bench.exists(bench.publicKey))
        let fresh = try bench.state.makeAccount(bob, uid: Bench.uid, now: Bench.now)
        #expect(try fresh.prints.enrolment().isEmpty)
        #expect(try fresh.credential.state() == .none)
        #expect(try bench.state.account(bob, uid: Bench.uid) != nil)
    }

    @Test("removing an account that fails anywhere leaves no public key, and is completed later")
    func interruptedRemoval() throws {
        for step in 0..<80 {
            let account = try bench.state.makeAccount(
                Bench.alice, uid: Bench.uid, now: Bench.now)
            var template: [UInt8] = [1]
            _ = try account.prints.add(
                &template, finger: .rightIndex, reader: Bench.reader, now: Bench.now)
            _ = try account.credential.issue(
                try account.prints.enrolment(), vault: bench.vault, now: Bench.now)
            let plan = FaultPlan()
            let state = try StateDirectory.open(bench.scratch.path, faults: plan.faults)
            plan.arm(after: step)
            let done: Void? = try? state.removeAccount(uid: Bench.uid)
            plan.disarm()
            #expect(step == 0 || !bench.exists(bench.publicKey))
            if let left = try state.account(Bench.alice, uid: Bench.uid) {
                if case .issued = try left.credential.state(), step > 0 {
                    Issue.record("step \(step)")
                }
            }
            try state.removeAccount(uid: Bench.uid)
            #expect(!bench.exists(bench.file("")))
            #expect(try state.accounts().isEmpty)
            if done != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("a record moved to another uid is damaged")
    func movedRecord() throws {
        let bob = Array("bob".utf8)
        _ = try bench.state.makeAccount(bob, uid: 1001, now: Bench.now)
        let mine = bench.file("account")
        try bench.overwrite(
            bench.scratch.at("private/accounts/1001/account"), try bench.contents(mine))
        #expect(throws: StoreFault.self) { try bench.state.account(Bench.alice, uid: 1001) }
    }

    @Test(
        "names that an allowed_signers file cannot carry are refused",
        arguments: ["", "a b", "a*", "!a", "a,b", "a\"b", "#a", "a\nb", "a%b", "a:b"])
    func names(_ name: String) {
        #expect(throws: StoreFault.unsupportedName) {
            try bench.state.makeAccount(Array(name.utf8), uid: 1001, now: Bench.now)
        }
    }

    @Test(
        "an account record that is cut, repeated, extended or reordered is damaged",
        arguments: [
            "", "signet-account: 2\n", "signet-account: 3\nname: alice\nuid: 1000\ngeneration: 0\n",
            "name: alice\nsignet-account: 2\n",
        ])
    func records(_ text: String) throws {
        let good = try bench.contents(bench.file("account"))
        for bad in [Array(text.utf8), Array(good.dropLast()), good + good, good + [10]] {
            try bench.overwrite(bench.file("account"), bad)
            #expect(throws: StoreFault.damaged(path: bench.file("account"))) {
                try bench.state.account(Bench.alice, uid: Bench.uid)
            }
        }
        #expect(try bench.state.accounts().isEmpty)
    }

    @Test("a first start that is interrupted anywhere is completed by the next")
    func firstStart() throws {
        for step in 0..<60 {
            let scratch = try Scratch()
            #expect(unsafe chmod(scratch.path, 0o755) == 0)
            let plan = FaultPlan()
            plan.arm(after: step)
            let first = try? open(scratch, plan)
            plan.disarm()
            let account = try open(scratch, plan)
            #expect(account.name == Bench.alice)
            #expect(account.lockout.load() == .init())
            #expect(try account.receipts().prepare().counter == 1)
            if first != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("what a crash left half-written is swept at the next start")
    func sweeps() throws {
        try bench.scratch.write("private/accounts/1000/.new-1-2", "half")
        try bench.scratch.write("keys/.new-1-2", "half")
        let state = try StateDirectory.open(bench.scratch.path)
        _ = try state.account(Bench.alice, uid: Bench.uid)
        #expect(bench.exists(bench.file(".new-1-2")), "looking sweeps nothing")
        state.recover()
        #expect(!bench.exists(bench.file(".new-1-2")))
        #expect(!bench.exists(bench.scratch.at("keys/.new-1-2")))
    }

    private func open(_ scratch: Scratch, _ plan: FaultPlan) throws -> AccountState {
        try StateDirectory.open(scratch.path, faults: plan.faults)
            .makeAccount(Bench.alice, uid: Bench.uid, now: Bench.now)
    }

    private func refused(_ path: String, _ fault: StoreFault) {
        #expect(throws: fault) { try StateDirectory.open(path) }
    }
}
