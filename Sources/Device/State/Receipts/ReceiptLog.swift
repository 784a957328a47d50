// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Sealing
import SignedFormats
import Synchronization

/// A place in the chain of receipts, reserved on disk before the touch.
package struct Reservation: Equatable, Sendable {
    /// The reserved counter, greater than any before.
    package let counter: UInt64
    /// The SHA-256 of the last receipt, 32 bytes; zeros if there is none.
    package let previous: [UInt8]
    /// Whether the end of the log is unchanged since the last write.
    ///
    /// If it is not, the log was truncated or altered, and verifying the chain will always show
    /// that.
    package let isIntact: Bool

    /// Creates a reservation from its values, for tests.
    package init(counter: UInt64, previous: [UInt8], isIntact: Bool) {
        self.counter = counter
        self.previous = previous
        self.isIntact = isIntact
    }
}

/// The newest receipt that was flushed.
package struct ChainHead: Equatable, Sendable {
    /// Its counter; 0 if there is no receipt.
    package let counter: UInt64
    /// Its SHA-256, 32 bytes; zeros if there is no receipt.
    package let digest: [UInt8]
}

/// An account's receipts, in a file that only grows.
///
/// Call `prepare` before the touch, `append` before the answer, `granted` before the confirmation,
/// and `flush` when nothing more can follow. The cost of each call is independent of the file's
/// length.
///
/// A receipt shows that a proof was given; the line that `granted` appends to it shows that the
/// daemon confirmed the proof. Once `granted` returns, both are on disk, so a power failure can
/// lose only receipts of proofs that were not confirmed. Only the newest receipt can be granted,
/// only once, and not after the next place was reserved, because the next receipt covers its
/// digest.
package final class ReceiptLog: Sendable {
    /// The maximum length of a receipt in bytes.
    package static let receiptLimit = Statement.maximumLength + 1_024
    /// The maximum length of an entry, a receipt and its granted line, in bytes.
    static let entryLimit = receiptLimit + ReceiptEntry.markLimit
    static let counterName = "counter"
    private static let name = "receipts"
    /// The gap that is left after the last receipt if the record `counter` is lost, since the
    /// counters that were reserved after that receipt are unknown.
    private static let leap: UInt64 = 1_000_000

    private let directory: Directory
    private let file: AppendFile
    /// The entry that was appended and is not flushed yet.
    private let unflushed = Mutex<Unflushed?>(nil)

    private struct Unflushed {
        var entry: [UInt8]
        var head: ChainHead
        let issued: Instant
        var isGranted = false
    }

    init(in directory: Directory) throws(StoreFault) {
        self.directory = directory
        file = try files { () throws(FileFault) in try AppendFile(in: directory, name: Self.name) }
    }

    /// Reserves the next counter durably, and determines the receipt that the next one follows.
    ///
    /// Also removes an incomplete entry that a crash left at the end of the log.
    package func prepare() throws(StoreFault) -> Reservation {
        let tail = try lastReceipt()
        let (record, isKnown) = try counterRecord(tail)
        let place = try record.place(after: tail)
        if place.head != record.head {
            // The receipt that the record is about to name as the head must be on disk before the
            // record.
            try files { () throws(FileFault) in try file.synchronise() }
        }
        guard record.counter < UInt64.max else { throw .damaged(path: counterPath) }
        let next = CounterRecord(
            counter: record.counter + 1, head: place.head, latest: try record.latest(with: tail))
        try directory.keep(next, as: Self.counterName)
        return Reservation(
            counter: next.counter, previous: place.head.digest,
            isIntact: isKnown && place.isIntact)
    }

    /// Appends a receipt without waiting for the disk.
    ///
    /// Throws `.damaged` if the text is not exactly one receipt without a granted line.
    package func append(_ receipt: [UInt8]) throws(StoreFault) {
        guard receipt.count <= Self.receiptLimit, let parsed = ParsedReceipt(receipt),
            !parsed.isGranted
        else { throw .damaged(path: path) }
        let head = ChainHead(counter: parsed.counter, digest: try receiptDigest(receipt))
        try files { () throws(FileFault) in try file.append(receipt) }
        let appended = Unflushed(entry: receipt, head: head, issued: parsed.issued)
        unflushed.withLock { $0 = appended }
    }

    /// Starts writing appended entries to disk, and returns at once.
    ///
    /// It only shortens the wait in `granted` and `flush`.
    package func beginSync() { file.beginSynchronising() }

    /// Records that the last appended receipt, which has this counter, was granted.
    ///
    /// Once this returns, receipt and line are on disk; only then may the proof be confirmed.
    ///
    /// - Throws: `.changedMeanwhile`, with nothing written, if the receipt is not the newest, was
    ///   flushed or granted already, or another place has been reserved since. After any other
    ///   fault the receipt is not granted either: the line is removed again if the disk permits.
    package func granted(_ counter: UInt64) throws(StoreFault) {
        guard var newest = unflushed.withLock({ $0 }), newest.head.counter == counter,
            !newest.isGranted
        else { throw .changedMeanwhile }
        guard let record = try directory.record(Self.counterName, as: CounterRecord.self) else {
            throw .damaged(path: counterPath)
        }
        guard record.counter == counter else { throw .changedMeanwhile }
        let mark = ReceiptEntry.mark(counter)
        newest.entry += mark
        newest.head = ChainHead(counter: counter, digest: try receiptDigest(newest.entry))
        newest.isGranted = true
        try files { () throws(FileFault) in
            let size = try file.size()
            do throws(FileFault) {
                try file.append(mark)
                try file.synchronise()
            } catch {
                try? file.truncate(to: size)
                throw error
            }
        }
        let granted = newest
        unflushed.withLock { $0 = granted }
    }

    /// Waits until the appended entry is on disk, and records it as the head of the chain.
    ///
    /// Does nothing if no entry is pending. A receipt that was not granted before cannot be granted
    /// afterwards.
    package func flush() throws(StoreFault) {
        guard let newest = unflushed.withLock({ $0 }) else { return }
        let (head, issued) = (newest.head, newest.issued)
        if !newest.isGranted {
            try files { () throws(FileFault) in try file.synchronise() }
        }
        let (record, _) = try counterRecord(nil)
        let counter = max(record.counter, head.counter)
        let latest = max(record.latest ?? issued, issued)
        try directory.keep(
            CounterRecord(counter: counter, head: head, latest: latest), as: Self.counterName)
        unflushed.withLock { if $0?.head == head { $0 = nil } }
    }

    /// Returns the newest receipt that the record `counter` names.
    ///
    /// Throws `.damaged` if there is no record.
    package func head() throws(StoreFault) -> ChainHead {
        guard let record = try directory.record(Self.counterName, as: CounterRecord.self) else {
            throw .damaged(path: counterPath)
        }
        return record.head
    }

    /// Returns the latest time at which any receipt was signed, by the clock of that moment; nil if
    /// there is none.
    ///
    /// It is not the last receipt's time, so that setting the clock back and adding a receipt does
    /// not hide the earlier ones.
    package func latest() throws(StoreFault) -> Instant? {
        let tail = try lastReceipt()
        return try counterRecord(tail).record.latest(with: tail)
    }

    /// Corrects the latest time if it is more than `leeway` seconds after `now`.
    ///
    /// `now` comes from a trusted source; a later recorded time means that the clock had been
    /// ahead.
    package func correct(to now: Instant, leeway: UInt64) throws(StoreFault) {
        let tail = try lastReceipt()
        let (record, isKnown) = try counterRecord(tail)
        guard isKnown, let latest = record.latest, latest.seconds > now.seconds + leeway else {
            return
        }
        try directory.keep(
            CounterRecord(counter: record.counter, head: record.head, latest: now),
            as: Self.counterName)
    }

    /// Reads up to `limit` entries from an offset in bytes, which is 0 or the `next` of an earlier
    /// page.
    package func read(from offset: Int, limit: Int) throws(StoreFault) -> ReceiptPage {
        try files { () throws(FileFault) in
            var page = ReceiptPage(entries: [], next: offset)
            while page.entries.count < limit {
                let bytes = try file.read(at: page.next, count: Self.entryLimit)
                guard let end = ReceiptText.firstEnd(in: bytes) else {
                    page.remainder = bytes.count
                    break
                }
                page.entries.append(Array(bytes[..<end]))
                page.next += end
            }
            return page
        }
    }

    /// Returns the last complete entry, and truncates incomplete bytes that a crash left after it.
    ///
    /// It reads only a window at the end of the file. If that window contains no complete entry and
    /// the file is longer, nothing is truncated.
    private func lastReceipt() throws(StoreFault) -> [UInt8]? {
        let size = try files { () throws(FileFault) in try file.size() }
        let window = min(size, Self.entryLimit * 2)
        let bytes = try files { () throws(FileFault) in
            try file.read(at: size - window, count: window)
        }
        let (start, end) = ReceiptText.last(in: bytes, isWholeFile: window == size)
        if end < bytes.count, end > 0 || window == size {
            try files { () throws(FileFault) in try file.truncate(to: size - window + end) }
        }
        guard let start else { return nil }
        return Array(bytes[start..<end])
    }

    /// Returns the record `counter` or, if it is lost, one whose counter is certainly greater than
    /// any that was used.
    private func counterRecord(
        _ tail: [UInt8]?
    ) throws(StoreFault) -> (record: CounterRecord, isKnown: Bool) {
        do throws(StoreFault) {
            if let record = try directory.record(Self.counterName, as: CounterRecord.self) {
                return (record, true)
            }
        } catch {
            guard error.isAboutContent else { throw error }
        }
        let last: [UInt8]? = if let tail { tail } else { try lastReceipt() }
        guard let last else { return (CounterRecord(counter: Self.leap, head: .none), false) }
        let counter = ParsedReceipt(last)?.counter ?? 0
        let digest = try receiptDigest(last)
        let (leapt, overflow) = counter.addingReportingOverflow(Self.leap)
        let head = ChainHead(counter: counter, digest: digest)
        return (CounterRecord(counter: overflow ? counter : leapt, head: head), false)
    }

    private var path: String { directory.path + "/" + Self.name }
    private var counterPath: String { directory.path + "/" + Self.counterName }
}

/// A page of entries, in the order in which they were written.
package struct ReceiptPage: Equatable, Sendable {
    /// The entries with their granted lines.
    package internal(set) var entries: [[UInt8]]
    /// The offset after the last entry.
    package internal(set) var next: Int
    /// The number of bytes at the end that are not a complete entry, after a torn write or
    /// tampering.
    package internal(set) var remainder = 0
}

/// Returns the SHA-256 of an entry.
func receiptDigest(_ receipt: [UInt8]) throws(StoreFault) -> [UInt8] {
    do throws(CryptoFault) {
        return try SHA256.digest(receipt)
    } catch { throw .vault(.crypto(error)) }
}
