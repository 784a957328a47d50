// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import ServerAPI

/// The rules of callbacks: which events are sent when, by which process, and what follows.
///
/// An event is delivered at least once, unless its receiver fails for `keepHours`. Each application
/// has its own lane: one process at a time sends for it (`CallbackLease`), and a lane whose
/// receiver fails is put off by itself, for longer each time, and then tried with one event. While
/// a receiver works, up to `batch` events are sent side by side, so they may arrive in any order.
struct Callbacks: Sendable {
    let core: ServerCore
    /// The addresses that callbacks may be sent to.
    let networks: CallbackNetworks
    /// After how many hours an event that was not delivered is dropped.
    let keepHours: Int64
    /// Counted by the code that sends.
    let figures: CallbackFigures
}

/// What one process sends for an application: the lease and the events.
struct CallbackBatch: Sendable {
    let lease: CallbackLease
    let events: [CallbackEvent]
}

/// A callback as it is sent.
struct CallbackMessage: Sendable {
    let url: String
    /// A JSON Web Token in compact form.
    let body: [UInt8]
}

extension Callbacks {
    /// How many events are sent side by side to a receiver that works; each takes a thread.
    static let batch: Int64 = 4

    /// The applications that have something to send now; at most `most`.
    func due(most: Int) async throws(DatabaseFault) -> [Int64] {
        let now = core.now
        return try await core.database.read { store throws(DatabaseFault) in
            try store.callbacks.due(
                at: now, horizon: CallbackBackOff.longest, most: Int64(most))
        }
    }

    /// Takes the lease of an application and the events to send; nil if there is nothing to do.
    func take(_ application: Int64) async throws(DatabaseFault) -> CallbackBatch? {
        let now = core.now
        let random: [UInt8]
        do throws(Problem) {
            random = try core.random(CallbackHolder.count)
        } catch { return nil }
        return try await core.database.write {
            store throws(DatabaseFault) -> CallbackBatch? in
            guard
                let lease = try store.callbacks.lease(
                    application, holder: CallbackHolder(random: random),
                    horizon: CallbackBackOff.longest, at: now)
            else { return nil }
            let events = try store.callbackEvents.due(
                of: application, at: now, horizon: CallbackBackOff.longest,
                most: lease.record.failures == 0 ? Self.batch : 1)
            guard !events.isEmpty else {
                try store.callbacks.release(lease)
                return nil
            }
            return CallbackBatch(lease: lease, events: events)
        }
    }

    /// Signs an event for its receiver; each attempt is signed again, so that it is never stale.
    func message(
        _ event: CallbackEvent, of lease: CallbackLease
    ) throws(Problem) -> CallbackMessage {
        let now = core.now
        let claims = CallbackClaims(
            iss: core.issuer, aud: lease.record.url, iat: now, exp: now + CallbackClaims.seconds,
            jti: event.id, type: event.type, time: event.time, application: lease.name,
            account: event.account, registration: event.registration, operation: event.operation,
            purpose: event.purpose.isEmpty ? nil : event.purpose,
            reason: event.reason.isEmpty ? nil : event.reason)
        let token = try core.keys.signToken(JSON.encode(claims), as: .callback)
        return CallbackMessage(url: lease.record.url, body: [UInt8](token.utf8))
    }

    /// Records what became of a batch, and gives the lease back; one transaction.
    ///
    /// Events that were delivered are deleted, also if the lease has expired meanwhile. If none
    /// was, the receiver is taken for dead, and its lane is put off.
    func settle(
        _ batch: CallbackBatch, _ outcomes: [CallbackEventID: CallbackOutcome]
    ) async throws(DatabaseFault) {
        let now = core.now
        var random = SystemRandomNumberGenerator()
        let retry =
            now
            + CallbackBackOff.seconds(
                afterFailures: batch.lease.record.failures + 1, using: &random)
        let dues = Dictionary(
            uniqueKeysWithValues: batch.events.map { event in
                let wait = CallbackBackOff.seconds(
                    afterFailures: event.attempts + 1, using: &random)
                return (event.id, now + wait)
            })
        let isWorking = outcomes.values.contains(.delivered)
        let reason = outcomes.values.compactMap(\.failure).first
        try await core.database.write { store throws(DatabaseFault) in
            for (event, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
                switch outcome {
                case .delivered: try store.callbackEvents.delete(event)
                case .failed: try store.callbackEvents.putOff(event, until: dues[event] ?? retry)
                case .cancelled: break
                }
            }
            if isWorking {
                try store.callbacks.noteSuccess(of: batch.lease, at: now)
            } else if let reason {
                try store.callbacks.noteFailure(
                    of: batch.lease, reason: reason.text, retry: retry, at: now)
            }
            try store.callbacks.release(batch.lease)
        }
        guard isWorking != (batch.lease.record.failures == 0) else { return }
        if isWorking {
            report("the callback of '\(printable([UInt8](batch.lease.name.utf8)))' works again")
        } else if let reason {
            report(
                """
                the callback of '\(printable([UInt8](batch.lease.name.utf8)))' fails: \
                \(reason.text). It is tried again ever more rarely; 'signet-server admin callback \
                show' tells how it goes
                """)
        }
    }

    /// How many events wait, and for how long the oldest has, in seconds; nil if the database does
    /// not answer.
    func backlog() async -> (count: Int64, age: Int64)? {
        let backlog = try? await core.database.read { store throws(DatabaseFault) in
            try store.callbackEvents.backlog()
        }
        return backlog.map { ($0.count, max(0, core.now - ($0.oldest ?? core.now))) }
    }
}

extension CallbackOutcome {
    fileprivate var failure: CallbackFailure? {
        switch self {
        case .failed(let failure): failure
        case .delivered, .cancelled: nil
        }
    }
}

extension Transaction {
    /// Drops up to `most` events that are older than `hours`, each application's with a line in the
    /// audit trail; returns how many.
    func dropCallbacks(olderThan hours: Int64, most: Int64, at now: Int64) throws(DatabaseFault)
        -> Int64
    {
        let dropped = try callbackEvents.dropSome(before: now - hours * 3_600, most: most)
        let counts = Dictionary(grouping: dropped) { $0 }.mapValues(\.count)
        for (application, count) in counts.sorted(by: { $0.key < $1.key }) {
            let entry = AuditEntry(
                event: .callback, outcome: AuditEntry.dropped, application: application,
                detail: "\(count) events were not delivered within \(hours) hours")
            try auditTrail.note(
                entry, from: Origin(address: "server", agent: ""), at: now)
        }
        return Int64(dropped.count)
    }
}
