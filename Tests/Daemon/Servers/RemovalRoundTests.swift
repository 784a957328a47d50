// SPDX-License-Identifier: Apache-2.0
import MainContext
import Testing

@testable import Daemon

@Suite("The rounds that report removals to servers", .timeLimit(.minutes(5)))
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

    @Test("a request during a round is followed by one more round, and no third")
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
