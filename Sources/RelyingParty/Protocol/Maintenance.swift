// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL
import Synchronization

/// Periodic work: reloading the keys, sealing the audit trail, writing down what was counted, and
/// deleting old records.
///
/// Records are deleted only while `ClockWatch` trusts the clock, because rows deleted by a wrong
/// clock are lost. `auditDays` limits the age of audit lines, in whole days of UTC; 0 keeps them
/// for ever.
struct Maintenance: Sendable {
    let auditDays: Int
    let clock: Clock
    let database: any Database
    let keys: ServerSigningKeys
    let requests: Requests
    let apiKeys: APIKeys
    let auditChain: AuditChain
    let callbacks: Callbacks
    let core: ServerCore
}

extension Maintenance {
    /// The maximum number of rows per transaction, so that other writers are not held up.
    private static let batch: Int64 = 1_000

    /// Runs all chores until the task is cancelled.
    ///
    /// They run as separate tasks: deletion may take hours for a long backlog, and the keys are
    /// reloaded every second (`look`), because an administrator may withdraw a key that has leaked.
    /// As often, new lines of the audit trail are sealed: until then, a removed one is not noticed.
    func runMaintenance(
        every pause: Duration = .seconds(60), keysEvery look: Duration = .seconds(1)
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await repeating(every: look, "the keys could not be reloaded") {
                    await lookAtKeys()
                }
            }
            group.addTask {
                await repeating(every: look, "the audit trail could not be sealed") {
                    await seal()
                }
            }
            group.addTask {
                await repeating(every: pause) { await writeDown() }
            }
            group.addTask {
                let watch = Mutex(ClockWatch())
                await repeating(every: pause) {
                    await self.forgetOld { watch.withLock { $0.isSteady(self.clock) } }
                }
            }
        }
    }

    /// Reloads the keys; returns the fault if that fails.
    private func lookAtKeys() async -> KeyFault? {
        do throws(KeyFault) {
            try await keys.refresh(at: core.now)
            return nil
        } catch { return error }
    }

    /// Seals the new lines of the audit trail; returns the fault if that fails.
    private func seal() async -> DatabaseFault? {
        do throws(DatabaseFault) {
            _ = try await auditChain.seal()
            return nil
        } catch { return error }
    }

    /// Writes down what was only counted or noted: refusals, and when API keys were last used.
    func writeDown() async {
        await requests.noteUnwrittenRefusals()
        await apiKeys.writeUses()
    }

    /// Deletes all records that are too old, in small transactions.
    ///
    /// The tables take turns, one batch each, so that a backlog in one does not delay the others. A
    /// chore that fails is reported and left out of this run. `isSteady` is asked before each
    /// round, because the clock may be set while a long backlog is deleted.
    func forgetOld(while isSteady: () -> Bool = { true }) async {
        var chores =
            Sweep.all.map { Chore.forget($0) } + [.dropCallbacks(hours: callbacks.keepHours)]
        var isMore = true
        var isFirst = true
        while isMore && !Task.isCancelled && isSteady() {
            if isFirst, await recordPrune() { chores.append(.pruneAudit) }
            isFirst = false
            var sound: [Chore] = []
            isMore = false
            let now = core.now
            for chore in chores {
                do throws(DatabaseFault) {
                    let gone = try await database.write { store throws(DatabaseFault) in
                        try store.perform(chore, at: now, most: Self.batch)
                    }
                    sound.append(chore)
                    if chore.isDropping { callbacks.figures.noteDropped(Int(gone)) }
                    if gone == Self.batch { isMore = true }
                } catch { report("expired data could not be deleted: \(error)") }
            }
            chores = sound
        }
    }

    /// Records up to where lines of the audit trail are too old; returns whether any may be
    /// deleted.
    ///
    /// Whole days are pruned at once, so that the trail gets one line a day about it.
    private func recordPrune() async -> Bool {
        guard auditDays > 0 else { return false }
        let moment = (core.now / Self.day - Int64(auditDays)) * Self.day
        do throws(DatabaseFault) {
            _ = try await auditChain.seal()
            _ = try await auditChain.recordPrune(
                before: moment, what: PruneLine.ofSetting + "\(auditDays)",
                by: Origin(address: "server", agent: ""))
            return true
        } catch {
            report("old lines of the audit trail could not be forgotten: \(error)")
            return false
        }
    }

    private static let day: Int64 = 86_400
}

/// One recurring deletion.
private enum Chore: Sendable {
    case forget(Sweep)
    /// Deletes lines of the audit trail, as far as their prune is recorded.
    case pruneAudit
    /// Deletes events that could not be delivered within this many hours.
    case dropCallbacks(hours: Int64)

    var isDropping: Bool {
        switch self {
        case .forget, .pruneAudit: false
        case .dropCallbacks: true
        }
    }
}

/// Repeats `work` with a pause until the task is cancelled.
private func repeating(
    every pause: Duration, _ work: @escaping @Sendable () async -> Void
) async {
    while !Task.isCancelled {
        await work()
        // Nothing but the passing of time ends this wait.
        try? await Task.sleep(for: pause)
    }
}

/// Repeats `work`, and reports what failed once, not at each attempt while the database is down.
private func repeating<Fault: Error>(
    every pause: Duration, _ what: String, _ work: @escaping @Sendable () async -> Fault?
) async {
    let isFailing = Mutex(false)
    await repeating(every: pause) {
        let fault = await work()
        let isNew = isFailing.withLock { isFailing in
            defer { isFailing = fault != nil }
            return !isFailing
        }
        if let fault, isNew { report("\(what): \(fault)") }
    }
}

extension Transaction {
    /// Runs one chore on up to `most` rows, and returns how many it deleted or marked.
    fileprivate func perform(
        _ chore: Chore, at now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        switch chore {
        case .forget(let sweep): try old.forget(sweep, before: now, most: most)
        case .pruneAudit: try pruneSome(most: most, at: now).isOver ? 0 : most
        case .dropCallbacks(let hours):
            try dropCallbacks(olderThan: hours, most: most, at: now)
        }
    }
}
