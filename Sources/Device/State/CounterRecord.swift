// SPDX-License-Identifier: Apache-2.0
import SignedFormats

extension ChainHead {
    /// The state before the first receipt.
    static let none = ChainHead(counter: 0, digest: [UInt8](repeating: 0, count: 32))
}

/// The record `counter`: the last reserved counter, the receipt that it was to follow, and the
/// latest time of any receipt.
struct CounterRecord: LineRecord, Equatable {
    static let cap = 512

    let counter: UInt64
    let head: ChainHead
    /// The latest time; nil if there is no receipt, or none since the time is recorded.
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

    /// Returns the latest time, given the last receipt in the file, which counts even if it is not
    /// the recorded head.
    func latest(with tail: [UInt8]?) throws(StoreFault) -> Instant? {
        guard let tail else { return latest }
        if let latest, try receiptDigest(tail) == head.digest { return latest }
        return [latest, ParsedReceipt(tail)?.issued].compactMap { $0 }.max()
    }

    /// Returns the receipt that the next one must follow, given the last one in the file.
    ///
    /// That is the recorded head, or the one receipt that was written after it and not flushed. If
    /// the file ends in any other way, the next receipt follows the head all the same and
    /// `isIntact` is false, so that the gap remains visible.
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
