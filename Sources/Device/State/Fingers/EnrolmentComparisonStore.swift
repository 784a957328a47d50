// SPDX-License-Identifier: Apache-2.0
import Authorization
import Posix
import SignedFormats

/// Stores how often each account that was enrolling had a finger compared with other accounts'
/// prints.
///
/// The records are named after the uid and are separate from the accounts' directories: a guess
/// usually precedes the first enrolment, when there is no directory yet, and the count must survive
/// the deletion of the account's state. The next owner of a uid inherits the count; root can reset
/// it.
///
/// The record is created before the account's directory. If the directory exists and the record
/// does not, the record was removed, which counts as a lock, as a damaged record does.
package struct EnrolmentComparisonStore: Sendable {
    static let directoryName = "comparisons"

    let directory: Directory
    let accounts: Directory

    /// Returns the stored count of a uid; `.unreadable` if the record is damaged or was removed.
    package func load(uid: UInt32) -> EnrolmentComparisons {
        do throws(StoreFault) {
            let kind = EnrolmentComparisonRecord.self
            if let record = try directory.record(name(uid), as: kind) { return record.comparisons }
            let isKnown = try files { () throws(FileFault) in try accounts.contains(name(uid)) }
            return isKnown ? .unreadable : EnrolmentComparisons()
        } catch { return .unreadable }
    }

    /// Stores the count durably.
    ///
    /// Once this returns, a crash does not undo it.
    package func save(
        _ comparisons: EnrolmentComparisons, uid: UInt32
    ) throws(StoreFault) {
        try directory.keep(
            EnrolmentComparisonRecord(comparisons: comparisons), as: name(uid))
    }

    /// Creates a record if there is none.
    ///
    /// Call it before the account's directory is created.
    func begin(uid: UInt32) throws(StoreFault) {
        let record = EnrolmentComparisonRecord(comparisons: EnrolmentComparisons())
        try files { () throws(FileFault) in
            guard try !directory.contains(name(uid)) else { return }
            _ = try directory.add(name(uid), bytes: record.encoded())
        }
    }

    private func name(_ uid: UInt32) -> String { String(uid) }
}

/// A record in `comparisons/`; its file is named after the uid.
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
