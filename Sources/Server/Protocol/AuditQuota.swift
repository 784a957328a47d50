// SPDX-License-Identifier: Apache-2.0
import Database
import Posix
import Synchronization

/// How many refused codes, of those that an application's back ends ask about, have a line of their
/// own in the audit trail: so many a minute.
///
/// Whoever reaches a back end has it ask about headers, as many as they like, and each line is a
/// durable write that stays. What is over is counted, and told in one line. What nobody's key has
/// signed is counted apart: a flood of it hides no code that was used twice.
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
        /// Where the last one that was only counted came from.
        var origin: Origin?
    }

    /// Refusals that were only counted.
    struct Unwritten: Sendable {
        let application: Int64
        let name: String
        let isSigned: Bool
        let count: Int
        /// Where the last of them came from.
        let origin: Origin
    }

    private let perMinute: Int
    private let clock: Clock
    private let minutes = Mutex<[Source: Minute]>([:])
    private let all = Atomic<Int>(0)

    /// `perMinute` lines of an application, and as many of what its devices have signed.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = perMinute
        self.clock = clock
    }

    /// How many were only counted since the start.
    var count: Int { all.load(ordering: .relaxed) }

    /// Whether a refusal has a line of its own; else it is counted. A device that calls for itself
    /// has one each time: it is held to the limit of its address.
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

    /// Gives what was only counted, and counts anew.
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

    /// Takes back what could not be written.
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
    /// Writes one line for all refusals of an application that have none of their own.
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
