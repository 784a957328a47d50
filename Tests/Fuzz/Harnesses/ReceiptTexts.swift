// SPDX-License-Identifier: Apache-2.0
@testable import State

/// The end of a receipt log, as a crash or an attacker left it.
enum ReceiptTexts: Harness {
    static let name = "receipt-texts"
    static var seeds: [[UInt8]] {
        let receipts = Receipts.seeds
        return receipts + [receipts.flatMap { $0 }, receipts.flatMap { $0.dropLast(3) }]
    }

    static func feed(_ bytes: [UInt8]) {
        for isWholeFile in [true, false] {
            let (start, end) = ReceiptText.last(in: bytes, isWholeFile: isWholeFile)
            require(start ?? 0 <= end && end <= bytes.count, "a receipt out of bounds")
        }
        // The sample is the first receipt, and has this counter.
        guard let place = try? CounterRecord(counter: 42).place(after: bytes) else {
            return require(false, "the end of a log was not looked at")
        }
        require(place.isIntact == (place.head.counter == 42), "a gap that does not show")
    }
}
