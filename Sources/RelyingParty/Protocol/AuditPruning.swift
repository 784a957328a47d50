// SPDX-License-Identifier: Apache-2.0
import SQL

// Old lines are deleted from the beginning of the chain, up to a place that a line of the trail
// names before anything is deleted. So a check of the chain can tell what was pruned from what was
// removed.

/// What a line about a prune begins with.
enum PruneLine {
    /// Of `signet-server admin audit prune`; such lines are never pruned.
    static let ofAdministrator = "audit prune "
    /// Of the setting `audit.keep`.
    static let ofSetting = "audit.keep "

    /// The text that names the place up to which is pruned.
    static func text(_ what: String, through place: AuditPosition) -> String {
        "\(what) through \(place.text)"
    }

    /// The place that a line about a prune names; nil for any other line.
    static func place(in line: ListedAudit) -> AuditPosition? {
        guard line.isAboutPrune, let word = line.detail.split(separator: " ").last else {
            return nil
        }
        return AuditPosition(text: word)
    }
}

extension ListedAudit {
    /// Whether the line says that an administrator pruned the trail.
    fileprivate var isKept: Bool { isAdministration && detail.hasPrefix(PruneLine.ofAdministrator) }

    /// Whether the line says that the trail was pruned.
    fileprivate var isAboutPrune: Bool {
        isKept || isAdministration && detail.hasPrefix(PruneLine.ofSetting)
    }

    private var isAdministration: Bool {
        event == AuditEntry.Event.administration.rawValue
    }
}

extension AuditChain {
    /// How many links are read at once.
    private static let read: Int64 = 2_000

    /// Records that lines from before a time are to be pruned, and up to where; returns false, and
    /// records nothing, if there are none. `pruneSome` then deletes them.
    ///
    /// All lines up to the first one are meant whose time is neither before `moment` nor in the
    /// future. A line whose time is in the future was written under a wrong clock, and is as old as
    /// the lines around it. The line that records this is sealed at once, so that no prune is seen
    /// without it.
    func recordPrune(
        before moment: Int64, what: String, by origin: Origin
    ) async throws(DatabaseFault) -> Bool {
        guard let place = try await lastPrunable(before: moment) else { return false }
        let entry = AuditEntry(
            event: .administration, outcome: "ok", detail: PruneLine.text(what, through: place))
        let now = core.now
        return try await core.database.write { store throws(DatabaseFault) in
            var state = try store.auditChain.lockedState()
            let isFurther = place.position > max(state.goal, state.pruned.position)
            // Another server may have recorded the same in the meantime, by the same setting.
            guard isFurther || what.hasPrefix(PruneLine.ofAdministrator) else { return false }
            let id = try store.auditTrail.noteForSealing(entry, from: origin, at: now)
            try store.seal(store.auditChain.unsealed(id...id, most: 1), in: &state, at: now)
            state.goal = max(state.goal, place.position)
            try store.auditChain.keep(state)
            return true
        }
    }

    private func lastPrunable(before moment: Int64) async throws(DatabaseFault) -> AuditPosition? {
        let now = core.now
        var after: Int64?
        var found: AuditPosition?
        while true {
            let start = after
            let links = try await core.database.read { store throws(DatabaseFault) in
                let pruned = try store.auditChain.state().pruned.position
                return try store.auditChain.links(after: start ?? pruned, most: Self.read)
            }
            guard let last = links.last else { return found }
            for link in links {
                guard let line = link.line else { continue }
                if (moment...max(moment, now)).contains(line.time) { return found }
                if line.time < moment, !line.isAboutPrune { found = link.place }
            }
            after = last.place.position
        }
    }
}

extension Transaction {
    /// Deletes up to `most` lines whose prune is recorded, with their links; returns how many are
    /// gone, and whether that was all.
    ///
    /// Lines about an administrator's prunes stay: they are sealed again, after all others.
    func pruneSome(
        most: Int64, at now: Int64
    ) throws(DatabaseFault) -> (deleted: Int64, isOver: Bool) {
        var state = try auditChain.lockedState()
        let first = state.pruned.position + 1
        guard first <= state.goal else { return (0, true) }
        let last = min(state.goal, state.pruned.position + most)
        guard let hash = try auditChain.hash(at: last) else {
            throw .broken("position \(last) of the audit trail is gone")
        }
        let kept = try auditChain.links(after: state.pruned.position, most: most)
            .filter { $0.place.position <= last }
            .compactMap { link in
                link.line.flatMap { $0.isKept ? StoredAudit(id: link.audit, line: $0) : nil }
            }
        let deleted = try auditChain.delete(first...last, except: Set(kept.map(\.id)))
        state.pruned = AuditPosition(position: last, hash: hash)
        try seal(kept, in: &state, at: now)
        try auditChain.keep(state)
        return (deleted, last == state.goal)
    }
}
