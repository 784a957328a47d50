// SPDX-License-Identifier: Apache-2.0
/// A receipt as it stands in the log: its text, and behind it, where the daemon confirmed the proof, one
/// line `granted: COUNTER` that says so.
///
/// The line is not signed, and stock `ssh-keygen -Y verify` passes over it. What holds it to its
/// receipt is the number, and what holds both in place is the chain: `previous` of the next receipt
/// is the digest of the whole entry.
package struct ReceiptEntry: Equatable, Sendable {
    /// The most bytes that the line can have.
    package static let markLimit = 30
    private static let label: StaticString = "granted: "
    private static let lineFeed = UInt8(ascii: "\n")

    /// The statement's text.
    package let statement: [UInt8]
    /// The signature's blob.
    package let signature: [UInt8]
    /// What the line says, nil where there is none. It has to be the statement's counter.
    package let grantedCounter: UInt64?

    /// Takes an entry apart; nil unless the bytes are exactly one.
    package init?(_ bytes: [UInt8]) {
        var text = bytes
        var counter: UInt64?
        if bytes.last == Self.lineFeed {
            let lineStart = bytes.dropLast().lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
            if let found = Self.mark(in: bytes, at: lineStart) {
                counter = found.counter
                text.removeSubrange(lineStart...)
            }
        }
        guard let parts = Receipt.split(text) else { return nil }
        (statement, signature) = parts
        grantedCounter = counter
    }

    /// Whether the line, where there is one, belongs to a receipt with this counter.
    package func isWhole(counter: UInt64) -> Bool {
        grantedCounter == nil || grantedCounter == counter
    }

    /// An entry's bytes.
    package static func bytes(
        statement: [UInt8], signature: [UInt8], grantedCounter: UInt64?
    ) -> [UInt8] {
        Receipt.text(statement: statement, signature: signature)
            + (grantedCounter.map { mark($0) } ?? [])
    }

    /// The line behind a receipt that was granted.
    package static func mark(_ counter: UInt64) -> [UInt8] {
        label.bytes + Decimal.encode(counter) + [lineFeed]
    }

    /// The line that begins at an offset, and where it ends; nil where none does.
    package static func mark(
        in bytes: [UInt8], at start: Int
    ) -> (counter: UInt64, end: Int)? {
        let label = label.bytes
        let window = bytes[min(start, bytes.count)..<min(start + markLimit, bytes.count)]
        guard window.starts(with: label), let end = window.firstIndex(of: lineFeed),
            let counter = Decimal.decode(Array(window[(start + label.count)..<end]))
        else { return nil }
        return (counter, end + 1)
    }
}
