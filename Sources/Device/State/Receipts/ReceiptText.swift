// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// The fields of an entry that the log uses.
///
/// They are parsed and not verified.
struct ParsedReceipt {
    let counter: UInt64
    let previous: [UInt8]
    let issued: Instant
    let isGranted: Bool

    /// Returns nil unless the bytes are exactly one complete entry.
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

/// Finds entries in the bytes of a log.
///
/// Each receipt ends with the last line of an SSH signature, which a granted line may follow. No
/// statement contains such lines.
enum ReceiptText {
    private static let end = StaticString("\n-----END SSH SIGNATURE-----\n").bytes

    /// Returns the offset after the first entry; nil if none is complete.
    ///
    /// After a receipt, the bytes must continue for `ReceiptEntry.markLimit`, unless the file ends
    /// before.
    static func firstEnd(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= end.count else { return nil }
        return (0...(bytes.count - end.count)).first { matches(bytes, at: $0) }
            .map { afterMark(in: bytes, from: $0 + end.count) }
    }

    /// Returns the offsets at which the last complete entry starts and ends.
    ///
    /// The start is nil if there is no entry, or if it lies before these bytes.
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

    /// Returns the offset after the last receipt that ends at or before `limit`.
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
