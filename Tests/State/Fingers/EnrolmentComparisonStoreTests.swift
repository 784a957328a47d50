// SPDX-License-Identifier: Apache-2.0
import Authorization
import Domain
import Glibc
import Posix
import State
import TestSupport
import Testing

@Suite("comparisons during enrolment, on disk")
struct EnrolmentComparisonStoreTests {
    private static let bob: AccountName = "bob"
    private static let bobUID: UInt32 = 1001
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test("are none for an account that nothing is kept for, and kept before anything else is")
    func saves() throws {
        #expect(store.load(uid: Self.bobUID) == EnrolmentComparisons())
        #expect(!fixture.exists(path(Self.bobUID)), "a question writes nothing")
        let moment = Lockout.Moment(
            boot: Array("7f9c0d4e-boot".utf8), sinceBoot: .seconds(86_400) + .nanoseconds(123))
        let states = [
            EnrolmentComparisons(count: 4, completions: 2, pausedAt: nil),
            EnrolmentComparisons(count: 5, completions: 10, pausedAt: moment),
            .unreadable,
        ]
        for comparisons in states {
            try store.save(comparisons, uid: Self.bobUID)
            #expect(try reopened().load(uid: Self.bobUID) == comparisons)
        }
        #expect(store.load(uid: StateFixture.uid) == EnrolmentComparisons())
        _ = try fixture.state.makeAccount(Self.bob, uid: Self.bobUID, now: StateFixture.now)
        #expect(store.load(uid: Self.bobUID) == .unreadable, "the account is made beside them")
    }

    @Test("a missing record is a lock once there is an account, not a pardon")
    func missing() throws {
        #expect(store.load(uid: StateFixture.uid) == EnrolmentComparisons())
        #expect(unsafe unlink(path(StateFixture.uid)) == 0)
        #expect(store.load(uid: StateFixture.uid) == .unreadable)
        _ = try fixture.state.makeAccount(
            StateFixture.alice, uid: StateFixture.uid, now: StateFixture.now)
        #expect(try reopened().load(uid: StateFixture.uid) == .unreadable)
        #expect(unsafe rmdir(fixture.scratch.at("private/comparisons")) == 0)
        #expect(try reopened().load(uid: StateFixture.uid) == .unreadable)
    }

    @Test(
        "a record that is damaged is a lock",
        arguments: [
            "", "signet-comparisons: 1\n", "signet-comparisons: 1\ncount: 1\n",
            "signet-comparisons: 1\ncount: -1\ncompletions: 0\n",
            "signet-comparisons: 1\ncount: 4294967296\ncompletions: 0\n",
            "signet-comparisons: 1\ncount: 1\ncompletions: 00\n",
            "signet-comparisons: 1\ncount: 1\ncompletions: 0",
            "signet-comparisons: 1\ncount: 1\ncompletions: 0\ncount: 0\n",
            "signet-comparisons: 2\ncount: 0\ncompletions: 0\n",
            "signet-comparisons: 1\ncount: 5\ncompletions: 0\nboot: x\n",
        ])
    func damaged(_ text: String) throws {
        try fixture.overwrite(path(StateFixture.uid), Array(text.utf8))
        #expect(store.load(uid: StateFixture.uid) == .unreadable)
        try fixture.overwrite(path(Self.bobUID), Array(text.utf8))
        #expect(store.load(uid: Self.bobUID) == .unreadable, "also without an account")
    }

    @Test("a record that is a link, a directory, or readable by others is a lock")
    func untrusted() throws {
        let path = path(StateFixture.uid)
        #expect(unsafe chmod(path, 0o644) == 0)
        #expect(store.load(uid: StateFixture.uid) == .unreadable)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe symlink("1001", path) == 0)
        #expect(store.load(uid: StateFixture.uid) == .unreadable)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe mkdir(path, 0o700) == 0)
        #expect(store.load(uid: StateFixture.uid) == .unreadable)
    }

    @Test("outlive the removal of the account, and the next owner of the uid")
    func removal() throws {
        let comparisons = EnrolmentComparisons(count: 19, completions: 3, pausedAt: nil)
        try store.save(comparisons, uid: StateFixture.uid)
        try fixture.state.removeAccount(uid: StateFixture.uid)
        #expect(try reopened().load(uid: StateFixture.uid) == comparisons)
        for name in [Self.bob, StateFixture.alice] {
            _ = try fixture.state.makeAccount(name, uid: StateFixture.uid, now: StateFixture.now)
            #expect(store.load(uid: StateFixture.uid) == comparisons)
            try fixture.state.removeAccount(uid: StateFixture.uid)
        }
    }

    @Test("a failed save is reported, and the old record or the new one is there")
    func interruptedSave() throws {
        let old = EnrolmentComparisons(count: 1, completions: 0, pausedAt: nil)
        let new = EnrolmentComparisons(count: 2, completions: 0, pausedAt: nil)
        for step in 0..<20 {
            try store.save(old, uid: StateFixture.uid)
            let plan = FaultPlan()
            let failing = try StateDirectory.open(fixture.scratch.path, faults: plan.faults)
            plan.arm(after: step)
            let saved: Void? = try? failing.comparisons.save(new, uid: StateFixture.uid)
            let found = store.load(uid: StateFixture.uid)
            #expect(found == old || found == new)
            if saved != nil {
                #expect(found == new)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("an account whose making fails anywhere is made later, and is not locked")
    func interruptedMaking() throws {
        for step in 0..<40 {
            let uid = 2_000 + UInt32(step)
            let plan = FaultPlan()
            let failing = try StateDirectory.open(fixture.scratch.path, faults: plan.faults)
            plan.arm(after: step)
            let made = try? failing.makeAccount(Self.bob, uid: uid, now: StateFixture.now)
            plan.disarm()
            #expect(store.load(uid: uid) == EnrolmentComparisons(), "step \(step)")
            _ = try fixture.state.makeAccount(Self.bob, uid: uid, now: StateFixture.now)
            #expect(store.load(uid: uid) == EnrolmentComparisons(), "step \(step)")
            if made != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("accounts of a version that counted none begin at none")
    func migrated() throws {
        #expect(unsafe unlink(path(StateFixture.uid)) == 0)
        #expect(unsafe rmdir(fixture.scratch.at("private/comparisons")) == 0)
        let version = fixture.scratch.at("version")
        try fixture.overwrite(version, Array("signet-state: 2\n".utf8))
        #expect(unsafe chmod(version, 0o644) == 0)
        #expect(try reopened().load(uid: StateFixture.uid) == EnrolmentComparisons())
        #expect(try fixture.contents(version) == Array("signet-state: 4\n".utf8))
        #expect(unsafe unlink(path(StateFixture.uid)) == 0)
        #expect(try reopened().load(uid: StateFixture.uid) == .unreadable, "and only once")
    }

    private var store: EnrolmentComparisonStore { fixture.state.comparisons }

    private func path(_ uid: UInt32) -> String { fixture.scratch.at("private/comparisons/\(uid)") }

    private func reopened() throws -> EnrolmentComparisonStore {
        try StateDirectory.open(fixture.scratch.path).comparisons
    }
}
