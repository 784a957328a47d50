// SPDX-License-Identifier: Apache-2.0
import Authorization
import Testing

@Suite("Comparisons during enrolment")
struct EnrolmentComparisonsTests {
    private func moment(_ seconds: Int, boot: UInt8 = 1) -> Lockout.Moment {
        Lockout.Moment(boot: [boot], sinceBoot: .seconds(seconds))
    }

    private func compared(
        _ times: Int, from start: EnrolmentComparisons = .init(), at second: Int = 1
    ) -> EnrolmentComparisons {
        var state = start
        for _ in 0..<times {
            state = state.beginning(at: moment(second)).afterComparison(at: moment(second))
        }
        return state
    }

    private func completed(
        _ times: Int, from start: EnrolmentComparisons = .init()
    ) -> EnrolmentComparisons {
        var state = start
        for _ in 0..<times {
            state = state.beginning(at: moment(1)).afterComparison(at: moment(1))
            state = state.afterCompletion()
        }
        return state
    }

    @Test("are open at first, and for four")
    func open() {
        for count in 0...4 { #expect(compared(count).verdict(at: moment(1)) == .open) }
    }

    @Test("pause at every fifth, for thirty seconds from the answer, and over a reboot")
    func pauses() {
        var state = EnrolmentComparisons()
        for round in 1...3 {
            let start = round * 1_000
            state = compared(5, from: state, at: start)
            #expect(state.verdict(at: moment(start)) == .paused(.seconds(30)))
            #expect(state.verdict(at: moment(start + 29)) == .paused(.seconds(1)))
            #expect(state.verdict(at: moment(start + 30)) == .open)
            #expect(state.verdict(at: moment(10, boot: 2)) == .paused(.seconds(20)))
        }
        let late = compared(4).beginning(at: moment(10)).afterComparison(at: moment(50))
        #expect(late.verdict(at: moment(79)) == .paused(.seconds(1)))
    }

    @Test("count before the reader is asked")
    func beforeTouch() {
        let state = compared(4).beginning(at: moment(2))
        #expect(state.count == 5)
        #expect(state.verdict(at: moment(2)) == .paused(.seconds(30)))
        #expect(
            compared(19).beginning(at: moment(2)).verdict(at: moment(9_999)) == .lockedUntilRoot)
    }

    @Test("lock at twenty, whatever time passes, and count no further")
    func locks() {
        #expect(compared(19).verdict(at: moment(1)) == .open)
        let state = compared(25)
        #expect(state.count == 20)
        for later in [moment(1), moment(1_000_000_000), moment(0, boot: 2)] {
            #expect(state.verdict(at: later) == .lockedUntilRoot)
        }
    }

    @Test("a completed enrolment takes its own comparison back, and no other")
    func completion() {
        let guessed = compared(7)
        let after = completed(1, from: guessed)
        #expect(after.count == 7 && after.completions == 1)
        // The fifth comparison: no pause begins with one that succeeds, and none is skipped.
        let fifth = completed(1, from: compared(4))
        #expect(fifth.count == 4 && fifth.verdict(at: moment(1)) == .open)
        #expect(compared(1, from: fifth).verdict(at: moment(1)) == .paused(.seconds(30)))
    }

    @Test("the user's own fingers between the guesses do not postpone the lock")
    func alternating() {
        var state = EnrolmentComparisons()
        var guesses = 0
        while state.verdict(at: moment(1_000)) != .lockedUntilRoot, guesses < 100 {
            guesses += 1
            state = completed(1, from: compared(1, from: state))
        }
        #expect(guesses <= 20)
    }

    @Test("enrolments are forgiven as often as there are fingers: thirty comparisons in all")
    func completions() {
        #expect(completed(10).count == 0)
        #expect(completed(11).count == 1 && completed(11).completions == 10)
        #expect(completed(29).verdict(at: moment(1_000)) == .open)
        #expect(completed(30).verdict(at: moment(1_000)) == .lockedUntilRoot)
    }

    @Test("one that came to nothing is taken back, and nothing before it")
    func takenBack() {
        let state = compared(4).beginning(at: moment(9)).takenBack()
        #expect(state == compared(4))
        #expect(EnrolmentComparisons().takenBack() == EnrolmentComparisons())
        #expect(compared(20).takenBack().count == 19)
    }

    @Test("a record that cannot be read is a lock, and no completed enrolment opens it")
    func unreadable() {
        let state = EnrolmentComparisons.unreadable
        #expect(state.verdict(at: moment(1)) == .lockedUntilRoot)
        #expect(state.afterCompletion().verdict(at: moment(1)) == .lockedUntilRoot)
    }
}
