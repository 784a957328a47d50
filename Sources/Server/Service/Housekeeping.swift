// SPDX-License-Identifier: Apache-2.0
import Database
import Synchronization

// What is too old to be of use is forgotten, so that the tables do not grow without end.
extension Service {
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
                await repeating(every: pause) { await self.noteUnwrittenRefusals() }
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
            try await keys.refresh(at: now)
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
            let now = now
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

/// What is forgotten or marked, and when.
private struct Sweep: Sendable {
    /// Deletes or marks some rows and returns each.
    let sql: StaticString
    /// How long after its end a row is of use, in seconds.
    let grace: Int64
    /// Whether it must be known up to which moment they were forgotten.
    var isNoted = false

    static let all: [Sweep] = [
        Sweep(
            sql: """
                DELETE FROM challenge WHERE value IN
                    (SELECT value FROM challenge WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 0),
        Sweep(
            sql: """
                DELETE FROM nonce WHERE (expires, owner, value) IN
                    (SELECT expires, owner, value FROM nonce WHERE expires < $1 LIMIT $2)
                    RETURNING 1
                """, grace: 0, isNoted: true),
        Sweep(
            sql: """
                DELETE FROM activation WHERE hash IN
                    (SELECT hash FROM activation WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // Begun and never proven, also where another has replaced it; its challenge is long over. Asked
        // again of the row itself.
        Sweep(
            sql: """
                DELETE FROM registration WHERE credential IS NULL AND id IN
                    (SELECT id FROM registration WHERE credential IS NULL AND created < $1 LIMIT $2)
                    RETURNING 1
                """, grace: 3_600),
        // Used ones stay for as long as their session: that one comes again must be noticed.
        Sweep(
            sql: """
                DELETE FROM refresh_token WHERE hash IN
                    (SELECT hash FROM refresh_token WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // Asked again of the row itself: it may have been decided after it was found.
        Sweep(
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'PENDING' AND id IN
                    (SELECT id FROM operation WHERE status = 'PENDING' AND expires <= $1 LIMIT $2)
                    RETURNING 1
                """, grace: 0),
        // The audit trail keeps what became of them.
        Sweep(
            sql: """
                DELETE FROM operation WHERE id IN
                    (SELECT id FROM operation WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 30 * 86_400),
        // After the tokens that name them.
        Sweep(
            sql: """
                DELETE FROM token_session WHERE id IN
                    (SELECT s.id FROM token_session s WHERE s.expires < $1 AND NOT EXISTS
                        (SELECT 1 FROM refresh_token r WHERE r.session = s.id) LIMIT $2)
                RETURNING 1
                """, grace: 86_400),
        Sweep(
            sql: """
                DELETE FROM mac_token WHERE id IN
                    (SELECT id FROM mac_token WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // An approval in the last second is confirmed within a minute.
        Sweep(
            sql: """
                DELETE FROM site_login WHERE hash IN
                    (SELECT hash FROM site_login WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 60),
        Sweep(
            sql: """
                DELETE FROM site_session WHERE hash IN
                    (SELECT hash FROM site_session WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 0),
        // The tokens that it has signed hold for a day at most.
        Sweep(
            sql: """
                DELETE FROM signing_key WHERE id IN
                    (SELECT id FROM signing_key WHERE retired < $1 LIMIT $2) RETURNING 1
                """, grace: 90_000),
    ]
}

extension Transaction {
    /// Forgets some rows of one kind; gives how many.
    fileprivate func perform(
        _ chore: Chore, at now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        switch chore {
        case .forget(let sweep): try forget(sweep, before: now, most: most)
        case .pruneAudit(let kept): try pruneAudit(before: now - kept, most: most)
        }
    }

    /// Forgets some rows; gives how many.
    private func forget(
        _ sweep: Sweep, before now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        let gone = try run(sweep.sql, [.integer(now - sweep.grace), .integer(most)]).count
        if sweep.isNoted && gone > 0 { try noteForgottenNonces(before: now - sweep.grace) }
        return Int64(gone)
    }
}
