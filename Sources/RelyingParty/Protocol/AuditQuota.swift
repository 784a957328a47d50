// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL
import Synchronization

/// Limits how many refused request codes per application and minute get their own audit line.
///
/// Anyone who can reach a back end can make it submit any number of headers for verification, and
/// each audit line is a durable write that is kept. Refusals beyond the limit are counted and
/// summarised in one line. Codes that a registered key has signed have a limit of their own, so
/// that a flood of other codes cannot hide a replay.
final class AuditQuota: Sendable {
    private struct Source: Hashable {
        let application: Int64
        let isSigned: Bool
    }

    private struct Minute {
        let ends: Duration
        var left: Int
        var unwritten = 0
        var name = ""
        /// The origin of the last refusal that was only counted.
        var origin: Origin?
    }

    /// Refusals of one application that were counted without an audit line of their own.
    struct Unwritten: Sendable {
        let application: Int64
        let name: String
        let isSigned: Bool
        let count: Int
        /// The origin of the last of these refusals.
        let origin: Origin
    }

    private let perMinute: Int
    private let clock: Clock
    private let minutes = Mutex<[Source: Minute]>([:])
    private let all = Atomic<Int>(0)

    /// Creates a quota of `perMinute` lines for each application, and the same number again for
    /// codes that a registered key has signed.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = perMinute
        self.clock = clock
    }

    /// How many refusals have been counted without a line since the server started.
    var count: Int { all.load(ordering: .relaxed) }

    /// Whether a refusal gets its own audit line; if not, it is counted.
    ///
    /// A device's own call (`application` is nil) always gets a line, because the rate limit of its
    /// address already applies to it.
    func hasLine(
        for application: AskingApplication?, isSigned: Bool, from origin: Origin
    ) -> Bool {
        guard let record = application?.record else { return true }
        let now = clock.sinceBoot()
        let source = Source(application: record.id, isSigned: isSigned)
        let hasLine = minutes.withLock { minutes in
            var minute = minutes[source] ?? Minute(ends: now + .seconds(60), left: perMinute)
            if minute.ends <= now {
                let (unwritten, former) = (minute.unwritten, minute.origin)
                minute = Minute(ends: now + .seconds(60), left: perMinute)
                (minute.unwritten, minute.origin) = (unwritten, former)
            }
            let hasLine = minute.left > 0
            if hasLine {
                minute.left -= 1
            } else {
                minute.unwritten += 1
                minute.origin = origin
            }
            minute.name = record.name
            minutes[source] = minute
            return hasLine
        }
        if !hasLine { all.add(1, ordering: .relaxed) }
        return hasLine
    }

    /// Returns the refusals that were counted without a line, and resets their counts.
    func takeUnwritten() -> [Unwritten] {
        let now = clock.sinceBoot()
        return minutes.withLock { minutes in
            var taken: [Unwritten] = []
            for (source, minute) in minutes {
                if let origin = minute.origin {
                    taken.append(
                        Unwritten(
                            application: source.application, name: minute.name,
                            isSigned: source.isSigned, count: minute.unwritten, origin: origin))
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
                let source = Source(application: part.application, isSigned: part.isSigned)
                var minute = minutes[source] ?? Minute(ends: now, left: 0)
                minute.unwritten += part.count
                minute.origin = minute.origin ?? part.origin
                minute.name = part.name
                minutes[source] = minute
            }
        }
    }
}

extension Requests {
    /// Writes one summary line for each application and kind of code that has refusals without a
    /// line.
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
            report("refusals that were counted could not be written down: \(error)")
        }
    }
}

extension AuditQuota.Unwritten {
    fileprivate var entry: AuditEntry {
        let whose = isSigned ? "with a registered key's proof" : "with nobody's proof"
        return AuditEntry(
            event: .request, outcome: Problem.refused.code, application: name,
            detail: "and \(count) more \(whose), which have no line of their own")
    }
}
