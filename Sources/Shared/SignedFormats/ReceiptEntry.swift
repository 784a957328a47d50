// SPDX-License-Identifier: Apache-2.0
/// An entry of the receipt log: a receipt and, if the daemon confirmed the proof, a line `granted:
/// COUNTER`.
///
/// The line is not signed, and stock `ssh-keygen -Y verify` ignores it. Its number ties it to its
/// receipt, and the chain protects both: `previous` of the next receipt is the digest of the whole
/// entry.
package struct ReceiptEntry: Equatable, Sendable {
    /// The longest `granted` line in bytes.
    package static let markLimit = 30
    private static let label: StaticString = "granted: "
    private static let lineFeed = UInt8(ascii: "\n")

    /// The statement's text.
    package let statement: [UInt8]
    /// The blob of its signature.
    package let signature: [UInt8]
    /// The number in the `granted` line, which must be the statement's counter; nil without that
    /// line.
    package let grantedCounter: UInt64?

    /// Parses an entry; nil unless the bytes are exactly one.
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

    /// Whether there is no `granted` line, or it belongs to a receipt with this counter.
    package func isWhole(counter: UInt64) -> Bool {
        grantedCounter == nil || grantedCounter == counter
    }

    /// Encodes an entry.
    package static func bytes(
        statement: [UInt8], signature: [UInt8], grantedCounter: UInt64?
    ) -> [UInt8] {
        Receipt.text(statement: statement, signature: signature)
            + (grantedCounter.map { mark($0) } ?? [])
    }

    /// The `granted` line for a receipt with this counter, ended by LF.
    package static func mark(_ counter: UInt64) -> [UInt8] {
        label.bytes + Decimal.encode(counter) + [lineFeed]
    }

    /// Parses the `granted` line at an offset; returns its counter and its end, or nil if there is
    /// none.
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
