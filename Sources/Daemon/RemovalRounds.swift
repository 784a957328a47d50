// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix
import Store

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

    /// Has one round made soon, after the one that is being made.
    func want(_ round: @escaping @ServiceActor () async -> Bool) {
        guard !isUnderWay else {
            isWanted = true
            return
        }
        guard !isNear else { return }
        isNear = true
        wait(Self.soon, round)
    }

    private func wait(_ time: Duration, _ round: @escaping @ServiceActor () async -> Bool) {
        timer = Timer(after: time) { [weak self] in self?.begin(round) }
    }

    private func begin(_ round: @escaping @ServiceActor () async -> Bool) {
        isNear = false
        isUnderWay = true
        onService { [self] in
            let isDone = await round()
            isUnderWay = false
            pause = isDone ? Self.shortest : min(pause * 2, Self.longest)
            if isWanted {
                isWanted = false
                want(round)
            } else if !isDone {
                wait(pause, round)
            }
        }
    }
}

extension Service {
    /// Has servers told soon of what they could not be told before; nobody waits for it.
    func tellRemovals() {
        removals.want { [weak self] in await self?.finishAllRemovals() ?? true }
    }

    /// Whether all servers know.
    private func finishAllRemovals() async -> Bool {
        var isDone = true
        // In any order: nobody's servers that do not answer keep others' waiting each time.
        for kept in ((try? state.accounts()) ?? []).shuffled() {
            guard kept.hasRemovals else { continue }
            // Of an account that is gone, nothing can be proved in its name.
            guard let account = (try? Account.with(uid: kept.uid)) ?? nil,
                Bytes(account.name.utf8) == kept.name
            else { continue }
            if await !finishRemovals(of: account) { isDone = false }
            if await !finishTokenRemovals(of: account) { isDone = false }
        }
        return isDone
    }
}

extension AccountState {
    /// Whether a server has yet to be told of something.
    fileprivate var hasRemovals: Bool {
        ((try? servers.list()) ?? []).contains { $0.state == .removing || $0.state == .proving }
            || ((try? macTokens.list()) ?? []).contains { $0.state == .removing }
    }
}
