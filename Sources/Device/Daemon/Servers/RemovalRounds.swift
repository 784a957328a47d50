// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix

/// Schedules the rounds in which servers are told about registrations and MAC tokens that were
/// given up while the servers could not be reached.
///
/// A round runs soon after start-up and after requests about servers. As long as a server has not
/// been told, rounds repeat with pauses that double from one minute up to one hour.
@ServiceActor
final class RemovalRounds {
    /// The delay before a requested round, so that a login that has started the daemon is not held
    /// up.
    private static let soon = Duration.seconds(1)
    private static let shortest = Duration.seconds(60)
    private static let longest = Duration.seconds(3_600)

    private var isUnderWay = false
    /// Whether a round was requested during the present one, which may already have passed the
    /// account in question.
    private var isWanted = false
    /// Whether the timer runs for a requested round, which is not postponed again.
    private var isNear = false
    private var timer: Timer?
    private var pause = shortest
    /// Tells each server what it does not know yet; returns whether all of them know now.
    var round: @ServiceActor () async -> Bool = { true }

    /// Requests a round, soon or after the present one.
    ///
    /// Returns at once.
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
