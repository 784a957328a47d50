// SPDX-License-Identifier: Apache-2.0
import SignedFormats

extension ChainHead {
    /// The chain's head before the first receipt.
    static let none = ChainHead(counter: 0, digest: [UInt8](repeating: 0, count: 32))
}

/// The record `counter`: the last reserved counter, the receipt that precedes it, and the latest
/// time of any receipt.
///
/// It is written durably before each touch, so that no counter is used twice even after a crash.
struct CounterRecord: LineRecord, Equatable {
    static let cap = 512

    let counter: UInt64
    let head: ChainHead
    /// The latest time of a receipt; nil if there is no receipt, or none since this time is
    /// recorded.
    let latest: Instant?

    init(counter: UInt64 = 0, head: ChainHead = .none, latest: Instant? = nil) {
        self.counter = counter
        self.head = head
        self.latest = latest
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-counter", number: 1)
        lines.put("counter", number: counter)
        lines.put("last", number: head.counter)
        lines.put("digest", Base64.encode(head.digest, alphabet: .url))
        if let latest { lines.put("latest", latest.text) }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-counter")
        counter = try lines.number("counter")
        let last = try lines.number("last")
        head = ChainHead(counter: last, digest: try lines.base64("digest", count: 32))
        guard last <= counter else { throw .malformed }
        latest = lines.isNext("latest") ? try lines.instant("latest") : nil
    }

    /// Returns the latest time of any receipt, given the last entry of the log.
    ///
    /// That entry counts even if it is not the recorded head, since it may not have been flushed.
    func latest(with tail: [UInt8]?) throws(StoreFault) -> Instant? {
        guard let tail else { return latest }
        if let latest, try receiptDigest(tail) == head.digest { return latest }
        return [latest, ParsedReceipt(tail)?.issued].compactMap { $0 }.max()
    }

    /// Returns the receipt that the next one must follow, given the last entry of the log.
    ///
    /// It is the recorded head, or the one receipt that was written after it and not flushed. If
    /// the log ends in any other way, it was truncated or altered: the next receipt still follows
    /// the recorded head and `isIntact` is false, so that the gap remains visible.
    func place(after tail: [UInt8]?) throws(StoreFault) -> (head: ChainHead, isIntact: Bool) {
        guard let tail else { return (head, head == .none) }
        let digest = try receiptDigest(tail)
        if digest == head.digest { return (head, true) }
        guard let parsed = ParsedReceipt(tail), parsed.counter == counter,
            parsed.previous == head.digest
        else { return (head, false) }
        return (ChainHead(counter: parsed.counter, digest: digest), true)
    }
}
