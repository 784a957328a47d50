import Statement

extension ChainHead {
    /// Before the first receipt.
    static let none = ChainHead(counter: 0, digest: [UInt8](repeating: 0, count: 32))
}

/// The record `counter`: the last counter that was reserved, and the receipt it was to follow.
struct CounterRecord: LineRecord, Equatable {
    static let cap = 512

    let counter: UInt64
    let head: ChainHead

    init(counter: UInt64 = 0, head: ChainHead = .none) {
        self.counter = counter
        self.head = head
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-counter", number: 1)
        lines.put("counter", number: counter)
        lines.put("last", number: head.counter)
        lines.put("digest", Base64.encode(head.digest, .url))
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-counter")
        counter = try lines.number("counter")
        let last = try lines.number("last")
        head = ChainHead(counter: last, digest: try lines.base64("digest", count: 32))
        guard last <= counter else { throw .malformed }
    }

    /// What the next receipt follows, given the last one in the file.
    ///
    /// That is the head, or the one receipt which was written after it and not flushed. Where the
    /// file ends otherwise, the next receipt follows the head all the same: so the gap stays to
    /// be seen.
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
