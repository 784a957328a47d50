// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What the log needs to know of an entry.
struct ParsedReceipt {
    let counter: UInt64
    let previous: [UInt8]
    let issued: Instant
    let isGranted: Bool

    /// Nil unless the bytes are one whole entry.
    init?(_ bytes: [UInt8]) {
        guard let entry = ReceiptEntry(bytes),
            let statement = try? Statement(parsing: entry.statement),
            entry.isWhole(counter: statement.counter)
        else { return nil }
        counter = statement.counter
        previous = statement.previous
        issued = statement.issued
        isGranted = entry.grantedCounter != nil
    }
}

/// Finds entries in the bytes of a log by the line that ends each receipt, and the one that may follow
/// it; no statement has such lines.
enum ReceiptText {
    private static let end = StaticString("\n-----END SSH SIGNATURE-----\n").bytes

    /// The offset after the first entry's end, nil where none ends. The bytes have to go on for
    /// `ReceiptEntry.markLimit` after a receipt, unless the file ends before.
    static func firstEnd(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= end.count else { return nil }
        return (0...(bytes.count - end.count)).first { matches(bytes, at: $0) }
            .map { afterMark(in: bytes, from: $0 + end.count) }
    }

    /// Where the last whole entry begins and ends. Without one, start is nil; so it is where the
    /// beginning lies before these bytes.
    static func last(in bytes: [UInt8], isWholeFile: Bool) -> (start: Int?, end: Int) {
        guard let final = endBefore(bytes.count, in: bytes) else { return (nil, 0) }
        let end = afterMark(in: bytes, from: final)
        if let earlier = endBefore(final - 1, in: bytes) {
            return (afterMark(in: bytes, from: earlier), end)
        }
        return (isWholeFile ? 0 : nil, end)
    }

    private static func afterMark(in bytes: [UInt8], from offset: Int) -> Int {
        ReceiptEntry.mark(in: bytes, at: offset)?.end ?? offset
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
