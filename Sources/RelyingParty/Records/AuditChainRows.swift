// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// The hash of a sealed line of the audit trail: SHA-256, 32 bytes.
struct AuditHash: FixedBytes {
    static var count: Int { 32 }
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}

/// A place in the chain of sealed lines; position 0, with a hash of zeros, is before the first.
struct AuditPosition: Equatable, Sendable {
    let position: Int64
    let hash: AuditHash

    static let beginning = AuditPosition(position: 0, hash: .zero)
}

/// A line of the audit trail with its id, as it is sealed.
struct StoredAudit: Sendable {
    let id: Int64
    let line: ListedAudit
}

/// A link of the chain, and the line that it seals.
struct AuditLink: Sendable {
    let place: AuditPosition
    /// The id of the line.
    let audit: Int64
    /// When the line was sealed.
    let sealed: Int64
    /// The line as it is now; nil if it is gone, or cannot be read.
    var line: ListedAudit?
}

/// The only row of the table `audit_chain`.
struct AuditChainState: Sendable {
    /// The last link.
    var head: AuditPosition
    /// The last link that was pruned; the chain begins after it.
    var pruned: AuditPosition
    /// The position up to which lines are being pruned, as a line of the trail says.
    var goal: Int64
    /// Lines with an id up to this one need not be looked at when new lines are sealed.
    var swept: Int64
    /// The next value of `swept`, from the time `aheadSince` on.
    var ahead: Int64
    var aheadSince: Int64
}

/// The tables `audit_link` and `audit_chain`, which seal the lines of the table `audit`.
struct AuditChainRows {
    let store: any Transaction
}

extension Transaction {
    var auditChain: AuditChainRows { AuditChainRows(store: self) }
}

extension AuditChainRows {
    /// Returns the chain's state, for reading.
    func state() throws(DatabaseFault) -> AuditChainState {
        try state(
            store.run(
                """
                SELECT position, hash, pruned, pruned_hash, goal, swept, ahead, ahead_since
                FROM audit_chain WHERE id = 1
                """))
    }

    /// Returns the chain's state behind its lock, which all that change the chain take.
    func lockedState() throws(DatabaseFault) -> AuditChainState {
        if store.isAlone { return try state() }
        return try state(
            store.run(
                """
                SELECT position, hash, pruned, pruned_hash, goal, swept, ahead, ahead_since
                FROM audit_chain WHERE id = 1 FOR UPDATE
                """))
    }

    private func state(_ rows: [Row]) throws(DatabaseFault) -> AuditChainState {
        guard let row = rows.first else { throw .broken("the state of the audit trail is gone") }
        return AuditChainState(
            head: AuditPosition(
                position: try row.integer(0), hash: try row.optionalID(1) ?? .zero),
            pruned: AuditPosition(
                position: try row.integer(2), hash: try row.optionalID(3) ?? .zero),
            goal: try row.integer(4), swept: try row.integer(5), ahead: try row.integer(6),
            aheadSince: try row.integer(7))
    }

    /// Stores the state, which must have been read behind the lock.
    func keep(_ state: AuditChainState) throws(DatabaseFault) {
        try store.add(
            """
            UPDATE audit_chain SET position = $1, hash = $2, pruned = $3, pruned_hash = $4,
                goal = $5, swept = $6, ahead = $7, ahead_since = $8 WHERE id = 1
            """,
            [
                .integer(state.head.position), .id(state.head.hash),
                .integer(state.pruned.position), .id(state.pruned.hash), .integer(state.goal),
                .integer(state.swept), .integer(state.ahead), .integer(state.aheadSince),
            ])
    }

    /// Appends a link; the line must have none.
    func append(_ link: AuditLink) throws(DatabaseFault) {
        try store.add(
            "INSERT INTO audit_link (position, audit, sealed, hash) VALUES ($1, $2, $3, $4)",
            [
                .integer(link.place.position), .integer(link.audit), .integer(link.sealed),
                .id(link.place.hash),
            ])
    }

