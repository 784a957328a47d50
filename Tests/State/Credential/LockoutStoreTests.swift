// SPDX-License-Identifier: Apache-2.0
import Authorization
import Glibc
import Posix
import State
import TestSupport
import Testing

@Suite("failed matches on disk")
struct LockoutStoreTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test("a new account has no failures, and what was saved is loaded")
    func saves() throws {
        #expect(store.load() == Lockout())
        let moment = Lockout.Moment(
            boot: Array("7f9c0d4e-boot".utf8), sinceBoot: .seconds(86_400) + .nanoseconds(123))
        let states = [
            Lockout(failures: 4, pausedAt: nil), Lockout(failures: 5, pausedAt: moment),
            Lockout(failures: 20, pausedAt: nil), Lockout.unreadable,
        ]
        for lockout in states {
            try store.save(lockout)
            #expect(store.load() == lockout)
            let again = try StateDirectory.open(fixture.scratch.path)
            #expect(
                try again.account(StateFixture.alice, uid: StateFixture.uid)?.lockout.load()
                    == lockout)
        }
    }

    @Test("a missing record is a lockout, not a pardon")
    func missing() throws {
        try store.save(Lockout(failures: 19, pausedAt: nil))
        #expect(unsafe unlink(fixture.file("lockout")) == 0)
        #expect(store.load() == .unreadable)
        let again = try StateDirectory.open(fixture.scratch.path)
            .makeAccount(StateFixture.alice, uid: StateFixture.uid, now: StateFixture.now)
        #expect(again.lockout.load() == .unreadable)
    }

    @Test(
        "a record that is damaged is a lockout",
        arguments: [
            "", "signet-lockout: 1\n", "signet-lockout: 1\nfailures: -1\n",
            "signet-lockout: 1\nfailures: 00\n", "signet-lockout: 1\nfailures: 4294967296\n",
            "signet-lockout: 1\nfailures: 0\nfailures: 0\n", "signet-lockout: 2\nfailures: 0\n",
            "signet-lockout: 1\nfailures: 0", "signet-lockout: 1\nfailures: 5\nboot: x\n",
            "signet-lockout: 1\nfailures: 5\nboot: x\npaused: 18446744073709551615\n",
        ])
    func damaged(_ text: String) throws {
        try fixture.overwrite(fixture.file("lockout"), Array(text.utf8))
        #expect(store.load() == .unreadable)
    }

    @Test("a record that is a link, a directory, or readable by others is a lockout")
    func untrusted() throws {
        let path = fixture.file("lockout")
        #expect(unsafe chmod(path, 0o644) == 0)
        #expect(store.load() == .unreadable)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe symlink("account", path) == 0)
        #expect(store.load() == .unreadable)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe mkdir(path, 0o700) == 0)
        #expect(store.load() == .unreadable)
    }

    @Test("a failed save is reported, and the old record or the new one is there")
    func interrupted() throws {
        let old = Lockout(failures: 1, pausedAt: nil)
        let new = Lockout(failures: 2, pausedAt: nil)
        for step in 0..<20 {
            try store.save(old)
            let plan = FaultPlan()
            let account = try fixture.account(failing: plan)
            plan.arm(after: step)
            let saved: Void? = try? account.lockout.save(new)
            let found = store.load()
            #expect(found == old || found == new)
            if saved != nil {
                #expect(found == new)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    private var store: LockoutStore { fixture.account.lockout }
}
