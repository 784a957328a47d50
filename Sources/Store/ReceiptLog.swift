// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats
import Synchronization
import Vault

/// A place in the chain of receipts, on disk before the touch.
package struct Reservation: Equatable, Sendable {
    /// Greater than any that was reserved before.
    package let counter: UInt64
    /// SHA-256 of the last receipt, 32 bytes; zeros where there was none.
    package let previous: [UInt8]
    /// Whether the log's end was as it was left. If not, somebody cut or changed it, and the
    /// verification of the chain will show that for ever.
    package let isIntact: Bool

    /// A place by its values, as a test makes it.
    package init(counter: UInt64, previous: [UInt8], isIntact: Bool) {
        self.counter = counter
        self.previous = previous
        self.isIntact = isIntact
    }
}

/// The newest receipt that was flushed.
package struct ChainHead: Equatable, Sendable {
    /// Its counter; 0 where there was none.
    package let counter: UInt64
    /// Its SHA-256, 32 bytes; zeros where there was none.
    package let digest: [UInt8]
}

/// An account's receipts, one entry after the other in a file that only grows.
///
/// `prepare` before the touch, `append` before the answer, `granted` before the confirmation, `flush`
/// when nothing more can come. The cost of each does not depend on the file's length.
///
/// A receipt says that the proof was given, the line that `granted` writes behind it that the daemon
/// confirmed it. When `granted` returns, both are on disk: a power cut takes away only receipts of
/// proofs that were not confirmed. Only the newest receipt can be granted, once, and not after the
/// next place was reserved: then the next receipt covers it as it was.
package final class ReceiptLog: Sendable {
    /// The most bytes that a receipt can have.
    package static let receiptLimit = Statement.maximumLength + 1_024
    /// The most bytes that an entry can have.
    static let entryLimit = receiptLimit + ReceiptEntry.markLimit
    static let counterName = "counter"
    private static let name = "receipts"
    /// A lost counter goes on this far after the last receipt: what was reserved is not known.
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
        file = try files { () throws(FileFault) in try AppendFile(in: directory, Self.name) }
    }

    /// Reserves the next counter durably and finds the receipt that the next one follows.
    package func prepare() throws(StoreFault) -> Reservation {
        let tail = try lastReceipt()
        let (record, isKnown) = try counterRecord(tail)
        let place = try record.place(after: tail)
        if place.head != record.head {
            // What the record is about to name as the last has to be on disk before it.
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

    /// Writes a receipt's text at the end, not yet to disk.
    package func append(_ receipt: [UInt8]) throws(StoreFault) {
        guard receipt.count <= Self.receiptLimit, let parsed = ParsedReceipt(receipt),
            !parsed.isGranted
        else { throw .damaged(path: path) }
        let head = ChainHead(counter: parsed.counter, digest: try receiptDigest(receipt))
        try files { () throws(FileFault) in try file.append(receipt) }
        let appended = Unflushed(entry: receipt, head: head, issued: parsed.issued)
        unflushed.withLock { $0 = appended }
    }

    /// Has the disk begin to write what was appended, and returns at once. Nothing hangs on it: it
    /// spares `granted` a part of its wait.
    package func beginSync() { file.beginSynchronising() }

    /// Writes that the receipt with this counter, the one appended last, was granted: receipt and line
    /// are on disk when this returns, and only then may the proof be confirmed.
    ///
    /// Throws `.changedMeanwhile` where it is not the newest any more, was flushed or granted
    /// already, or another place has been reserved since; nothing is written then. After any other
    /// fault it is not granted either: the line is taken away again, if the disk still lets it.
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

    /// Writes what was appended to disk, and remembers it as the chain's head. From then on it stays
    /// as it is: what was not granted is not granted any more.
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

    /// The newest receipt that the counter's record knows of.
    package func head() throws(StoreFault) -> ChainHead {
        guard let record = try directory.record(Self.counterName, as: CounterRecord.self) else {
            throw .damaged(path: counterPath)
        }
        return record.head
    }

    /// The latest moment at which a receipt was signed, as the clock was then; nil where there is none.
    ///
    /// Not the last one's: who sets the clock back and leaves a receipt has not undone what was.
    package func latest() throws(StoreFault) -> Instant? {
        let tail = try lastReceipt()
        return try counterRecord(tail).record.latest(with: tail)
    }

    /// Somebody who knows has said what time it is: what a clock that ran ahead of it by more than so
    /// many seconds has left is no latest moment any more.
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

    /// Reads up to `limit` entries from an offset that is 0 or the `next` of an earlier page.
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

    /// The last whole entry; what a crash left after it is cut off.
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

    /// The counter's record, or, where it is lost, one that surely lies beyond it.
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

/// Some receipts, in the order of their writing.
package struct ReceiptPage: Equatable, Sendable {
    /// Their bytes, what says that they were granted included.
    package internal(set) var entries: [[UInt8]]
    /// The offset of what follows.
    package internal(set) var next: Int
    /// How many bytes at the end are no whole entry: a torn write, or somebody's change.
    package internal(set) var remainder = 0
}

/// The SHA-256 of an entry.
func receiptDigest(_ receipt: [UInt8]) throws(StoreFault) -> [UInt8] {
    do throws(CryptoFault) {
        return try SHA256.digest(receipt)
    } catch { throw .vault(.crypto(error)) }
}
