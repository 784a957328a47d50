// SPDX-License-Identifier: Apache-2.0
import Policy
import Posix
import SignedFormats

/// Keeps how often each account has had a finger compared with other accounts' fingerprints while it
/// enrolled.
///
/// By uid, and beside what is kept for accounts: a guess usually comes before the first enrolment,
/// when nothing else is there, and the count outlives everything that is deleted for an account. The
/// next owner of a uid inherits it; root lifts it.
///
/// An account's directory is made after its record here. So where that directory is there, a record
/// that is missing was taken away, and counts as a lock, as a damaged one does.
package struct EnrolmentComparisonStore: Sendable {
    static let directoryName = "comparisons"

    let directory: Directory
    let accounts: Directory

    /// What was saved last for a uid.
    package func load(uid: UInt32) -> EnrolmentComparisons {
        do throws(StoreFault) {
            let kind = EnrolmentComparisonRecord.self
            if let record = try directory.record(name(uid), as: kind) { return record.comparisons }
            let isKnown = try files { () throws(FileFault) in try accounts.contains(name(uid)) }
            return isKnown ? .unreadable : EnrolmentComparisons()
        } catch { return .unreadable }
    }

    /// Saves durably: when this returns, a crash does not forget it.
    package func save(
        _ comparisons: EnrolmentComparisons, uid: UInt32
    ) throws(StoreFault) {
        try directory.keep(
            EnrolmentComparisonRecord(comparisons: comparisons), as: name(uid))
    }

    /// Begins a count where there is none, before the account's directory is made.
    func begin(uid: UInt32) throws(StoreFault) {
        let record = EnrolmentComparisonRecord(comparisons: EnrolmentComparisons())
        try files { () throws(FileFault) in
            guard try !directory.contains(name(uid)) else { return }
            _ = try directory.add(name(uid), record.encoded())
        }
    }

    private func name(_ uid: UInt32) -> String { String(uid) }
}

/// A record in `comparisons/`, named after the uid.
struct EnrolmentComparisonRecord: LineRecord {
    static let cap = 512

    let comparisons: EnrolmentComparisons

    init(comparisons: EnrolmentComparisons) {
        self.comparisons = comparisons
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-comparisons", number: 1)
        lines.put("count", number: UInt64(comparisons.count))
        lines.put("completions", number: UInt64(comparisons.completions))
        if let moment = comparisons.pausedAt { lines.put(paused: moment) }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-comparisons")
        guard let count = UInt32(exactly: try lines.number("count")),
            let completions = UInt32(exactly: try lines.number("completions"))
        else { throw .malformed }
        comparisons = EnrolmentComparisons(
            count: count, completions: completions, pausedAt: try lines.pausedAtIfNext())
    }
}
