import Statement

/// What the log needs to know of a receipt.
struct ParsedReceipt {
    let counter: UInt64
    let previous: [UInt8]
    let issued: Instant

    /// Nil unless the text is one whole receipt.
    init?(_ text: [UInt8]) {
        guard let parts = Receipt.split(text),
            let statement = try? Statement(parsing: parts.statement)
        else { return nil }
        counter = statement.counter
        previous = statement.previous
        issued = statement.issued
    }
}

/// Finds receipts in the bytes of a log by the line that ends each; no statement has such a line.
enum ReceiptText {
    private static let end = StaticString("\n-----END SSH SIGNATURE-----\n").bytes

    /// The offset after the first receipt's end, nil where none ends.
    static func firstEnd(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= end.count else { return nil }
        return (0...(bytes.count - end.count)).first { matches(bytes, at: $0) }
            .map { $0 + end.count }
    }

    /// Where the last whole receipt begins and ends. Without one, start is nil; so it is where the
    /// beginning lies before these bytes.
    static func last(in bytes: [UInt8], isWholeFile: Bool) -> (start: Int?, end: Int) {
        guard let final = endBefore(bytes.count, in: bytes) else { return (nil, 0) }
        if let earlier = endBefore(final - 1, in: bytes) { return (earlier, final) }
        return (isWholeFile ? 0 : nil, final)
    }

    /// The offset after the last receipt's end that is not after `limit`.
    private static func endBefore(_ limit: Int, in bytes: [UInt8]) -> Int? {
        var start = limit - end.count
        while start >= 0 {
            if matches(bytes, at: start) { return start + end.count }
            start -= 1
        }
        return nil
    }

    private static func matches(_ bytes: [UInt8], at start: Int) -> Bool {
        for offset in end.indices where bytes[start + offset] != end[offset] { return false }
        return true
    }
}
