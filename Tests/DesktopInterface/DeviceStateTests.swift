// SPDX-License-Identifier: Apache-2.0
import DesktopInterface
import Domain
import TestSupport
import Testing

/// What a call ended with; nil if it was in order.
private func fault(_ body: () throws(DesktopFault) -> Void) -> DesktopFault.Kind? {
    do throws(DesktopFault) {
        try body()
        return nil
    } catch { return error.kind }
}

/// The calls that want a claim.
private enum Call: CaseIterable {
    case verify, enroll, stopVerifying, stopEnrolling, release, delete

    func make(of state: inout DeviceState, by client: String) throws(DesktopFault) {
        switch self {
        case .verify: _ = try state.begin(.verify, by: client)
        case .enroll: _ = try state.begin(.enroll, by: client)
        case .stopVerifying: _ = try state.stop(.verify, by: client)
        case .stopEnrolling: _ = try state.stop(.enroll, by: client)
        case .release: _ = try state.release(by: client)
        case .delete: _ = try state.beginDeletion(by: client)
        }
    }
}

@Suite("a device on the bus")
struct DeviceStateTests {
    private let one = ":1.1"
    private let two = ":1.2"

    private func claimed(at now: Duration = .zero) throws -> DeviceState {
        var state = DeviceState()
        try state.claim(for: "alice", by: one, at: now)
        return state
    }

    @Test("is claimed by one client at a time, and by the same client once")
    func claims() throws {
        var state = try claimed()
        for client in [one, two] {
            #expect(
                fault { () throws(DesktopFault) in
                    try state.claim(for: "bob", by: client, at: .zero)
                } == .alreadyInUse)
        }
        #expect(state.claim?.account == "alice")
        _ = try state.release(by: one)
        try state.claim(for: "bob", by: two, at: .zero)
        #expect(state.claim?.client == two)
    }

    @Test("wants a claim before anything else, and the claimer's own")
    func order() throws {
        var unclaimed = DeviceState()
        var state = try claimed()
        for call in Call.allCases {
            #expect(
                fault { () throws(DesktopFault) in try call.make(of: &unclaimed, by: two) }
                    == .claimDevice, "\(call)")
            #expect(
                fault { () throws(DesktopFault) in try call.make(of: &state, by: two) }
                    == .alreadyInUse, "\(call)")
        }
        #expect(state.claim?.client == one && state.runningScan == nil)
    }

    @Test("does one thing at a time", arguments: [DeviceState.Action.verify, .enroll])
    func busy(action: DeviceState.Action) throws {
        var state = try claimed()
        let scan = try state.begin(action, by: one)
        func expectBusy() {
            for other in [DeviceState.Action.verify, .enroll] {
                #expect(
                    fault { () throws(DesktopFault) in _ = try state.begin(other, by: one) }
                        == .alreadyInUse)
            }
            #expect(
                fault { () throws(DesktopFault) in _ = try state.beginDeletion(by: one) }
                    == .alreadyInUse)
        }
        expectBusy()
        let isAdmitted = state.admitted(scan)
        #expect(isAdmitted)
        expectBusy()
        // After its end was reported, it must be stopped first.
        state.ended(scan, at: .zero)
        expectBusy()
        #expect(state.runningScan == nil)
        let other: DeviceState.Action = action == .verify ? .enroll : .verify
        #expect(
            fault { () throws(DesktopFault) in _ = try state.stop(other, by: one) }
                == .alreadyInUse)
        let ended = try state.stop(action, by: one)
        #expect(ended == nil)
        #expect(
            fault { () throws(DesktopFault) in _ = try state.stop(action, by: one) }
                == .noActionInProgress)
        _ = try state.begin(other, by: one)
    }

    @Test("a scan that is stopped is ended first, and a second stop has to wait")
    func stopping() throws {
        var state = try claimed()
        let scan = try state.begin(.verify, by: one)
        let isAdmitted = state.admitted(scan)
        #expect(isAdmitted && state.isScanning(scan))
        let stopped = try state.stop(.verify, by: one)
        #expect(stopped == scan)
        #expect(!state.isScanning(scan))
        #expect(
            fault { () throws(DesktopFault) in _ = try state.stop(.verify, by: one) }
                == .alreadyInUse)
        state.ended(scan, at: .zero)
        _ = try state.begin(.enroll, by: one)
    }

    @Test("a scan that the daemon refuses leaves nothing to stop")
    func refused() throws {
        var state = try claimed()
        let scan = try state.begin(.enroll, by: one)
        state.ended(scan, at: .zero)
        #expect(
            fault { () throws(DesktopFault) in _ = try state.stop(.enroll, by: one) }
                == .noActionInProgress)
    }

    @Test("what comes late for an earlier scan has no effect")
    func late() throws {
        var state = try claimed()
        let first = try state.begin(.verify, by: one)
        let released = try state.release(by: one)
        #expect(released == first)
        try state.claim(for: "bob", by: two, at: .zero)
        let second = try state.begin(.verify, by: two)
        #expect(first != second)
        let isAdmitted = state.admitted(first)
        #expect(!isAdmitted && !state.isScanning(first))
        state.ended(first, at: .zero)
        #expect(state.runningScan == second)
    }

    @Test("the claim of a client that has left the bus ends, with its scan; no other does")
    func vanished() throws {
        var state = try claimed()
        let scan = try state.begin(.verify, by: one)
        let others = state.vanish(two)
        #expect(others == nil && state.claim != nil)
        let own = state.vanish(one)
        #expect(own == scan && state.claim == nil)
        try state.claim(for: "bob", by: two, at: .zero)
    }

    @Test("a claim without a scan ends after a minute, and one with a scan does not")
    func unused() throws {
        var state = try claimed(at: .seconds(100))
        #expect(state.expiry == .seconds(160))
        let early = state.expire(at: .seconds(159))
        #expect(!early && state.claim != nil)
        let scan = try state.begin(.verify, by: one)
        let isAdmitted = state.admitted(scan)
        #expect(isAdmitted && state.expiry == nil)
        let running = state.expire(at: .seconds(10_000))
        #expect(!running)
        state.ended(scan, at: .seconds(10_000))
        #expect(state.expiry == .seconds(10_060))
        let unused = state.expire(at: .seconds(10_060))
        #expect(unused && state.claim == nil)
        let again = state.expire(at: .seconds(20_000))
        #expect(!again && state.expiry == nil)
    }

    @Test("a scan that was refused, or stopped before it began, does not prolong a claim")
    func refusedScan() throws {
        var state = try claimed()
        let refused = try state.begin(.verify, by: one)
        #expect(state.expiry == nil)
        state.ended(refused, at: .seconds(59))
        #expect(state.expiry == .seconds(60))
        let stopped = try state.begin(.enroll, by: one)
        _ = try state.stop(.enroll, by: one)
        state.ended(stopped, at: .seconds(59))
        #expect(state.expiry == .seconds(60))
        let unused = state.expire(at: .seconds(61))
        #expect(unused && state.claim == nil)
    }

    @Test("a deletion that failed does not prolong a claim")
    func failedDeletion() throws {
        var state = try claimed()
        let claim = try state.beginDeletion(by: one)
        state.endDeletion(claim, succeeded: false, at: .seconds(59))
        #expect(state.expiry == .seconds(60))
        let unused = state.expire(at: .seconds(61))
        #expect(unused && state.claim == nil)
    }

    @Test("a deletion keeps the claim, and ends only its own")
    func deletion() throws {
        var state = try claimed()
        let claim = try state.beginDeletion(by: one)
        #expect(claim.account == "alice" && state.expiry == nil)
        #expect(
            fault { () throws(DesktopFault) in _ = try state.begin(.verify, by: one) }
                == .alreadyInUse)
        #expect(
            fault { () throws(DesktopFault) in _ = try state.stop(.verify, by: one) }
                == .alreadyInUse)
        state.endDeletion(claim, succeeded: true, at: .seconds(5))
        #expect(state.expiry == .seconds(65))
        _ = try state.begin(.verify, by: one)
        _ = state.vanish(one)
        try state.claim(for: "bob", by: two, at: .zero)
        let other = try state.beginDeletion(by: two)
        state.endDeletion(claim, succeeded: true, at: .zero)
        #expect(state.expiry == nil)
        state.endDeletion(other, succeeded: true, at: .zero)
        #expect(state.expiry != nil)
    }
}

