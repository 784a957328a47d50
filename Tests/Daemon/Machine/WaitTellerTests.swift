// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import MainContext
import Testing

@testable import Daemon

@Suite("that the TPM takes its time", .timeLimit(.minutes(5))) struct WaitTellerTests {
    /// What a client was told, and who waits for more.
    @ServiceActor
    private final class Told {
        private(set) var words: [Bool] = []
        private var wanted: (count: Int, continuation: CheckedContinuation<Void, Never>)?
        private var repeated: Int { words.count { $0 } }

        func hear(_ notice: Notice, isRepeated: Bool) {
            #expect(notice == Notice(.tpm))
            words.append(isRepeated)
            guard let wanted, repeated >= wanted.count else { return }
            self.wanted = nil
            wanted.continuation.resume()
        }

        /// Waits until it has been said again this many times.
        func again(_ count: Int) async {
            await withCheckedContinuation { wanted = (count, $0) }
        }
    }

    init() { MainLoop.runInBackground() }

    @Test("is said after the patience, and again while it does")
    @ServiceActor
    func long() async {
        let told = Told()
        let teller = WaitTeller(patience: .milliseconds(1), interval: .milliseconds(20)) {
            told.hear($0, isRepeated: $1)
        }
        let begun = ContinuousClock.now
        await WaitTeller.$current.withValue(teller) {
            await WaitTeller.during { await told.again(3) }
        }
        #expect(ContinuousClock.now - begun >= .milliseconds(60))
        #expect(told.words.first == false)
        #expect(told.words.count { $0 } >= 3)
    }

    @Test("is said where short work follows short work for long")
    @ServiceActor
    func short() async {
        let told = Told()
        let teller = WaitTeller(patience: .seconds(60), interval: .milliseconds(20)) {
            told.hear($0, isRepeated: $1)
        }
        let begun = ContinuousClock.now
        await WaitTeller.$current.withValue(teller) {
            while told.words.isEmpty, ContinuousClock.now - begun < .seconds(60) {
                await WaitTeller.during { await Task.yield() }
            }
        }
        #expect(told.words == [true])
        #expect(ContinuousClock.now - begun >= .milliseconds(20))
    }

    @Test("is not said of short work after a rest, as while a finger is awaited")
    @ServiceActor
    func rested() async throws {
        let told = Told()
        let teller = WaitTeller(patience: .milliseconds(10), interval: .milliseconds(20)) {
            told.hear($0, isRepeated: $1)
        }
        try await WaitTeller.$current.withValue(teller) {
            for _ in 0..<3 {
                await WaitTeller.during {}
                try await Timer.sleep(for: .milliseconds(40))
            }
        }
        #expect(told.words.isEmpty)
    }

    @Test("is not said when the answer was sent, nor where nobody is told")
    @ServiceActor
    func ended() async throws {
        let told = Told()
        let teller = WaitTeller(patience: .zero, interval: .zero) {
            told.hear($0, isRepeated: $1)
        }
        await WaitTeller.during { await Task.yield() }
        teller.end()
        try await WaitTeller.$current.withValue(teller) {
            try await WaitTeller.during { try await Timer.sleep(for: .milliseconds(20)) }
        }
        #expect(told.words.isEmpty)
    }
}