    /// The first and the last id of at most `most` lines after an id; nil if there is none.
    ///
    /// An id may be far above the one before it, so a range of ids says nothing about a number.
    func ids(after id: Int64, most: Int64) throws(DatabaseFault) -> ClosedRange<Int64>? {
        let first = try store.run(
            "SELECT id FROM audit WHERE id > $1 ORDER BY id LIMIT 1", [.integer(id)])
        guard let first = try first.first?.integer(0) else { return nil }
        let (end, isOver) = first.addingReportingOverflow(most - 1)
        let last = try store.run(
            "SELECT id FROM audit WHERE id >= $1 AND id <= $2 ORDER BY id DESC LIMIT 1",
            [.integer(first), .integer(isOver ? .max : end)])
        guard let last = try last.first?.integer(0), last >= first else { return nil }
        return first...last
    }

    /// The first lines in a range of ids that are not sealed, in the order of their ids.
    func unsealed(
        _ ids: ClosedRange<Int64>, most: Int64
    ) throws(DatabaseFault) -> [StoredAudit] {
        try store.run(
            """
            SELECT a.id, a.time, a.event, a.outcome, a.application, a.account, a.registration,
                a.address, a.agent, a.detail, a.api_key
            FROM audit a LEFT JOIN audit_link l ON l.audit = a.id
            WHERE a.id >= $1 AND a.id <= $2 AND l.audit IS NULL ORDER BY a.id LIMIT $3
            """, [.integer(ids.lowerBound), .integer(ids.upperBound), .integer(most)]
        ).map { (row) throws(DatabaseFault) in
            StoredAudit(id: try row.integer(0), line: try ListedAudit(row, from: 1))
        }
    }

    /// The links after a position with their lines, up to `most` of them, in order.
    func links(after position: Int64, most: Int64) throws(DatabaseFault) -> [AuditLink] {
        try store.run(
            """
            SELECT l.position, l.hash, l.audit, l.sealed, a.time, a.event, a.outcome,
                a.application, a.account, a.registration, a.address, a.agent, a.detail, a.api_key
            FROM audit_link l LEFT JOIN audit a ON a.id = l.audit
            WHERE l.position > $1 ORDER BY l.position LIMIT $2
            """, [.integer(position), .integer(most)]
        ).map { (row) throws(DatabaseFault) in
            var link = AuditLink(
                place: AuditPosition(position: try row.integer(0), hash: try row.id(1)),
                audit: try row.integer(2), sealed: try row.integer(3))
            // A column of another type is as wrong as another value.
            do throws(DatabaseFault) { link.line = try ListedAudit(row, from: 4) } catch {}
            return link
        }
    }

    /// The hash at a position; nil if there is no such link.
    func hash(at position: Int64) throws(DatabaseFault) -> AuditHash? {
        let rows = try store.run(
            "SELECT hash FROM audit_link WHERE position = $1", [.integer(position)])
        return try rows.first?.id(0)
    }

    /// Deletes the links at these positions, and their lines except those with `kept` ids; returns
    /// how many lines.
    func delete(
        _ positions: ClosedRange<Int64>, except kept: Set<Int64>
    ) throws(DatabaseFault) -> Int64 {
        let bounds = [Value.integer(positions.lowerBound), .integer(positions.upperBound)]
        var gone: Int64 = 0
        let audits = try store.run(
            "SELECT audit FROM audit_link WHERE position >= $1 AND position <= $2", bounds)
        for row in audits {
            let id = try row.integer(0)
            guard !kept.contains(id) else { continue }
            gone += 1
            try store.add("DELETE FROM audit WHERE id = $1", [.integer(id)])
        }
        try store.add("DELETE FROM audit_link WHERE position >= $1 AND position <= $2", bounds)
        return gone
    }
}
