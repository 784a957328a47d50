// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Daemon

/// Admission behind a reference: what is expected is called as a function.
private final class Door {
    private let admission: Admission

    init(total: Int, perUser: Int) { admission = Admission(total: total, perUser: perUser) }

    var isIdle: Bool { admission.isIdle }
    func admit(uid: UInt32, asRoot isRoot: Bool? = nil) -> Bool {
        admission.admit(uid: uid, asRoot: isRoot ?? (uid == 0))
    }
    func leave(uid: UInt32) { admission.leave(uid: uid) }
    func mayRequest(uid: UInt32, at now: Duration) -> Bool {
        admission.mayRequest(uid: uid, at: now)
    }
    func mayConnect(uid: UInt32, at now: Duration) -> Bool {
        admission.mayConnect(uid: uid, at: now)
    }
    func sweep(at now: Duration) { admission.sweep(at: now) }
}

@Suite("admission") struct AdmissionTests {
    @Test("a user has so many connections and no more, until one ends")
    func perUser() {
        let admission = Door(total: 128, perUser: 2)
        #expect(admission.admit(uid: 1) && admission.admit(uid: 1))
        #expect(!admission.admit(uid: 1))
        #expect(admission.admit(uid: 2), "another user is not concerned")
        admission.leave(uid: 1)
        #expect(admission.admit(uid: 1) && !admission.admit(uid: 1))
    }

    @Test("a quarter of all connections is reserved for root, whichever users connect")
    func reserve() {
        let admission = Door(total: 8, perUser: 2)
        for uid in [1, 1, 2, 2, 3, 3] as [UInt32] { #expect(admission.admit(uid: uid)) }
        #expect(!admission.admit(uid: 4))
        #expect(admission.admit(uid: 0) && admission.admit(uid: 0))
        #expect(!admission.admit(uid: 0))
    }

    @Test("a user who connects and hangs up all the time is turned away; others and root are not")
    func arrivals() {
        let admission = Door(total: 128, perUser: 16)
        let start = Duration.seconds(1_000)
        for _ in 0..<Admission.connectionBurst {
            #expect(admission.mayConnect(uid: 1, at: start))
            #expect(admission.admit(uid: 1))
            admission.leave(uid: 1)
        }
        #expect(!admission.mayConnect(uid: 1, at: start))
        #expect(admission.mayConnect(uid: 2, at: start))
        for _ in 0..<1_000 { #expect(admission.mayConnect(uid: 0, at: start)) }
        admission.sweep(at: start + .milliseconds(500))
        #expect(!admission.mayConnect(uid: 1, at: start + .milliseconds(999)))
        let later = start + .seconds(1)
        for _ in 0..<Admission.connectionsPerSecond {
            #expect(admission.mayConnect(uid: 1, at: later))
        }
        #expect(!admission.mayConnect(uid: 1, at: later))
    }

    @Test("a client that leaves twice frees its place once")
    func leavingTwice() {
        let admission = Door(total: 128, perUser: 1)
        #expect(admission.admit(uid: 1))
        admission.leave(uid: 1)
        admission.leave(uid: 1)
        admission.leave(uid: 9)
        #expect(admission.isIdle)
        #expect(admission.admit(uid: 1) && !admission.admit(uid: 1))
    }

    @Test("a user may make so many requests at once, and then so many a second; root any number")
    func rate() {
        let admission = Door(total: 128, perUser: 16)
        let start = Duration.seconds(1_000)
        for _ in 0..<Admission.burst { #expect(admission.mayRequest(uid: 1, at: start)) }
        #expect(!admission.mayRequest(uid: 1, at: start))
        #expect(!admission.mayRequest(uid: 1, at: start + .milliseconds(999)))
        for _ in 0..<Admission.requestsPerSecond {
            #expect(admission.mayRequest(uid: 1, at: start + .seconds(1)))
        }
        #expect(!admission.mayRequest(uid: 1, at: start + .seconds(1)))
        for _ in 0..<1_000 { #expect(admission.mayRequest(uid: 0, at: start)) }
        #expect(admission.mayRequest(uid: 2, at: start))
    }

    @Test("neither hanging up nor forgetting gives a new allowance")
    func sweeping() {
        let admission = Door(total: 128, perUser: 16)
        let start = Duration.seconds(1_000)
        #expect(admission.admit(uid: 1))
        while admission.mayRequest(uid: 1, at: start) {}
        admission.leave(uid: 1)
        admission.sweep(at: start + .milliseconds(500))
        #expect(admission.admit(uid: 1))
        #expect(!admission.mayRequest(uid: 1, at: start + .milliseconds(500)))
    }
}
