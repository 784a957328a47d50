// SPDX-License-Identifier: Apache-2.0
import Loop
import Posix

/// When servers are told of registrations and MAC tokens that were given up while they were away: soon
/// after the start and after requests about servers, and as long as one does not know, ever more rarely.
@ServiceActor
final class RemovalRounds {
    /// So soon after it is wanted: whoever logs in at the start is not held up.
    private static let soon = Duration.seconds(1)
    private static let shortest = Duration.seconds(60)
    private static let longest = Duration.seconds(3_600)

    private var isUnderWay = false
    /// Whether one was wanted while one was under way, which may have passed what it is wanted for.
    private var isWanted = false
    /// Whether the timer is set for soon: it is not put off again then.
    private var isNear = false
    private var timer: Timer?
    private var pause = shortest
    /// Tells all servers what they do not know yet; whether all know then.
    var round: @ServiceActor () async -> Bool = { true }

    /// Has one round made soon, after the one that is being made; nobody waits for it.
    func want() {
        guard !isUnderWay else {
            isWanted = true
            return
        }
        guard !isNear else { return }
        isNear = true
        wait(Self.soon)
    }

    private func wait(_ time: Duration) {
        timer = Timer(after: time) { [weak self] in self?.begin() }
    }

    private func begin() {
        isNear = false
        isUnderWay = true
        onService { [self] in
            let isDone = await round()
            isUnderWay = false
            pause = isDone ? Self.shortest : min(pause * 2, Self.longest)
            if isWanted {
                isWanted = false
                want()
            } else if !isDone {
                wait(pause)
            }
        }
    }
}
