// SPDX-License-Identifier: Apache-2.0
import Authorization
import Posix
import SignedFormats

/// Stores an account's failed matches.
///
/// The record is created with the account's directory. A record that is damaged, unreadable or
/// missing therefore counts as a lockout until the password is given, and never as no failures.
package struct LockoutStore: Sendable {
    let directory: Directory

    /// Returns the stored lockout, or `.unreadable` if there is no valid record.
    package func load() -> Lockout {
        guard let record = try? directory.record(Self.name, as: LockoutRecord.self) else {
            return .unreadable
        }
        return record.lockout
    }

    /// Stores the lockout durably.
    ///
    /// Once this returns, a crash does not undo it.
    package func save(_ lockout: Lockout) throws(StoreFault) {
        try directory.keep(LockoutRecord(lockout: lockout), as: Self.name)
    }

    static let name = "lockout"
}

/// The record `lockout`: the failed matches, and the start of a pause.
struct LockoutRecord: LineRecord {
    static let cap = 512

    let lockout: Lockout

    init(lockout: Lockout) {
        self.lockout = lockout
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-lockout", number: 1)
        lines.put("failures", number: UInt64(lockout.failures))
        if let moment = lockout.pausedAt { lines.put(paused: moment) }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-lockout")
        guard let failures = UInt32(exactly: try lines.number("failures")) else {
            throw .malformed
        }
        lockout = Lockout(failures: failures, pausedAt: try lines.pausedAtIfNext())
    }
}

extension LineWriter {
    /// Writes the start of a pause as two lines: the boot's id, and nanoseconds since that boot.
    mutating func put(paused moment: Lockout.Moment) {
        put("boot", moment.boot)
        put("paused", number: Self.nanoseconds(moment.sinceBoot))
    }

    /// Whole nanoseconds, clamped to 63 bits, which is 292 years.
    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        let held = min(max(seconds, 0), Int64.max / 1_000_000_000 - 1)
        return UInt64(held) * 1_000_000_000 + UInt64(max(attoseconds, 0) / 1_000_000_000)
    }
}

extension LineReader {
    /// Reads the start of a pause; nil if the next line is not one.
    mutating func pausedAtIfNext() throws(LineFault) -> Lockout.Moment? {
        guard isNext("boot") else { return nil }
        let boot = try value("boot", cap: 64)
        guard let nanoseconds = Int64(exactly: try number("paused")) else { throw .malformed }
        return Lockout.Moment(boot: boot, sinceBoot: .nanoseconds(nanoseconds))
    }
}
