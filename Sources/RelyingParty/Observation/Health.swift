// SPDX-License-Identifier: Apache-2.0
import SQL

/// Whether the server can serve requests, that is, whether its database takes writes.
///
/// Ready means that a write has succeeded within the last two seconds (`span`). A write of real
/// traffic counts, unless a transaction has failed in that time; otherwise the check does its own
/// write. Concurrent checks share it, and its result is reused for `freshness`, so anyone may
/// ask as often as they like.
actor Health {
    /// A write transaction that touches what real traffic writes.
    typealias Beat = @Sendable (any Transaction) throws(DatabaseFault) -> Void

    /// How recent a write must be, and how long to wait for one.
    private static let span = Duration.seconds(2)
    /// How long the result of a check's own write is reused.
    private static let freshness = Duration.seconds(1)

    private let database: any Database
    private let beat: Beat
    private var known: (isReady: Bool, until: ContinuousClock.Instant)?
    private var pending: Task<Bool, Never>?
    /// The write under way, which may outlast the check that began it.
    private var writing: Task<Bool, Never>?

    init(_ database: any Database, beat: @escaping Beat) {
        self.database = database
        self.beat = beat
    }

    /// Whether a write has succeeded within `span`, or succeeds now within as much.
    func isReady() async -> Bool {
        let figures = database.figures
        if figures.hasWritten(within: Self.span), !figures.hasFailed(within: Self.span) {
            return true
        }
        if let known, known.until > .now { return known.isReady }
        let task = pending ?? Task { await self.writes() }
        pending = task
        let isReady = await task.value
        known = (isReady, .now + Self.freshness)
        pending = nil
        return isReady
    }

    /// Whether a write succeeds within `span`.
    ///
    /// There is never more than one: a database that hangs is not sent another write until it has
    /// answered or given up.
    private func writes() async -> Bool {
        let task = writing ?? Task { await self.write() }
        writing = task
        return await withCheckedContinuation { continuation in
            let first = FirstAnswer(continuation)
            Task { await first.give(await task.value) }
            Task {
                // Nothing but the passing of time ends this wait.
                try? await Task.sleep(for: Self.span)
                await first.give(false)
            }
        }
    }

    private func write() async -> Bool {
        defer { writing = nil }
        do throws(DatabaseFault) {
            try await database.write(beat)
            return true
        } catch { return false }
    }
}

/// Resumes a continuation with the first of several answers.
private actor FirstAnswer {
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ continuation: CheckedContinuation<Bool, Never>) {
        self.continuation = continuation
    }

    func give(_ answer: Bool) {
        continuation.take()?.resume(returning: answer)
    }
}
