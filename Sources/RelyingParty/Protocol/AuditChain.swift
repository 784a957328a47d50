// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import ServerAPI
import SignedFormats

/// Seals the lines of the audit trail in a chain of hashes, so that a removed, altered or moved
/// line is noticed.
///
/// Lines are sealed a moment after their transaction has been committed, since hashing in each
/// transaction would make all writers wait for each other. A transaction that seals or prunes holds
/// the lock of the chain's state, so that several servers on one database take turns. The order of
/// the chain is that of sealing; it is not always that of the ids.
struct AuditChain: Sendable {
    /// How many lines one transaction seals, so that other writers are not held up.
    private static let batch: Int64 = 500
    /// How many ids one transaction looks at.
    private static let range: Int64 = 50_000
    /// How long after a line got its id it may still be committed, in seconds.
    ///
    /// A transaction has 10 seconds. A line that is later still is sealed by the next complete
    /// sweep.
    private static let late: Int64 = 30

    let core: ServerCore
}

extension AuditChain {
    /// Seals all lines that are not sealed yet; returns how many.
    ///
    /// With `everything`, all ids are looked at; otherwise those since the last sweep, and those
    /// shortly before. While no lines are added, nothing is looked at or written after a minute.
    func seal(everything: Bool = false) async throws(DatabaseFault) -> Int64 {
        guard try await isAnythingNew(everything: everything) else { return 0 }
        var after: Int64? = everything ? .min : nil
        var count: Int64 = 0
        while true {
            let (start, now) = (after, core.now)
            let step = try await core.database.write { store throws(DatabaseFault) in
                try store.sealSome(
                    after: start, range: Self.range, most: Self.batch, late: Self.late, at: now)
            }
            count += step.sealed
            guard let next = step.next else { return count }
            after = next
        }
    }

    private func isAnythingNew(everything: Bool) async throws(DatabaseFault) -> Bool {
        if everything { return true }
        let now = core.now
        return try await core.database.read { store throws(DatabaseFault) in
            let state = try store.auditChain.state()
            guard let ids = try store.auditChain.ids(after: state.swept, most: Self.range) else {
                return false
            }
            // Lines that need not be looked at again are left out from then on. What is beyond a
            // full range is for those that seal to look at.
            if state.isSweptDue(after: Self.late, at: now)
                || ids.upperBound - ids.lowerBound >= Self.range - 1
            {
                return true
            }
            return try !store.auditChain.unsealed(ids, most: 1).isEmpty
        }
    }
}

/// What one transaction sealed.
private struct SealingStep: Sendable {
    let sealed: Int64
    /// The id to continue after; nil if no line was left.
    let next: Int64?
}

extension Transaction {
    /// Seals up to `most` lines among the next `range` ids after `start`, or after those that need
    /// not be looked at again.
    fileprivate func sealSome(
        after start: Int64?, range: Int64, most: Int64, late: Int64, at now: Int64
    ) throws(DatabaseFault) -> SealingStep {
        var state = try auditChain.lockedState()
        let after = start ?? state.swept
        let ids = try auditChain.ids(after: after, most: range)
        var step = SealingStep(sealed: 0, next: nil)
        if let ids {
            let lines = try auditChain.unsealed(ids, most: most)
            let next = lines.count == most ? lines.last?.id ?? ids.upperBound : ids.upperBound
            try seal(lines, in: &state, at: now)
            step = SealingStep(sealed: Int64(lines.count), next: next)
        }
        if state.isSweptDue(after: late, at: now) {
            let ahead = max(state.ahead, step.next ?? state.ahead)
            (state.swept, state.ahead, state.aheadSince) = (state.ahead, ahead, now)
        } else if step.sealed == 0 {
            return step
        }
        try auditChain.keep(state)
        return step
    }

    /// Appends lines to the chain; `state`, read behind the lock, gets the new head.
    func seal(
        _ lines: [StoredAudit], in state: inout AuditChainState, at now: Int64
    ) throws(DatabaseFault) {
        for stored in lines {
            let place = try AuditSeal.place(
                of: stored.line, id: stored.id, sealed: now, after: state.head)
            try auditChain.append(AuditLink(place: place, audit: stored.id, sealed: now))
            state.head = place
        }
    }
}

extension AuditChainState {
    /// Whether `swept` can be advanced: what got an id before `ahead` was stored has been committed
    /// since, or the clock was set.
    fileprivate func isSweptDue(after late: Int64, at now: Int64) -> Bool {
        now >= aheadSince + late || now < aheadSince
    }
}

/// The hash of a line: SHA-256 over the hash before it, and over everything that the line says.
///
/// docs/developer/SERVER-INTEGRATE.md describes the bytes, so that others can check what was
/// exported.
enum AuditSeal {
    /// What every hash begins with, so that it cannot be taken for one of another kind.
    private static let domain = [UInt8]("signet audit 1".utf8)

    /// Returns the place of a line that is sealed next after another place.
    ///
    /// - Throws: `.broken` if the cryptography library fails.
    static func place(
        of line: ListedAudit, id: Int64, sealed: Int64, after former: AuditPosition
    ) throws(DatabaseFault) -> AuditPosition {
        let (position, isOver) = former.position.addingReportingOverflow(1)
        guard !isOver else { throw .broken("the audit trail has no position left") }
        var bytes = domain
        bytes += former.hash.bytes
        for number in [position, id, sealed, line.time] { bytes.append(number) }
        for text in [
            line.event, line.outcome, line.application, line.account, line.registration,
            line.address, line.agent, line.detail, line.apiKey,
        ] {
            bytes.append(Int64(text.utf8.count))
            bytes += text.utf8
        }
        let digest: [UInt8]
        do throws(CryptoFault) {
            digest = try SHA256.digest(bytes)
        } catch { throw .broken("cryptography failed: \(error)") }
        guard let hash = AuditHash(digest) else { throw .broken("a digest has another length") }
        return AuditPosition(position: position, hash: hash)
    }
}

extension [UInt8] {
    /// Appends a number in 8 bytes, the most significant first.
    fileprivate mutating func append(_ number: Int64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }
}

extension AuditPosition {
    /// The text that administrators note: the position, a colon, and the hash in hexadecimal.
    var text: String { "\(position):\(hexadecimal(hash))" }

    /// Parses exactly that text; nil for anything else.
    init?(text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let position = Int64(parts[0]), position > 0,
            String(position) == parts[0],
            let bytes = Hexadecimal.decode([UInt8](parts[1].utf8)), let hash = AuditHash(bytes)
        else { return nil }
        self.init(position: position, hash: hash)
    }
}
