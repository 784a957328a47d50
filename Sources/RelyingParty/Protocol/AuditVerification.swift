// SPDX-License-Identifier: Apache-2.0
import SQL

/// What a check of the audit trail found, if nothing is wrong.
struct AuditReport: Equatable, Sendable {
    /// The place after which the chain begins: what was pruned ends there.
    let pruned: AuditPosition
    /// The last link.
    let head: AuditPosition
    /// How many lines were not sealed yet, and are now.
    let sealedNow: Int64

    var lines: Int64 { head.position - pruned.position }
}

/// What is wrong with the audit trail, or why it could not be checked.
enum AuditDamage: Error, Equatable {
    /// There is no link at this position, although later ones follow.
    case missingLink(Int64)
    /// The line at this position is gone.
    case missingLine(Int64)
    /// The line at this position, or its link, is not as it was sealed.
    case altered(Int64)
    /// The chain ends before this position, at which its last link was.
    case cutOff(Int64)
    /// The chain continues at this position, after its last link.
    case continued(Int64)
    /// The chain begins after this position, and no line says that it was pruned up to there.
    case notPruned(Int64)
    /// The place that an administrator noted is not part of the chain.
    case otherPlace(AuditPosition)
    /// The place that an administrator noted has been pruned, together with all up to this one.
    case placePruned(upTo: AuditPosition)
    /// The database failed.
    case database(DatabaseFault)
}

extension AuditChain {
    /// Seals what is not sealed yet, and checks every link of the chain in order.
    ///
    /// It needs memory for `page` lines. `noted` is a place that must be part of the chain. The
    /// server may keep running meanwhile, and lines may be pruned.
    ///
    /// - Throws: what is wrong, at the first position where anything is.
    func verify(
        noted: AuditPosition? = nil, page: Int64 = 1_000
    ) async throws(AuditDamage) -> AuditReport {
        let (sealed, walk): (Int64, AuditWalk)
        do throws(DatabaseFault) {
            sealed = try await seal(everything: true)
            walk = try await walked(to: noted, page: page)
        } catch { throw .database(error) }
        if let damage = walk.damage { throw damage }
        return AuditReport(pruned: walk.pruned, head: walk.place, sealedNow: sealed)
    }

    private func walked(
        to noted: AuditPosition?, page: Int64
    ) async throws(DatabaseFault) -> AuditWalk {
        var walk = AuditWalk(noted: noted)
        while !walk.isOver {
            let former = walk
            walk = try await core.database.read { store throws(DatabaseFault) in
                var walk = former
                try walk.check(some: page, in: store)
                return walk
            }
        }
        return walk
    }
}

/// A check of the chain, as far as it has come.
private struct AuditWalk: Sendable {
    /// The last link that was found right, or that was pruned.
    var place = AuditPosition.beginning
    /// The place after which the chain begins.
    var pruned = AuditPosition.beginning
    /// What is wrong; the check then ends.
    var damage: AuditDamage?
    var isOver = false
    /// Whether a line of the chain says that it was pruned up to `pruned`, or further.
    private var isPruneRecorded = true
    /// The place that is looked for; nil once it was found.
    private var noted: AuditPosition?

    init(noted: AuditPosition?) { self.noted = noted }

    /// Checks the next links, all in one snapshot of the database.
    mutating func check(some page: Int64, in store: any Transaction) throws(DatabaseFault) {
        let state = try store.auditChain.state()
        // At the beginning, and if lines were pruned since the last step.
        if state.pruned.position > place.position {
            (place, pruned) = (state.pruned, state.pruned)
            isPruneRecorded = false
            if noted == place { noted = nil }
        }
        let links = try store.auditChain.links(after: place.position, most: page)
        for link in links {
            damage = try objection(to: link, in: store)
            guard damage == nil else { return isOver = true }
        }
        guard links.count < page else { return }
        isOver = true
        damage = objection(atEnd: state.head)
    }

    private mutating func objection(
        to link: AuditLink, in store: any Transaction
    ) throws(DatabaseFault) -> AuditDamage? {
        let next = place.position + 1
        guard link.place.position == next else { return .missingLink(next) }
        guard let line = link.line else { return .missingLine(next) }
        place = try AuditSeal.place(of: line, id: link.audit, sealed: link.sealed, after: place)
        guard place == link.place else { return .altered(next) }
        if let noted, noted.position == next {
            guard noted == place else { return .otherPlace(noted) }
            self.noted = nil
        }
        // Up to this line, all links were right, so that the hash found is the right one.
        if let named = PruneLine.place(in: line), named.position >= pruned.position,
            named.position < next
        {
            let hash =
                named.position == pruned.position
                ? pruned.hash : try store.auditChain.hash(at: named.position)
            if hash == named.hash { isPruneRecorded = true }
        }
        return nil
    }

    private func objection(atEnd head: AuditPosition) -> AuditDamage? {
        if place.position < head.position { return .cutOff(head.position) }
        if place.position > head.position { return .continued(head.position + 1) }
        if place != head { return .altered(head.position) }
        if !isPruneRecorded { return .notPruned(pruned.position) }
        guard let noted else { return nil }
        return noted.position <= pruned.position ? .placePruned(upTo: pruned) : .otherPlace(noted)
    }
}
