// SPDX-License-Identifier: Apache-2.0
import MainContext
import Testing

@testable import Daemon

@Suite("The rounds that tell servers of removals", .timeLimit(.minutes(1)))
struct RemovalRoundTests {
    /// Rounds of which the first one meets requests while it is under way.
    @ServiceActor
    private final class Rounds {
        let rounds = RemovalRounds()
        var made = 0
        var end: CheckedContinuation<Void, Never>?

        init() { rounds.round = { [self] in make() } }

        func want() { rounds.want() }

        private func make() -> Bool {
            made += 1
            if made == 1 {
                want()
                want()
            } else {
                end?.resume()
                end = nil
            }
            return true
        }
    }

    init() { MainLoop.runInBackground() }

    @Test("what is wanted while one is under way has one more after it, and no third")
    @ServiceActor
    func wanted() async {
        let all = Rounds()
        await withCheckedContinuation { end in
            all.end = end
            all.want()
            all.want()
        }
        #expect(all.made == 2)
    }
}
