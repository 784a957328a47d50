// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL
import Synchronization

/// Limits how many refusals per API key and minute get their own audit line.
///
/// Anyone who can reach a back end can make it submit any number of headers for verification, and
/// anyone who has an API key that is no longer valid can use it any number of times. Each audit
/// line is a durable write that is kept. Refusals beyond the limit are counted and summarised in
/// one line. Codes that a registered key has signed have their own limit, so that a flood of
/// other codes cannot hide a replay.
final class AuditQuota: Sendable {
    /// What is refused.
    enum Kind: Hashable, Sendable {
        /// A request code that no registered key has signed.
        case unprovenCode
        /// A request code that a registered key has signed.
        case provenCode
        /// The API key itself: the code and the title of the problem.
        case refusedKey(code: String, title: String)
    }

    /// Refusals that share a limit.
    struct Source: Hashable, Sendable {
        /// The application's name.
        let application: String
        /// The name of the API key.
        let apiKey: String
        let kind: Kind
    }

    private struct Minute {
        let ends: Duration
        var left: Int
        var unwritten = 0
        /// The origin of the last refusal that was only counted.
        var origin: Origin?
    }

    /// Refusals that were counted without their own audit line.
    struct Unwritten: Sendable {
        let source: Source
        let count: Int
        /// The origin of the last of these refusals.
        let origin: Origin
    }

    private let perMinute: Int
    private let clock: Clock
    private let minutes = Mutex<[Source: Minute]>([:])
    private let all = Atomic<Int>(0)

    /// Creates a quota of `perMinute` lines for the codes that each API key asks about, the same
    /// number again for codes that a registered key has signed, and one line for each reason for
    /// which an API key itself is refused.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = perMinute
        self.clock = clock
    }

    /// How many refused codes have been counted without a line since the server started.
    var count: Int { all.load(ordering: .relaxed) }

    /// Whether a refused code gets its own audit line; if not, it is counted.
    ///
    /// A device's own call (`application` is nil) always gets a line, because the limit of its
    /// network, or of its key or token, already applies to it.
    func hasLine(
        for application: AskingApplication?, isSigned: Bool, from origin: Origin
    ) -> Bool {
        guard let application else { return true }
        let source = Source(
            application: application.record.name, apiKey: application.name,
            kind: isSigned ? .provenCode : .unprovenCode)
        let hasLine = hasLine(for: source, from: origin)
        if !hasLine { all.add(1, ordering: .relaxed) }
        return hasLine
    }

    /// Whether a refusal gets its own audit line; if not, it is counted.
    func hasLine(for source: Source, from origin: Origin) -> Bool {
        let now = clock.sinceBoot()
        let most = most(source.kind)
        return minutes.withLock { minutes in
            var minute = minutes[source] ?? Minute(ends: now + .seconds(60), left: most)
            if minute.ends <= now {
                let (unwritten, former) = (minute.unwritten, minute.origin)
                minute = Minute(ends: now + .seconds(60), left: most)
                (minute.unwritten, minute.origin) = (unwritten, former)
            }
            let hasLine = minute.left > 0
            if hasLine {
                minute.left -= 1
            } else {
                minute.unwritten += 1
                minute.origin = origin
            }
            minutes[source] = minute
            return hasLine
        }
    }

    private func most(_ kind: Kind) -> Int {
        switch kind {
        case .unprovenCode, .provenCode: perMinute
        case .refusedKey: 1
        }
    }

    /// Returns the refusals that were counted without a line, and resets their counts.
    func takeUnwritten() -> [Unwritten] {
        let now = clock.sinceBoot()
        return minutes.withLock { minutes in
            var taken: [Unwritten] = []
            for (source, minute) in minutes {
                if let origin = minute.origin {
                    taken.append(
                        Unwritten(source: source, count: minute.unwritten, origin: origin))
                }
                minutes[source]?.unwritten = 0
                minutes[source]?.origin = nil
                if minute.ends <= now { minutes[source] = nil }
            }
            return taken
        }
    }

    /// Restores counts whose summary could not be written.
    func putBack(_ unwritten: [Unwritten]) {
        let now = clock.sinceBoot()
        minutes.withLock { minutes in
            for part in unwritten {
                var minute = minutes[part.source] ?? Minute(ends: now, left: 0)
                minute.unwritten += part.count
                minute.origin = minute.origin ?? part.origin
                minutes[part.source] = minute
            }
        }
    }
}

extension Requests {
    /// Writes one summary line for each kind of refusals, of each API key, that have no line.
    ///
    /// If the database fails, the counts are restored for the next attempt.
    func noteUnwrittenRefusals() async {
        let unwritten = refusals.takeUnwritten()
        guard !unwritten.isEmpty else { return }
        let now = core.now
        do throws(DatabaseFault) {
            try await database.write { store throws(DatabaseFault) in
                for part in unwritten {
                    try store.auditTrail.note(part.entry, from: part.origin, at: now)
                }
            }
        } catch {
            refusals.putBack(unwritten)
            report("the summary of refusals could not be written to the audit trail: \(error)")
        }
    }
}

extension AuditQuota.Unwritten {
    fileprivate var entry: AuditEntry {
        let (event, outcome, what) = said
        return AuditEntry(
            event: event, outcome: outcome, application: source.application,
            detail: "and \(count) more \(what), not listed one by one")
    }

    private var said: (AuditEntry.Event, outcome: String, String) {
        switch source.kind {
        case .unprovenCode: (.request, Problem.refused.code, "without a valid proof")
        case .provenCode: (.request, Problem.refused.code, "with a registered key's proof")
        case .refusedKey(let code, let title): (.apiKey, code, "for '\(title)'")
        }
    }
}
