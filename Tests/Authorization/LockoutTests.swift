// SPDX-License-Identifier: Apache-2.0
import Authorization
import Testing

@Suite("Lockout")
struct LockoutTests {
    private let boot: [UInt8] = [1, 2, 3]

    private func moment(_ seconds: Int, boot: [UInt8]? = nil) -> Lockout.Moment {
        Lockout.Moment(boot: boot ?? self.boot, sinceBoot: .seconds(seconds))
    }

    private func failed(_ count: Int, from start: Lockout = Lockout(), at second: Int) -> Lockout {
        var state = start
        for _ in 0..<count {
            state = state.beginningAttempt(at: moment(second)).afterMismatch(at: moment(second))
        }
        return state
    }

    @Test("is open at first, and for four failures")
    func open() {
        for count in 0...4 {
            #expect(failed(count, at: 100).verdict(at: moment(100)) == .open)
        }
    }

    @Test("every fifth failure locks for thirty seconds, and no longer")
    func fifth() {
        var state = Lockout()
        for round in 1...3 {
            let start = round * 1_000
            state = failed(5, from: state, at: start)
            #expect(state.verdict(at: moment(start)) == .lockedForNow(.seconds(30)))
            #expect(state.verdict(at: moment(start + 29)) == .lockedForNow(.seconds(1)))
            #expect(state.verdict(at: moment(start + 30)) == .open)
            #expect(state.verdict(at: moment(start + 31)) == .open)
        }
        #expect(state.failures == 15)
    }

    @Test(
        "a pause holds for the password, too; and the password may be tried where only it unlocks")
    func password() {
        var state = failed(5, at: 100)
        #expect(state.passwordVerdict(at: moment(100)) == .lockedForNow(.seconds(30)))
        #expect(state.passwordVerdict(at: moment(130)) == .open)
        state = failed(19, at: 100)
        #expect(state.passwordVerdict(at: moment(100)) == .open)
        // The twentieth failure, of a finger or a password, and each wrong password after it.
        for start in [200, 300, 400] {
            state = failed(1, from: state, at: start)
            #expect(state.verdict(at: moment(start + 60)) == .lockedUntilPassword)
            #expect(state.passwordVerdict(at: moment(start + 29)) == .lockedForNow(.seconds(1)))
            #expect(state.passwordVerdict(at: moment(start + 30)) == .open)
        }
        #expect(state.lifted().verdict(at: moment(401)) == .open)
        #expect(Lockout.unreadable.passwordVerdict(at: moment(1)) == .open)
    }

    @Test("the attempt counts before the finger is asked")
    func beforeTouch() {
        let state = failed(4, at: 1).beginningAttempt(at: moment(2))
        #expect(state.failures == 5)
        #expect(state.verdict(at: moment(2)) == .lockedForNow(.seconds(30)))
    }

    @Test("the pause is counted from the mismatch")
    func fromMismatch() {
        let state = failed(4, at: 1).beginningAttempt(at: moment(10)).afterMismatch(at: moment(50))
        #expect(state.verdict(at: moment(79)) == .lockedForNow(.seconds(1)))
        #expect(state.verdict(at: moment(80)) == .open)
    }

    @Test("a mismatch between the fifths begins no pause")
    func noPause() {
        let state = failed(5, at: 1).beginningAttempt(at: moment(40)).afterMismatch(at: moment(41))
        #expect(state.failures == 6)
        #expect(state.verdict(at: moment(41)) == .open)
    }

    @Test("twenty failures lock until the password was given, at any time, over any boot")
    func twenty() {
        let state = failed(20, at: 1)
        #expect(state.verdict(at: moment(1)) == .lockedUntilPassword)
        #expect(state.verdict(at: moment(1_000_000)) == .lockedUntilPassword)
        #expect(state.verdict(at: moment(1_000_000, boot: [9])) == .lockedUntilPassword)
        #expect(failed(19, at: 1).verdict(at: moment(1)) == .open)
        #expect(state.lifted() == Lockout())
        #expect(state.afterMatch(in: state) == Lockout())
        #expect(state.lifted().verdict(at: moment(1)) == .open)
    }

    @Test("a reboot does not shorten a pause")
    func otherBoot() {
        let state = failed(5, at: 1_000)
        #expect(state.verdict(at: moment(0, boot: [9])) == .lockedForNow(.seconds(30)))
        #expect(state.verdict(at: moment(10, boot: [9])) == .lockedForNow(.seconds(20)))
        #expect(state.verdict(at: moment(30, boot: [9])) == .open)
    }

    @Test("a moment before the pause began does not lengthen it")
    func backwards() {
        let state = failed(5, at: 1_000)
        #expect(state.verdict(at: moment(900)) == .lockedForNow(.seconds(30)))
    }

    @Test("the count stops at its end instead of wrapping around")
    func saturation() {
        let state = failed(50, at: 1)
        #expect(state.failures == Lockout.failuresUntilPassword)
        #expect(state.verdict(at: moment(9_999)) == .lockedUntilPassword)
        let stored = Lockout(failures: .max, pausedAt: nil)
        #expect(stored.verdict(at: moment(1)) == .lockedUntilPassword)
        #expect(
            stored.beginningAttempt(at: moment(1)).verdict(at: moment(99)) == .lockedUntilPassword)
    }

    @Test("a record that is damaged locks until the password was given")
    func damaged() {
        #expect(Lockout.unreadable.verdict(at: moment(1)) == .lockedUntilPassword)
        #expect(Lockout.unreadable.lifted().verdict(at: moment(1)) == .open)
    }

    @Test("a stored record reads as it was written")
    func stored() {
        let state = failed(5, at: 7)
        let again = Lockout(failures: state.failures, pausedAt: state.pausedAt)
        #expect(again == state)
        #expect(again.verdict(at: moment(8)) == state.verdict(at: moment(8)))
    }
}