@Suite("the calls of users")
struct CallAllowanceTests {
    @Test("are limited for each user alone, and the allowance comes back")
    func rate() {
        var allowance = CallAllowance()
        for _ in 0..<CallAllowance.burst {
            let isAllowed = allowance.begin(uid: 1, at: .zero)
            #expect(isAllowed)
            allowance.end(uid: 1, at: .zero)
        }
        let tooMany = allowance.begin(uid: 1, at: .milliseconds(900))
        #expect(!tooMany)
        let other = allowance.begin(uid: 2, at: .zero)
        #expect(other)
        for _ in 0..<CallAllowance.perSecond {
            let isAllowed = allowance.begin(uid: 1, at: .seconds(1))
            #expect(isAllowed)
            allowance.end(uid: 1, at: .seconds(1))
        }
        let again = allowance.begin(uid: 1, at: .seconds(1))
        #expect(!again)
    }

    @Test("are limited in number at the same time")
    func pending() {
        var allowance = CallAllowance()
        for _ in 0..<CallAllowance.pending {
            let isAllowed = allowance.begin(uid: 1, at: .zero)
            #expect(isAllowed)
        }
        let tooMany = allowance.begin(uid: 1, at: .zero)
        #expect(!tooMany)
        allowance.end(uid: 1, at: .zero)
        let next = allowance.begin(uid: 1, at: .zero)
        #expect(next)
    }
}
