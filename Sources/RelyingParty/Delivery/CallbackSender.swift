// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import Synchronization

/// Sends the events of all applications, each application's in its own task.
///
/// So a receiver that hangs holds up only its own application. Several servers on one database may
/// send: `Callbacks` sees to it that one at a time does for each application.
final class CallbackSender: Sendable {
    /// How many applications are served at once.
    static let lanes = 16
    /// After how many batches an application makes room for others that wait.
    private static let turn = 16

    private let callbacks: Callbacks
    private let deliver: @Sendable (CallbackMessage) async -> CallbackOutcome
    private let active = Mutex<Set<Int64>>([])
    private let isFailing = Mutex(false)

    /// Creates a sender; `deliver` makes one attempt.
    init(
        _ callbacks: Callbacks,
        deliver: @escaping @Sendable (CallbackMessage) async -> CallbackOutcome
    ) {
        self.callbacks = callbacks
        self.deliver = deliver
    }

    /// Sends until the task is cancelled, and looks for events that are due after each `pause`.
    ///
    /// When it returns, attempts under way have ended and their leases were given back.
    func run(every pause: Duration = .seconds(1)) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for application in await startable() {
                    group.addTask { await self.serve(application) }
                }
                // Nothing but the passing of time ends this wait.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Sends everything that is due now, and returns when that was tried once.
    func runOnce() async {
        await withDiscardingTaskGroup { group in
            for application in await startable() {
                group.addTask { await self.serve(application) }
            }
        }
    }

    /// The applications to begin with, which count as active from now on.
    private func startable() async -> [Int64] {
        let free = Self.lanes - active.withLock { $0.count }
        guard free > 0 else { return [] }
        do throws(DatabaseFault) {
            let due = try await callbacks.due(most: Self.lanes)
            note(nil)
            return active.withLock { active in
                let begun = due.filter { !active.contains($0) }.prefix(free)
                active.formUnion(begun)
                return Array(begun)
            }
        } catch {
            note(error)
            return []
        }
    }

    /// Sends an application's events until none is due, the receiver fails, or others wait.
    private func serve(_ application: Int64) async {
        defer { active.withLock { _ = $0.remove(application) } }
        do throws(DatabaseFault) {
            for _ in 0..<Self.turn where !Task.isCancelled {
                guard let batch = try await callbacks.take(application) else { return }
                let outcomes = await attempt(batch)
                try await callbacks.settle(batch, outcomes)
                guard outcomes.values.contains(.delivered) else { return }
            }
        } catch { note(error) }
    }

    private func attempt(_ batch: CallbackBatch) async -> [CallbackEventID: CallbackOutcome] {
        await withTaskGroup(of: (CallbackEventID, CallbackOutcome).self) { group in
            for event in batch.events {
                group.addTask { (event.id, await self.attempt(event, of: batch.lease)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func attempt(_ event: CallbackEvent, of lease: CallbackLease) async -> CallbackOutcome {
        let message: CallbackMessage
        do throws(Problem) {
            message = try callbacks.message(event, of: lease)
        } catch {
            // A fault of this server, which was reported: no failure of the receiver.
            return .cancelled
        }
        let outcome = await deliver(message)
        switch outcome {
        case .delivered: callbacks.figures.note("ok")
        case .failed(let failure): callbacks.figures.note(failure.kind.rawValue)
        case .cancelled: break
        }
        return outcome
    }

    /// Reports that the database fails once, not at each attempt while it is down.
    private func note(_ fault: DatabaseFault?) {
        let isNew = isFailing.withLock { isFailing in
            defer { isFailing = fault != nil }
            return !isFailing
        }
        if let fault, isNew { report("callbacks could not be sent: \(fault)") }
    }
}
