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

        /// A teller that tells this client.
        func teller(patience: Duration, interval: Duration) -> WaitTeller {
            WaitTeller(patience: patience, interval: interval) { self.hear($0, isRepeated: $1) }
        }

        private func hear(_ notice: Notice, isRepeated: Bool) {
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
        let teller = told.teller(patience: .milliseconds(1), interval: .milliseconds(20))
        let begun = ContinuousClock.now
        await WaitTeller.$current.withValue(teller) {
            await WaitTeller.during { await told.again(3) }
        }
        let time = ContinuousClock.now - begun
        #expect(told.words.first == false)
        // A busy loop comes back later than it could: no more often than the interval, even then.
        let repeated = told.words.count { $0 }
        #expect(repeated >= 3 && .milliseconds(20) * repeated <= time)
    }

    @Test("is said where short work follows short work for long")
    @ServiceActor
    func short() async {
        let told = Told()
        let teller = told.teller(patience: .seconds(60), interval: .milliseconds(20))
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
        let teller = told.teller(patience: .milliseconds(10), interval: .milliseconds(20))
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
        let teller = told.teller(patience: .zero, interval: .zero)
        await WaitTeller.during { await Task.yield() }
        teller.end()
        try await WaitTeller.$current.withValue(teller) {
            try await WaitTeller.during { try await Timer.sleep(for: .milliseconds(20)) }
        }
        #expect(told.words.isEmpty)
    }
}
