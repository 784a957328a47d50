// SPDX-License-Identifier: Apache-2.0
import Database
import Posix
import Synchronization

/// What is done now and then without a call: old records forgotten, keys looked at.
struct Maintenance: Sendable {
    let auditDays: Int
    let clock: Clock
    let database: any Database
    let keys: ServerKeys
    let requests: Requests
    let core: ServerCore
}

extension Maintenance {
    /// How many rows of a table go in one transaction: others are not kept waiting.
    private static let batch: Int64 = 1_000

    /// Reads the keys anew, writes down what was counted, and forgets what is old, until the task is
    /// cancelled. The last apart, for of a long backlog it takes hours; and only by a clock that can
    /// be believed: what is deleted by a wrong one is gone for good. The keys more often, for one may
    /// be taken away because somebody else has it.
    func runMaintenance(
        every pause: Duration = .seconds(60), keysEvery look: Duration = .seconds(1)
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                let isFailing = Mutex(false)
                await repeating(every: look) {
                    let fault = await self.lookAtKeys()
                    let isNew = isFailing.withLock { isFailing in
                        defer { isFailing = fault != nil }
                        return !isFailing
                    }
                    // Once, and not each time while the database is away.
                    if let fault, isNew { report("the keys could not be read anew: \(fault)") }
                }
            }
            group.addTask {
                await repeating(every: pause) { await requests.noteUnwrittenRefusals() }
            }
            group.addTask {
                let watch = Mutex(ClockWatch())
                await repeating(every: pause) {
                    await self.forgetOld { watch.withLock { $0.isSteady(self.clock) } }
                }
            }
        }
    }

    /// Reads the keys anew; gives why it could not.
    private func lookAtKeys() async -> KeyFault? {
        do throws(KeyFault) {
            try await keys.refresh(at: core.now)
            return nil
        } catch { return error }
    }

    /// Forgets all that is too old, in small transactions: of each table some rows in turn, so that
    /// none waits for the backlog of another. What cannot be forgotten keeps nothing else. Before
    /// each turn the clock is looked at, since of a long backlog it may be set.
    func forgetOld(while isSteady: () -> Bool = { true }) async {
        var chores = chores
        var isMore = true
        while isMore && !Task.isCancelled && isSteady() {
            var sound: [Chore] = []
            isMore = false
            let now = core.now
            for chore in chores {
                do throws(DatabaseFault) {
                    let gone = try await database.write { store throws(DatabaseFault) in
                        try store.perform(chore, at: now, most: Self.batch)
                    }
                    sound.append(chore)
                    if gone == Self.batch { isMore = true }
                } catch { report("what is too old could not be forgotten: \(error)") }
            }
            chores = sound
        }
    }

    private var chores: [Chore] {
        let kept = Int64(auditDays) * 86_400
        return Sweep.all.map { .forget($0) } + (kept > 0 ? [.pruneAudit(kept: kept)] : [])
    }
}

/// What keeps a table from growing.
private enum Chore: Sendable {
    case forget(Sweep)
    /// What is older than so many seconds, as the settings have it.
    case pruneAudit(kept: Int64)
}

/// Does something again and again, until the task is cancelled.
private func repeating(
    every pause: Duration, _ work: @escaping @Sendable () async -> Void
) async {
    while !Task.isCancelled {
        await work()
        // Time itself is the event.
        try? await Task.sleep(for: pause)
    }
}

extension Transaction {
    /// Forgets some rows of one kind; gives how many.
    fileprivate func perform(
        _ chore: Chore, at now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        switch chore {
        case .forget(let sweep): try old.forget(sweep, before: now, most: most)
        case .pruneAudit(let kept): try auditTrail.pruneAudit(before: now - kept, most: most)
        }
    }
}
