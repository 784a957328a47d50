// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("The history of an item that may be used once")
struct SingleUseHistoryTests {
    private typealias Step = (began: Int, ended: Int, outcome: SingleUseHistory.Outcome)

    private func violation(_ steps: Step...) -> String? {
        let start = ContinuousClock.now
        var history = SingleUseHistory()
        for step in steps {
            history.add(
                SingleUseHistory.Use(
                    began: start + .seconds(step.began), ended: start + .seconds(step.ended),
                    outcome: step.outcome))
        }
        return history.violation
    }

    @Test("is right if one use was granted, and the others can have come after it")
    func right() {
        #expect(violation() == nil)
        #expect(violation((0, 1, .granted)) == nil)
        #expect(violation((0, 9, .granted), (1, 2, .refused), (3, 4, .refused)) == nil)
        #expect(violation((1, 2, .refused), (0, 9, .unknown)) == nil)
        #expect(violation((0, 1, .unknown), (2, 3, .granted), (4, 5, .refused)) == nil)
        #expect(violation((0, 1, .unknown), (2, 3, .unknown)) == nil)
    }

    @Test("is wrong if two were granted, or one was refused before any can have taken effect")
    func wrong() {
        #expect(violation((0, 1, .granted), (2, 3, .granted)) != nil)
        #expect(violation((0, 1, .refused), (2, 3, .granted)) != nil)
        #expect(violation((0, 1, .refused)) != nil)
        #expect(violation((0, 1, .refused), (2, 3, .unknown)) != nil)
        // The use that says nothing cannot have taken effect, or the other was not granted.
        #expect(violation((0, 1, .unknown), (1, 2, .refused), (3, 4, .granted)) != nil)
    }
}
