// SPDX-License-Identifier: Apache-2.0
import SQL

/// Whether the server can serve requests, that is, whether its database answers.
///
/// Concurrent checks share one query, and a result is reused for `freshness`, so anyone may ask as
/// often as they like.
actor Health {
    /// How long to wait for the database's answer.
    private static let limit = Duration.seconds(2)
    /// How long a result is reused, so that frequent checks do not keep the database busy.
    private static let freshness = Duration.seconds(1)

    private let database: any Database
    private var known: (isReady: Bool, until: ContinuousClock.Instant)?
    private var pending: Task<Bool, Never>?

    init(_ database: any Database) {
        self.database = database
    }

    /// Whether the database answers now, or did so within `freshness`.
    func isReady() async -> Bool {
        if let known, known.until > .now { return known.isReady }
        let task = pending ?? Task { await Self.answers(database) }
        pending = task
        let isReady = await task.value
        known = (isReady, .now + Self.freshness)
        pending = nil
        return isReady
    }

    /// Whether the database answers within `limit`; a later answer is ignored.
    private static func answers(_ database: any Database) async -> Bool {
        await withCheckedContinuation { continuation in
            let first = FirstAnswer(continuation)
            Task {
                do throws(DatabaseFault) {
                    _ = try await database.read { store throws(DatabaseFault) in
                        try store.run("SELECT COUNT(*) FROM schema_version")
                    }
                    await first.give(true)
                } catch { await first.give(false) }
            }
            Task {
                // Nothing but the passing of time ends this wait.
                try? await Task.sleep(for: limit)
                await first.give(false)
            }
        }
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
